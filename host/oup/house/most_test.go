package house

import (
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

func TestMost(t *testing.T) {
	for descriptors, want := range map[int]int{0: oupwire.LedgerMemorySessions, 1: 1, 128: 32, 1024: 256, 1 << 20: oupwire.LedgerMemorySessions} {
		if got := most(descriptors); got != want {
			t.Errorf("%d descriptors: %d sessions, want %d", descriptors, got, want)
		}
	}
}
