package engine

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/host/bundle"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/trust"
)

// describe is what is known of an extension without its process.
func describe(x *selection.Extension, p policy.Settings) ExtensionStatus {
	status := ExtensionStatus{
		Name: x.Name, Version: x.Manifest.Version, Source: x.Scope, ManifestPath: x.ManifestPath, Digest: x.Digest,
		Archive: archive(x.ManifestPath), Enabled: x.EnabledBy, Trusted: x.Trust.By(), Reason: x.Reason,
		API: x.Manifest.API, Tools: x.Manifest.Contributes.Tools, Commands: x.Manifest.Contributes.Commands,
		Hooks: texts(x.Manifest.Contributes.Hooks), UI: texts(x.Manifest.Contributes.UI), Compatible: "not_applicable",
	}
	if x.Recheck() != nil {
		status.Digest = "unavailable"
	}
	if !x.Trusted() {
		status.Grant = trust.Copyable(x.Subject())
	}
	if x.Reason != policy.Started {
		status.Why = x.Reason.Explain(p)
	}
	return status
}

func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, text := range list {
		all[i] = string(text)
	}
	return all
}

// archive reads the digest of the archive from the install record beside a manifest, "" where none is told. The
// rest of the record is not judged.
func archive(manifest string) string {
	root, err := os.OpenRoot(filepath.Dir(manifest))
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(bundle.RecordName)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, bundle.MaxRecordBytes+1))
	if err != nil || len(text) > bundle.MaxRecordBytes {
		return ""
	}
	var record struct {
		Digest string `json:"archive_sha256"`
	}
	if json.Unmarshal(text, &record) != nil || len(record.Digest) != 64 {
		return ""
	}
	return record.Digest
}
