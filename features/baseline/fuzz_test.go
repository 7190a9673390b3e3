package baseline

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads a list of known findings: it is refused, or each of its entries can be matched.
func FuzzRead(f *testing.F) {
	known := []string{"EXT04-FRAME-001", "EXT04-FRAME-002", "EXT03-ENV-002"}
	for _, seed := range []string{
		"", "# nothing\n", "EXT04-FRAME-001: a message\n", "EXT04-FRAME-*: x\n", "EXT04-FRAME-001 message .* (why)\n", "EXT04-FRAME-001: [\n", "*\n", ":\n", "EXT04-FRAME-001\tlow line\n",
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "known.txt")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := Read(path, known)
		if err != nil {
			return
		}
		for _, rule := range known {
			list.Knows(rule, "a message")
		}
	})
}
