package house_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/live"
)

// sitting says of sessions whether they are at work.
func sitting(list ...*live.Session) (at []bool) {
	for _, s := range list {
		at = append(at, s.AtWork())
	}
	return at
}

// TestSweep: a session that nobody has open rests soon, and one that a client has open later.
func TestSweep(t *testing.T) {
	var passed atomic.Int64
	begun := time.Now()
	r := newPlace(t).open(func(o *house.Options) {
		o.Now = func() time.Time { return begun.Add(time.Duration(passed.Load())) }
		o.Spare, o.Idle = time.Minute, time.Hour
	})
	open, left := r.session("open"), r.session("left")
	leave := open.Attend(false)
	defer leave()
	say(t, r, open, turn(1), "one")
	say(t, r, left, turn(1), "one")
	waitIdle(t, open)
	waitIdle(t, left)
	for _, step := range []struct {
		passed     time.Duration
		open, left bool
	}{{time.Second, true, true}, {2 * time.Minute, true, false}, {2 * time.Hour, false, false}} {
		passed.Store(int64(step.passed))
		r.Sweep()
		if got, want := fmt.Sprint(sitting(open, left)), fmt.Sprint([]bool{step.open, step.left}); got != want {
			t.Errorf("after %v: at work are %s, want %s", step.passed, got, want)
		}
	}
	say(t, r, left, turn(2), "two") // it is opened again by itself
}

// TestMost_atWork: no more sessions are at work than there may be, also between two sweeps; those that a client has
// open are the last to rest, and one in which a turn runs does not.
func TestMost_atWork(t *testing.T) {
	r := newPlace(t).open(func(o *house.Options) { o.Most = 2 })
	open, left, third := r.session("open"), r.session("left"), r.session("third")
	leave := open.Attend(false)
	defer leave()
	for _, s := range []*live.Session{open, left, third} {
		say(t, r, s, turn(1), "one")
		waitIdle(t, s)
	}
	if got := fmt.Sprint(sitting(open, left, third)); got != "[true false true]" {
		t.Errorf("at work are %s", got)
	}
	gate := r.brain.gate()
	begin(t, open, turn(2), "two")
	<-r.brain.reached
	if !r.Relieve() || fmt.Sprint(sitting(open, left, third)) != "[true false false]" {
		t.Errorf("where the descriptors are gone at work are %v", sitting(open, left, third))
	}
	if r.Relieve() {
		t.Error("a turn that runs is given back")
	}
	close(gate)
	r.follow("open").ended(turn(2))
}

// TestAttach_withoutDescriptors: where the system opens no more files, a session that nobody uses makes room.
func TestAttach_withoutDescriptors(t *testing.T) {
	var first *live.Session
	p := newPlace(t)
	r := p.open(func(o *house.Options) {
		open := o.Engine
		o.Engine = func(ctx context.Context, at house.Place) (*engine.Engine, error) {
			if first != nil && first.AtWork() {
				return nil, &fs.PathError{Op: "open", Path: filepath.Join(at.Workspace, "x"), Err: syscall.EMFILE}
			}
			return open(ctx, at)
		}
	})
	one := r.session("one")
	say(t, r, one, turn(1), "one")
	waitIdle(t, one)
	first = one
	two, _, err := r.Make(t.Context(), parse(t, "two"), house.New{Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	say(t, r, two, turn(1), "one")
	if one.AtWork() {
		t.Error("the first one still is at work")
	}
}
