package process

import (
	"maps"
	"sync"
)

// Tree is a child with everything it starts, as somebody else can end it.
type Tree struct {
	Key uint64 // different for every tree of this program
	// PID is the child's id and that of its group; 0 if it is about to be launched.
	PID int
	Tag string // as in Options
	// Gone says that nothing of it is left, or that it was never launched.
	Gone bool
}

// trees are all that run. Starts and ends of a whole program meet here, so it is one variable of the package.
var trees struct {
	sync.Mutex
	last  uint64
	live  map[uint64]*Process
	known map[uint64]Tree
	watch func(Tree)
}

// Watch has every change of every tree told to a function, first of all those that run now. It is called
// with one change at a time and must not start or end a process. There is one watcher; nil removes it.
func Watch(watcher func(Tree)) {
	trees.Lock()
	defer trees.Unlock()
	trees.watch = watcher
	if watcher == nil {
		return
	}
	for _, t := range trees.known {
		watcher(t)
	}
}

// enroll makes the tree known before its first process exists.
func (p *Process) enroll() {
	trees.Lock()
	defer trees.Unlock()
	if trees.live == nil {
		trees.live, trees.known = map[uint64]*Process{}, map[uint64]Tree{}
	}
	trees.last++
	p.key = trees.last
	p.tellLocked(Tree{Key: p.key, Tag: p.tag})
}

// announce tells the id of the child, which has started.
func (p *Process) announce() {
	trees.Lock()
	defer trees.Unlock()
	trees.live[p.key] = p
	p.tellLocked(Tree{Key: p.key, PID: p.pid, Tag: p.tag})
}

// strikeOff forgets the tree.
func (p *Process) strikeOff() {
	trees.Lock()
	defer trees.Unlock()
	delete(trees.live, p.key)
	p.tellLocked(Tree{Key: p.key, PID: p.pid, Tag: p.tag, Gone: true})
}

func (p *Process) tellLocked(t Tree) {
	if t.Gone {
		delete(trees.known, t.Key)
	} else {
		trees.known[t.Key] = t
	}
	if trees.watch != nil {
		trees.watch(t)
	}
}

// KillAll ends every tree of this program at once and returns without waiting. Each must still be ended.
func KillAll() {
	trees.Lock()
	live := maps.Clone(trees.live)
	trees.Unlock()
	for _, p := range live {
		p.Kill()
	}
}

// KillTree ends a tree of another program, which has died: all processes of the group of pid and all that
// carry the tag. It returns how many were alive a moment later. Either may be zero.
func KillTree(pid int, tag string) (alive int) {
	g, err := newGroup(tag)
	if err != nil {
		return 0
	}
	defer g.release()
	g.kill(pid)
	return g.remaining(pid)
}
