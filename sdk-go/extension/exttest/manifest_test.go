package exttest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

const goodManifest = `name = "sample"
version = "1.0.0"
api_version = "0.4"
entrypoint = { command = "bin/sample" }
contributes = { tools = ["say", "fail", "report", "wait", "where"] }
`

func TestCheckManifest(t *testing.T) {
	for name, test := range map[string]struct {
		manifest string
		want     []string
	}{
		"agrees":         {goodManifest, nil},
		"another API":    {strings.Replace(goodManifest, "0.4", "0.2", 1), []string{"the manifest names the API 0.2, the program speaks 0.4"}},
		"fewer tools":    {strings.Replace(goodManifest, `"say", `, "", 1), []string{"declares the tools [fail, report, wait, where], the program has [fail, report, say, wait, where]"}},
		"two problems":   {strings.NewReplacer(`"1.0.0"`, `"one"`, `"0.4"`, `"9"`).Replace(goodManifest), []string{"extension.toml:2:", "extension.toml:3:"}},
		"another folder": {strings.Replace(goodManifest, `"sample"`, `"other"`, 1), []string{"extension.toml:1:"}},
		"none":           {"", []string{"extension.toml"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "sample")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if test.manifest != "" {
				if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(test.manifest), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := &recorder{TB: t}
			failures := r.run(func() { exttest.CheckManifest(r, sample(extension.API04), dir) })
			if len(failures) != len(test.want) {
				t.Fatalf("failures %q, want %d", failures, len(test.want))
			}
			for i, want := range test.want {
				if !strings.Contains(failures[i], want) {
					t.Errorf("failure %q, want %q in it", failures[i], want)
				}
			}
		})
	}
}
