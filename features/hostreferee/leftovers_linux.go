package hostreferee

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
)

// leftovers counts the live processes that have an entry in their environment: descendants of an extension
// inherit what only its host can have given it.
func leftovers(entry string) int {
	n := 0
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return 0
	}
	for _, path := range all {
		// Other users' processes cannot be read and are nobody's leftovers; one that has ended has no
		// environment any more.
		text, err := os.ReadFile(path)
		if err == nil && slices.ContainsFunc(bytes.Split(text, []byte{0}), func(e []byte) bool { return string(e) == entry }) {
			n++
		}
	}
	return n
}
