package composition

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// inlineMost is the longest value that stands in an answer itself, in bytes: a frame has room for it whatever
// else it carries. Longer ones are handed over as files.
const inlineMost = featurewire.MaxStructuredContentBytes

// files are the values of one composing call that were handed over in the scratch directory.
type files struct {
	dir string

	mu    sync.Mutex
	names []string
	over  bool // the call is settled: nothing more is written
}

// write puts a value into a new file that only the user can read. The reader takes it away.
func (f *files) write(value []byte) (featurewire.ScratchFile, error) {
	var none featurewire.ScratchFile
	if len(value) > featurewire.MaxCompositionFileBytes {
		return none, extension.RefuseFailed(fmt.Sprintf("the value has %d bytes, more than %d", len(value), featurewire.MaxCompositionFileBytes))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.over:
		return none, extension.RefuseService("the call is settled")
	case len(f.names) >= featurewire.MaxCompositionFiles:
		return none, extension.RefuseBounds(fmt.Sprintf("the call was handed its %d files", featurewire.MaxCompositionFiles))
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return none, fmt.Errorf("scratch directory: %w", err)
	}
	defer root.Close()
	name := "value-" + rand.Text() + ".json"
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return none, fmt.Errorf("scratch directory: %w", err)
	}
	f.names = append(f.names, name)
	_, err = file.Write(value)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return none, fmt.Errorf("scratch directory: %w", err)
	}
	digest := sha256.Sum256(value)
	return featurewire.ScratchFile{Path: name, Bytes: int64(len(value)), Sha256: hex.EncodeToString(digest[:])}, nil
}

// remove takes away what nobody has read.
func (f *files) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return // the process is gone, and its directory with it
	}
	defer root.Close()
	for _, name := range f.names {
		// Most are gone already. The directory goes with the process in any case.
		_ = root.Remove(name)
	}
}
