package hostreferee

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/process"
)

// leftovers counts the live processes that have an entry in their environment: descendants of an extension
// inherit what only its host can have given it.
func leftovers(entry string) int {
	n := 0
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, path := range all {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		// Other users' processes cannot be read and are nobody's leftovers; one that has ended has no
		// environment any more.
		text, err := process.Environ(pid)
		if err == nil && slices.ContainsFunc(bytes.Split(text, []byte{0}), func(e []byte) bool { return string(e) == entry }) {
			n++
		}
	}
	return n
}
