// Package presentation keeps what extensions show of their work: one snapshot each, replaced as a whole.
//
// A snapshot is judged as a whole, counts only where its revision grows, and belongs to a session or to the
// process. Frontends are told that something has changed and look at what is there; they never run
// anything by themselves. Of too many snapshots in a second only the newest is shown.
//
// Rules: EXT04-PRES. Sheet: feature 11.5.
package presentation

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// window is the time in which only so many snapshots are shown.
const window = featurewire.PresentationWindowMs * time.Millisecond

// Board holds the snapshots of all running extensions. It may be used by several goroutines.
type Board struct {
	// Foreground yields the opaque owner id of the session in front of the person, empty for none: only
	// its snapshots and those of processes are taken. Nil: every session is in front.
	Foreground func() string
	// Changed is told the name of an extension whose snapshot has changed or gone. It must not block. Nil:
	// nobody listens.
	Changed func(extension string)

	mu     sync.Mutex
	places map[*extension.Extension]*place // under mu
}

// Shown is the snapshot of an extension as it is shown.
type Shown struct {
	Extension string
	// Owner is zero for a snapshot of the process, which shows no data of a session.
	Owner    extension.Owner
	Snapshot featurewire.PresentationSnapshot
}

// Action is something that the person may choose.
type Action struct {
	// On is the generation that offers it, Owner the session it is for, zero for none.
	On        *extension.Extension
	Owner     extension.Owner
	Revision  int64
	ID, Label string
	Command   string
	Arguments []string
	// Destructive: the person is asked again before it runs.
	Destructive bool
}

// place is where one generation shows its snapshots.
type place struct {
	x        *extension.Extension
	revision int64  // the last that counted, -1 before
	shown    *Shown // nil for none
	waiting  *Shown // counted, not shown yet
	opened   time.Time
	emitted  int         // in the window that was opened then
	timer    *time.Timer // shows what waits; nil where nothing does
}

// Binding takes snapshots from every extension that declares a presentation.
func (b *Board) Binding() extension.Binding {
	return extension.Binding{
		Notices: map[string]func(*extension.Incoming){featurewire.MethodPresentationUpdate: b.update},
		Started: func(x *extension.Extension) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.places == nil {
				b.places = map[*extension.Extension]*place{}
			}
			b.places[x] = &place{x: x, revision: -1}
		},
		Ended: b.ended,
	}
}

func (b *Board) update(n *extension.Incoming) {
	params, err := featurewire.DecodePresentationUpdateParams(n.Params)
	if err == nil {
		err = Judge(params.Snapshot, commands(n.Extension))
	}
	if err == nil {
		err = b.put(n.Extension, Shown{Extension: n.Extension.Name(), Owner: n.Owner, Snapshot: params.Snapshot})
	}
	if err != nil {
		n.Extension.Diagnose("presentation is dropped: " + err.Error())
	}
}

// commands are what actions may run: those of the catalog, which are the declared ones unless the process
// decides them.
func commands(x *extension.Extension) []string {
	var names []string
	for _, c := range x.Agreement().Commands {
		names = append(names, c.Name)
	}
	return names
}

// put takes a judged snapshot. The error is worth a diagnostic, whether or not the snapshot is shown.
func (b *Board) put(x *extension.Extension, s Shown) error {
	changed, err := b.take(x, s)
	if changed {
		b.tell(s.Extension)
	}
	return err
}

func (b *Board) take(x *extension.Extension, s Shown) (changed bool, err error) {
	front := s.Owner.SessionID
	if b.Foreground != nil {
		front = b.Foreground()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.places[x]
	switch {
	case p == nil:
		return false, fmt.Errorf("the extension is going")
	case !s.Owner.IsZero() && s.Owner.SessionID != front:
		return false, fmt.Errorf("its session is not the one that is shown")
	case s.Snapshot.Revision <= p.revision:
		return false, fmt.Errorf("revision %d does not grow behind %d", s.Snapshot.Revision, p.revision)
	}
	p.revision = s.Snapshot.Revision
	now := time.Now()
	if p.timer == nil && (p.opened.IsZero() || now.Sub(p.opened) >= window) {
		p.opened, p.emitted = now, 0
	}
	if p.timer == nil && p.emitted < featurewire.MaxPresentationUpdates {
		p.emitted++
		p.shown = &s
		return true, nil
	}
	p.waiting = &s
	if p.timer != nil {
		return false, nil
	}
	p.timer = time.AfterFunc(p.opened.Add(window).Sub(now), func() { b.next(p) })
	return false, fmt.Errorf("more than %d in one second; the newest is shown when the second is over", featurewire.MaxPresentationUpdates)
}

// next opens the next window with what waits.
func (b *Board) next(p *place) {
	b.mu.Lock()
	name := ""
	p.timer = nil
	if b.places[p.x] == p && p.waiting != nil {
		p.opened, p.emitted = time.Now(), 1
		p.shown, p.waiting = p.waiting, nil
		name = p.shown.Extension
	}
	b.mu.Unlock()
	if name != "" {
		b.tell(name)
	}
}

func (b *Board) tell(extension string) {
	if b.Changed != nil {
		b.Changed(extension)
	}
}

// ended clears what a generation showed: a crash, a reload and a disablement end there alike.
func (b *Board) ended(x *extension.Extension) {
	b.mu.Lock()
	p := b.places[x]
	delete(b.places, x)
	name := ""
	if p != nil {
		p.stop()
		if p.shown != nil {
			name = p.shown.Extension
		}
	}
	b.mu.Unlock()
	if name != "" {
		b.tell(name)
	}
}

// stop lets nothing wait any longer.
func (p *place) stop() {
	p.waiting = nil
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// Clear drops the snapshots of every session but one: another session is in front now. Those of processes
// stay.
func (b *Board) Clear(session string) {
	b.mu.Lock()
	var names []string
	for _, p := range b.places {
		if p.waiting != nil && !p.waiting.keeps(session) {
			p.waiting = nil // its timer then finds nothing
		}
		if p.shown != nil && !p.shown.keeps(session) {
			names = append(names, p.shown.Extension)
			p.shown = nil
		}
	}
	b.mu.Unlock()
	slices.Sort(names)
	for _, name := range names {
		b.tell(name)
	}
}

func (s *Shown) keeps(session string) bool { return s.Owner.IsZero() || s.Owner.SessionID == session }

// Snapshots are what is shown now, in the order of the names.
func (b *Board) Snapshots() []Shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Shown
	for _, p := range b.places {
		if p.shown != nil {
			all = append(all, *p.shown)
		}
	}
	slices.SortFunc(all, func(a, b Shown) int { return strings.Compare(a.Extension, b.Extension) })
	return all
}

// Action looks up an action that an extension shows now. It is not run by that: the person has chosen it,
// is asked again if it is destructive, and then its command is executed.
func (b *Board) Action(extension, id string) (Action, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shows := false
	for x, p := range b.places {
		if p.shown == nil || p.shown.Extension != extension {
			continue
		}
		shows = true
		for _, a := range p.shown.Snapshot.Actions.Or(nil) {
			if a.ID == id {
				return Action{
					On: x, Owner: p.shown.Owner, Revision: p.shown.Snapshot.Revision, ID: id, Label: a.Label,
					Command: a.Command, Arguments: a.Arguments.Or(nil), Destructive: a.Destructive.Or(false),
				}, nil
			}
		}
	}
	if !shows {
		return Action{}, fmt.Errorf("extension %q shows no actions", extension)
	}
	return Action{}, fmt.Errorf("extension %q shows no action %q", extension, id)
}
