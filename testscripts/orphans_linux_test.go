package testscripts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// orphans demands, as "! orphans", that no process of this script's extensions runs any more, and
// without the mark that one does. Every extension and what it starts has the script's folder as
// workspace.
func orphans(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 {
		ts.Fatalf("usage: [!] orphans")
	}
	marks, err := filepath.Glob("/proc/[0-9]*/environ")
	ts.Check(err)
	workspace := []byte("OCTET_WORKSPACE=" + ts.MkAbs("."))
	var found []string
	for _, mark := range marks {
		environ, err := os.ReadFile(mark)
		if err != nil {
			continue // ended meanwhile, or somebody else's
		}
		for entry := range bytes.SplitSeq(environ, []byte{0}) {
			if bytes.Equal(entry, workspace) {
				found = append(found, strings.Split(mark, "/")[2])
			}
		}
	}
	if neg && len(found) > 0 {
		ts.Fatalf("still running: %s", strings.Join(found, " "))
	}
	if !neg && len(found) == 0 {
		ts.Fatalf("no process of an extension is running")
	}
}
