package extension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Migration reads the set-up of another program for the host to take over. Both functions only read, and
// through the source; what cannot be read they report as diagnostics, with paths below the source root.
//
// The SDK answers a source root that is no directory of its own, and an import of what Detect does not report,
// in their place. It lets no answer out whose paths leave the root, nor a detection of a file twice, of one
// that is not there, or of one behind a symbolic link.
type Migration struct {
	Detect func(ctx context.Context, source *Source, asked canonicalwire.MigrationDetectParams) (canonicalwire.MigrationDetectResult, error)
	Import func(ctx context.Context, source *Source, asked canonicalwire.MigrationImportParams) (canonicalwire.MigrationImportResult, error)
}

// mostDetected bounds what is remembered of detections.
const mostDetected = 32 * canonicalwire.MaxMigrationItems

// SetMigration makes the extension a migration adapter, and asks for the capability migration.adapter.v1. It
// needs API 0.3. It panics on another API, without one of the functions, and once the extension is serving.
func (e *Extension) SetMigration(m Migration) {
	e.register("migration adapter", canonicalOnly, func(p *plan) {
		if m.Detect == nil || m.Import == nil {
			panic("extension: migration adapter: it needs Detect and Import")
		}
		p.migrate = &m
	})
}

func (s *server) migrationDetect(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := canonicalwire.DecodeMigrationDetectParams(r.Params)
	if err != nil {
		return nil, err
	}
	return s.migrating(ctx, r, asked.SourceRoot, func(source *Source) (peer.Value, error) {
		return s.guard(ctx, r.Method, func() (wirejson.Encoder, error) {
			result, err := s.detect(ctx, source, asked)
			return result, err
		})
	})
}

func (s *server) migrationImport(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := canonicalwire.DecodeMigrationImportParams(r.Params)
	if err != nil {
		return nil, err
	}
	return s.migrating(ctx, r, asked.SourceRoot, func(source *Source) (peer.Value, error) {
		var refused error
		value, err := s.guard(ctx, r.Method, func() (wirejson.Encoder, error) {
			if refused = s.importable(ctx, source, asked); refused != nil {
				return canonicalwire.MigrationImportResult{}, nil
			}
			result, err := s.plan.migrate.Import(ctx, source, asked)
			if err == nil {
				err = errors.Join(
					relative(result.Models, func(m canonicalwire.MigrationModel) string { return m.Path }),
					relative(result.Skills, func(k canonicalwire.MigrationSkill) string { return k.Path }),
					relative(result.MCPServers, func(m canonicalwire.MigrationMcpServer) string { return m.Path }),
					relative(result.Diagnostics, func(d canonicalwire.MigrationDiagnostic) string { return d.Path }),
				)
			}
			return result, err
		})
		if refused != nil {
			return nil, s.fail(refused)
		}
		return value, err
	})
}

// migrating opens the source root for one request.
func (s *server) migrating(ctx context.Context, r *peer.Request, root string, run func(*Source) (peer.Value, error)) (peer.Value, error) {
	if s.plan.migrate == nil {
		return nil, s.fail(s.ext.dialect.unknownTool(r.Method))
	}
	source, err := openSource(root)
	if err != nil {
		return nil, s.fail(s.ext.dialect.invalidParams(wirejson.WrongValue, "/source_root", err.Error()))
	}
	defer source.close()
	source.Scope = s.scoped(ctx, r, s.session.Load().context)
	return run(source)
}

// detect runs the author's detection, holds it to the root and remembers what it found.
func (s *server) detect(ctx context.Context, source *Source, asked canonicalwire.MigrationDetectParams) (canonicalwire.MigrationDetectResult, error) {
	result, err := s.plan.migrate.Detect(ctx, source, asked)
	if err != nil {
		return result, err
	}
	for i, path := range result.ConfigPaths {
		if slices.Contains(result.ConfigPaths[:i], path) {
			return result, fmt.Errorf("%q is detected twice", path)
		}
		if _, err := source.Stat(path); err != nil {
			return result, fmt.Errorf("what is detected cannot be imported: %w", err)
		}
	}
	s.detected.add(result.ConfigPaths)
	return result, relative(result.Diagnostics, func(d canonicalwire.MigrationDiagnostic) string { return d.Path })
}

// importable returns why files cannot be imported. What detection has reported once may have vanished, which
// is for a diagnostic; anything else must be there for it now.
func (s *server) importable(ctx context.Context, source *Source, asked canonicalwire.MigrationImportParams) error {
	var found []string
	looked := false
	for i, path := range asked.ConfigPaths {
		pointer := "/config_paths/" + strconv.Itoa(i)
		if slices.Contains(asked.ConfigPaths[:i], path) {
			return s.ext.dialect.invalidParams(wirejson.Duplicate, pointer, "the path is named before; name each once")
		}
		if err := checkPath(path); err != nil {
			return s.ext.dialect.invalidParams(wirejson.WrongValue, pointer, err.Error())
		}
		if s.detected.has(path) {
			continue
		}
		if !looked {
			looked = true
			result, err := s.detect(ctx, source, canonicalwire.MigrationDetectParams{SourceRoot: asked.SourceRoot})
			if err != nil {
				s.ext.log.printf("detection before an import: %v", err)
			}
			found = result.ConfigPaths
		}
		if !slices.Contains(found, path) {
			return s.ext.dialect.invalidParams(wirejson.WrongValue, pointer, "detection does not report it; import what it reports")
		}
	}
	return nil
}

// relative reports records of an answer whose path is no path below the source root.
func relative[T any](records []T, path func(T) string) error {
	for _, record := range records {
		if err := checkPath(path(record)); err != nil {
			return err
		}
	}
	return nil
}
