package steps

import (
	"encoding/json"
	"testing"
	"time"
)

// Who has a mebibyte to read before it can answer gets as long again for it.
func TestLimit_growsWithWhatIsToBeRead(t *testing.T) {
	w := &World{setup: &Setup{Patience: Patience{Answer: 5 * time.Second}}, result: json.RawMessage(`{}`)}
	for written, want := range map[int]time.Duration{0: 5 * time.Second, 1 << 20: 10 * time.Second, 3 << 20: 20 * time.Second} {
		w.written = written
		if got := w.limit(); got != want {
			t.Errorf("behind %d bytes: got %v, want %v", written, got, want)
		}
	}
}
