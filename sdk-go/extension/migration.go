package extension

import (
	"context"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Migration reads the set-up of another program for the host to take over. Both functions only read; what
// cannot be read they report as diagnostics, with paths below the source root.
type Migration struct {
	Detect func(ctx context.Context, scope *Scope, asked canonicalwire.MigrationDetectParams) (canonicalwire.MigrationDetectResult, error)
	Import func(ctx context.Context, scope *Scope, asked canonicalwire.MigrationImportParams) (canonicalwire.MigrationImportResult, error)
}

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
	if s.plan.migrate == nil {
		return nil, s.fail(s.ext.dialect.unknownTool(r.Method))
	}
	return s.guard(ctx, r.Method, func() (wirejson.Encoder, error) {
		return encoder(s.plan.migrate.Detect(ctx, s.scoped(ctx, r, s.session.Load().context), asked))
	})
}

func (s *server) migrationImport(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := canonicalwire.DecodeMigrationImportParams(r.Params)
	if err != nil {
		return nil, err
	}
	if s.plan.migrate == nil {
		return nil, s.fail(s.ext.dialect.unknownTool(r.Method))
	}
	return s.guard(ctx, r.Method, func() (wirejson.Encoder, error) {
		return encoder(s.plan.migrate.Import(ctx, s.scoped(ctx, r, s.session.Load().context), asked))
	})
}
