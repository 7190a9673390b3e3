package bundle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/bundle"
)

func TestList_tellsWhatIsManagedAndFits(t *testing.T) {
	// MAN-INSTALL-014, MAN-INSTALL-015, MAN-HOST-006.
	m := manager(t)
	if list, told, err := m.List(); len(list) > 0 || len(told) > 0 || err != nil {
		t.Errorf("without a directory: %v, %v, %v", list, told, err)
	}
	install(t, m, sound()...)
	for name, record := range map[string]string{"broken": "{", "unmanaged": "", "octet-serve": "{}", "Upper": "{}"} {
		if err := os.Mkdir(filepath.Join(m.Root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if record != "" {
			if err := os.WriteFile(filepath.Join(m.Root, name, "install.json"), []byte(record), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, told, err := m.List()
	if err != nil || len(list) != 1 || !list[0].Compatible() {
		t.Fatalf("got %+v, %v", list, err)
	}
	if len(told) != 1 || told[0].Rule != "MAN-INSTALL-014" || told[0].Remedy == "" || !strings.Contains(told[0].Path, "broken") {
		t.Errorf("told: %v", told)
	}
	later := m
	later.Octet = "0.9.0"
	list, _, err = later.List()
	if err != nil || len(list) != 1 || list[0].Compatible() || !strings.Contains(list[0].Problem, "0.8.0") {
		t.Errorf("behind an upgrade: %+v, %v", list, err)
	}
	if err := os.Remove(filepath.Join(m.Root, "word-count", "extension.toml")); err != nil {
		t.Fatal(err)
	}
	if list, _, err = m.List(); err != nil || len(list) != 1 || list[0].Compatible() || list[0].Problem == "" {
		t.Errorf("without a manifest: %+v, %v", list, err)
	}
}

func TestRecord_isStrict(t *testing.T) {
	// MAN-INSTALL-013, MAN-INSTALL-014, MAN-BUNDLE-003.
	sound := map[string]any{
		"schema_version": 1, "id": "word-count", "version": "1.0.0", "api_version": "0.4", "requires_octet": "=0.8.0", "source_kind": "local",
		"source": "/tmp/a.tar.gz", "archive_sha256": strings.Repeat("aB", 32), "installed_by_octet": "0.8.0",
	}
	text := func(key string, value any) string {
		record := map[string]any{}
		for k, v := range sound {
			record[k] = v
		}
		record[key] = value
		if value == nil {
			delete(record, key)
		}
		data, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	good := text("id", "word-count")
	if _, err := bundle.ParseRecord([]byte(good), "word-count"); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.ParseRecord([]byte(good+strings.Repeat(" ", 64<<10-len(good))), "word-count"); err != nil {
		t.Errorf("64 KiB: %v", err)
	}
	bad := map[string]string{
		"64 KiB and a byte": good + strings.Repeat(" ", 64<<10-len(good)+1), "no JSON": "{", "a list": "[]", "two values": good + "{}",
		"a key twice": strings.Replace(good, "{", `{"id":"word-count",`, 1), "null": strings.Replace(good, `"local"`, "null", 1), "another case": strings.Replace(good, `"id"`, `"ID"`, 1),
	}
	for key := range sound {
		bad["no "+key] = text(key, nil)
	}
	for key, values := range map[string][]any{
		"extra": {1}, "schema_version": {0, 2, "1"}, "id": {"other"}, "version": {"1.0"}, "api_version": {"0.1", "0.5"}, "requires_octet": {"=0.8.1", "0.8.0", ">=0.8.0"},
		"source_kind": {"git"}, "source": {"", " ", "a\nb"}, "archive_sha256": {strings.Repeat("a", 63), strings.Repeat("a", 65), strings.Repeat("g", 64)}, "installed_by_octet": {"0.7.0", "x"},
	} {
		for _, value := range values {
			bad[fmt.Sprintf("%s %v", key, value)] = text(key, value)
		}
	}
	for name, text := range bad {
		if _, err := bundle.ParseRecord([]byte(text), "word-count"); err == nil {
			t.Errorf("%s was accepted: %s", name, text)
		}
	}
}
