//go:build unix

package process

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// observed collects what a watcher hears about this test's trees.
type observed struct {
	mu   sync.Mutex
	list []Tree
}

func (o *observed) tell(t Tree) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, t)
}

func (o *observed) take() []Tree {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}

func TestWatch_hearsEveryTree(t *testing.T) {
	const tag = "TAG=watched"
	tagged := func(o *Options) { o.Env, o.Tag = append(o.Env, tag), tag }
	early := start(t, "echo", tagged)
	var seen observed
	Watch(seen.tell)
	defer Watch(nil)
	known := seen.take()
	if !slices.Contains(known, Tree{Key: early.key, PID: early.PID(), Tag: tag}) {
		t.Errorf("a tree that runs already is not among %v", known)
	}
	p := start(t, "echo", tagged)
	if want := []Tree{{Key: p.key, Tag: tag}, {Key: p.key, PID: p.PID(), Tag: tag}}; !slices.Equal(seen.take(), want) {
		t.Errorf("a launch is not told as %v", want)
	}
	p.End(Stages{Close: time.Minute})
	if want := []Tree{{Key: p.key, PID: p.PID(), Tag: tag, Gone: true}}; !slices.Equal(seen.take(), want) {
		t.Errorf("an end is not told as %v", want)
	}
	if _, err := Start(Options{Path: "/nowhere/at/all"}); err == nil {
		t.Fatal("started")
	}
	if got := seen.take(); len(got) != 2 || got[0].Gone || !got[1].Gone || got[0].Key != got[1].Key {
		t.Errorf("a launch that fails is told as %v", got)
	}
}

// Every group of the program is reached by one call.
func TestKillAll(t *testing.T) {
	var all []*Process
	for range 3 {
		p := start(t, "stubborn", nil)
		readLine(t, p.Stdout())
		all = append(all, p)
	}
	KillAll()
	for _, p := range all {
		if report := p.End(Stages{Close: time.Minute}); report.Alive != 0 || report.State.Signal != "killed" {
			t.Errorf("%+v", report)
		}
	}
}

// A tree is ended by whoever knows its group and tag.
func TestKillTree(t *testing.T) {
	p := start(t, "stubborn", nil)
	readLine(t, p.Stdout())
	KillTree(p.PID(), "")
	<-p.Exited()
	if left := KillTree(p.PID(), ""); left != 0 {
		t.Errorf("%d members of a tree that was ended", left)
	}
	if report := p.End(Stages{Close: time.Minute}); report.State.Signal != "killed" {
		t.Errorf("%+v", report)
	}
	if left := KillTree(0, ""); left != 0 {
		t.Errorf("nothing in particular has %d members", left)
	}
}
