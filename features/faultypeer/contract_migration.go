package faultypeer

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// The one file of a setup that the peer can import.
const settingsFile = "settings.json"

// setupAt opens the root of a setup; nil for one that is no directory of its own.
func (p *peer) setupAt(params json.RawMessage) *os.Root {
	path, _ := text(at(params, "source_root"))
	info, err := os.Lstat(path)
	switch {
	case p.ignores("source-root"):
	case !filepath.IsAbs(path) || err != nil || !info.IsDir():
		return nil
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil
	}
	return root
}

func (p *peer) migrationDetect(id, params json.RawMessage) {
	root := p.setupAt(params)
	if root == nil {
		if p.ignores("source-root") {
			p.result(canonicalwire.MethodMigrationDetect, id, obj{"detected": false, "config_paths": []any{}, "diagnostics": []any{}})
			return
		}
		p.failure(id, "invalid_params", nil)
		return
	}
	defer func() { _ = root.Close() }()
	paths := []any{}
	if _, err := root.Stat(settingsFile); err == nil && !p.does("import-nothing") {
		paths = list(settingsFile)
	}
	if p.does("mark-source") {
		// A source that cannot be written to stays as it is.
		_ = root.WriteFile("seen", nil, 0o600)
	}
	p.result(canonicalwire.MethodMigrationDetect, id, obj{"detected": len(paths) > 0, "config_paths": paths, "diagnostics": []any{}})
}

func (p *peer) migrationImport(id, params json.RawMessage) {
	root := p.setupAt(params)
	if root == nil {
		p.failure(id, "invalid_params", nil)
		return
	}
	defer func() { _ = root.Close() }()
	paths := texts(at(params, "config_paths"))
	strange := slices.ContainsFunc(paths, func(path string) bool { return path != settingsFile })
	if (strange || len(paths) > 1) && !p.ignores("config-paths") {
		p.failure(id, "invalid_params", nil)
		return
	}
	models, diagnostics := []any{}, []any{}
	diagnose := func(severity canonicalwire.MigrationDiagnosticSeverity, reason string) {
		diagnostics = append(diagnostics, obj{"path": settingsFile, "severity": string(severity), "reason": reason})
	}
	if slices.Contains(paths, settingsFile) {
		content, err := root.ReadFile(settingsFile)
		switch settings := members(content); {
		case errors.Is(err, fs.ErrNotExist):
			diagnose(canonicalwire.MigrationDiagnosticSeverityWarning, "the file is gone")
		case settings == nil && p.does("fail-at-bad-settings"):
			p.failure(id, "internal_error", nil)
			return
		case settings == nil:
			diagnose(canonicalwire.MigrationDiagnosticSeverityError, "the file is no JSON object")
		default:
			provider, _ := text(settings["provider"])
			model, _ := text(settings["model"])
			models = append(models, obj{"path": settingsFile, "provider": provider, "model": model})
		}
	}
	p.result(canonicalwire.MethodMigrationImport, id, obj{"models": models, "skills": []any{}, "mcp_servers": []any{}, "diagnostics": diagnostics})
}
