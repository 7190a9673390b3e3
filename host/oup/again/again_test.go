package again_test

import (
	"slices"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/oup/again"
)

// desk is work with a plan whose clock stands still.
type desk struct {
	again.Plan
	left, tried int
	able        bool
	planned     []time.Duration
	do          func()
	stopped     int
}

func newDesk() *desk {
	d := &desk{}
	d.Plan = again.Plan{
		Try: func() {
			d.tried++
			if d.able {
				d.left = 0
			}
		},
		Left: func() bool { return d.left > 0 },
		After: func(delay time.Duration, do func()) func() bool {
			d.planned, d.do = append(d.planned, delay), do
			return func() bool { d.stopped++; return true }
		},
	}
	return d
}

func (d *desk) want(t *testing.T, planned ...time.Duration) {
	t.Helper()
	for i := range planned {
		planned[i] *= time.Second
	}
	if !slices.Equal(d.planned, planned) {
		t.Fatalf("planned are %v, want %v", d.planned, planned)
	}
}

func TestPlan_triesLaterAndLater(t *testing.T) {
	d := newDesk()
	d.left = 1
	d.Want()
	d.Want() // one is enough
	d.want(t, 1)
	for range 5 {
		d.do()
	}
	d.want(t, 1, 2, 4, 8, 16, 16)
	d.able = true
	d.do()
	d.want(t, 1, 2, 4, 8, 16, 16)
	d.left, d.able = 1, false
	d.Want() // begins again
	d.do()
	d.want(t, 1, 2, 4, 8, 16, 16, 1, 2)
}

func TestPlan_plansNoneOnceItIsClosed(t *testing.T) {
	d := newDesk()
	d.left = 1
	d.Want()
	d.Close()
	if d.stopped != 1 {
		t.Error("the attempt is not taken back")
	}
	d.do() // it was on its way
	d.Want()
	d.want(t, 1)
	if d.tried != 0 {
		t.Error("it is tried behind the end")
	}
	d = newDesk()
	d.left = 1
	d.Plan.Try = func() { d.Close() }
	d.Want()
	d.do()
	d.want(t, 1)
	newDesk().Close() // of a plan that was never used
}
