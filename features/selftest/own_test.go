package selftest

import (
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/subject"
)

// A sample takes one of so many of either kind, and the plain peer of every version.
func TestOwn_samplesFaults(t *testing.T) {
	count := func(every int) (sound, faulty int) {
		for _, s := range own(Options{OwnSample: every, Command: subject.Command{Path: "peer"}}) {
			if s.Rule == "" {
				sound++
			} else {
				faulty++
			}
		}
		return sound, faulty
	}
	sound, all := count(1)
	if all != len(faultypeer.Faults()) {
		t.Errorf("%d of %d faults are judged without a sample", all, len(faultypeer.Faults()))
	}
	plain := len(dialect.Versions())
	if some, few := count(4); some != plain+(sound-plain+3)/4 || few != (all+3)/4 {
		t.Errorf("a sample of one in 4 judges %d sound and %d faulty peers of %d and %d", some, few, sound, all)
	}
}
