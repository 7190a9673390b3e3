package subject

import (
	"bytes"
	"sync"
)

// maxOutput bounds what is kept of one stream.
const maxOutput = 1 << 20

// Beginning keeps the beginning of what a subject prints, at most 1 MiB. It is for use by many goroutines.
type Beginning struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// Write keeps what there is room for, and takes all of it.
func (b *Beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p[:min(len(p), maxOutput-b.kept.Len())])
	return len(p), nil
}

// String is what is kept.
func (b *Beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.String()
}
