// Package remoteui lets extensions draw surfaces in the terminal of a frontend that lends them room, and tells
// them what the person does there.
//
// It keeps the bounds and the latest frame of every mount, and never draws: a frontend binds itself to it, takes
// the frames when it is woken, and says where the keys go. A frontend without such room, like one that only
// reads lines, binds none of this, and nothing of it is offered then. Source: sheet feature 12.12.
package remoteui

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// Mount is a surface that an extension wants to draw.
type Mount struct {
	ID           string // unique among the mounts of the frontend, also after each other
	Extension    string
	Title        string
	Placement    featurewire.UiPlacement
	MouseCapture bool // of a fullscreen surface
}

// Size is in cells.
type Size struct{ Columns, Rows uint16 }

// Frontend is a terminal that lends room. Its methods must not call the service, except from another goroutine.
type Frontend interface {
	// Room makes room for a surface, or says why there is none: a panel of the host, a conflict of focus.
	Room(m Mount) (Size, error)
	// Leave takes the room of a mount back.
	Leave(mount string)
	// Wake says that a frame or a desktop notification waits to be taken. It must not block.
	Wake()
	// ToolsExpanded says whether the results of tools are shown in full.
	ToolsExpanded() bool
	// Focused reports whether the keys of the person go to a mount.
	Focused(mount string) bool
}

// Options configure a service. Frontend is required.
type Options struct {
	Frontend Frontend
	// Ceded reports whether the terminal is lent away; Held whether an extension has it. Nil: it never is.
	Ceded func() bool
	Held  func(x *extension.Extension) bool
}

// Service keeps the mounts of one frontend. Make it with New.
type Service struct {
	frontend Frontend
	ceded    func() bool
	held     func(*extension.Extension) bool
	senders  sync.WaitGroup

	mu      sync.Mutex
	mounts  []*mount // oldest first
	peers   map[*extension.Extension]*peerState
	notices []Notification // that nobody has taken
}

// Notification is one for the desktop.
type Notification struct{ Extension, Title, Body string }

// mount is a live surface.
type mount struct {
	Mount
	surface   string
	extension *extension.Extension
	owner     extension.Owner
	size      Size
	revision  int64 // of the last frame that counted, -1 before the first
	frame     *Frame
	editor    *editor // nil but for the placement of an editor
}

// Frame is what a surface shows.
type Frame struct {
	Mount    string
	Revision int64
	Size     Size
	Lines    []string // printable text and styles
}

// peerState is what is kept of one process.
type peerState struct {
	out     chan outgoing
	stopped chan struct{}
	deaf    bool // it was late to look at terminal input, and is not asked again
}

// New returns a service without mounts.
func New(o Options) *Service {
	if o.Ceded == nil {
		o.Ceded = func() bool { return false }
	}
	if o.Held == nil {
		o.Held = func(*extension.Extension) bool { return false }
	}
	return &Service{frontend: o.Frontend, ceded: o.Ceded, held: o.Held, peers: map[*extension.Extension]*peerState{}}
}

// Binding serves the requests and takes the frames.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureRemoteUI, featurewire.FeatureTerminalInputInterceptV1},
		Requests: map[string]extension.Handler{
			featurewire.MethodUIOpen:   s.open,
			featurewire.MethodUIClose:  s.close,
			featurewire.MethodUIChrome: s.chrome,
		},
		Notices: map[string]func(*extension.Incoming){featurewire.MethodUIFrame: s.draw},
		Started: s.started,
		Ended:   s.ended,
	}
}

// Close ends every mount and returns when nothing is sent any more.
func (s *Service) Close() {
	s.mu.Lock()
	for len(s.mounts) > 0 {
		s.retireLocked(s.mounts[0], "the terminal is closed")
	}
	for x := range s.peers {
		s.stopLocked(x)
	}
	s.mu.Unlock()
	s.senders.Wait()
}

func (s *Service) open(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeUiOpenParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	placement := p.Placement.Or(featurewire.UiPlacementFullscreen)
	capture := p.MouseCapture.Or(false)
	if capture && placement != featurewire.UiPlacementFullscreen {
		return nil, extension.RefuseInvalid("only a fullscreen surface may capture the mouse")
	}
	if s.ceded() {
		return nil, extension.RefuseInvalid("the terminal is lent away")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.peers[r.Extension] == nil:
		return nil, extension.RefuseOwner("the process is gone")
	case s.findLocked(r.Extension, p.SurfaceID) != nil:
		return nil, extension.RefuseInvalid("the surface is mounted already")
	case len(s.mounts) >= featurewire.MaxUIMounts:
		return nil, extension.RefuseBounds(fmt.Sprintf("%d surfaces are mounted already", featurewire.MaxUIMounts))
	case exclusive(placement) && slices.ContainsFunc(s.mounts, func(m *mount) bool { return m.Placement == placement }):
		return nil, extension.RefuseInvalid("the placement " + string(placement) + " is occupied")
	}
	m := &mount{
		Mount:   Mount{ID: rand.Text(), Extension: r.Extension.Name(), Title: p.Title, Placement: placement, MouseCapture: capture},
		surface: p.SurfaceID, extension: r.Extension, owner: r.Owner, revision: -1,
	}
	if m.size, err = s.frontend.Room(m.Mount); err != nil {
		return nil, extension.RefuseInvalid(err.Error())
	}
	result := featurewire.UiOpenResult{Columns: int64(m.size.Columns), Rows: int64(m.size.Rows)}
	if placement == featurewire.UiPlacementEditor {
		m.editor = &editor{}
		result.EditorMountID = wirejson.Some(m.ID)
	}
	s.mounts = append(s.mounts, m)
	return result, nil
}

// exclusive reports whether a placement has room for one surface alone.
func exclusive(p featurewire.UiPlacement) bool {
	return p == featurewire.UiPlacementFullscreen || p == featurewire.UiPlacementEditor
}

// findLocked returns the mount of a surface.
func (s *Service) findLocked(x *extension.Extension, surface string) *mount {
	for _, m := range s.mounts {
		if m.extension == x && m.surface == surface {
			return m
		}
	}
	return nil
}

// mountLocked returns a mount by its id.
func (s *Service) mountLocked(id string) *mount {
	for _, m := range s.mounts {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// dropLocked ends a mount.
func (s *Service) dropLocked(m *mount) {
	s.mounts = slices.DeleteFunc(s.mounts, func(other *mount) bool { return other == m })
	s.frontend.Leave(m.ID)
}

// retireLocked ends a mount and tells its extension why.
func (s *Service) retireLocked(m *mount, reason string) {
	s.dropLocked(m)
	s.tellLocked(m.extension, featurewire.MethodUIClosed, featurewire.UiClosedParams{SurfaceID: m.surface, Reason: reason})
}

func (s *Service) close(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeUiCloseParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.findLocked(r.Extension, p.SurfaceID)
	if m == nil || m.owner != r.Owner {
		return nil, extension.RefuseInvalid("the surface is not mounted by this extension for this session")
	}
	s.dropLocked(m)
	return featurewire.UiCloseResult{}, nil
}

func (s *Service) chrome(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeUiChromeParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	wish, ok := p.Chrome.(featurewire.DesktopNotification)
	if !ok {
		return nil, extension.RefuseInvalid("no operation on editors is served")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notices) >= featurewire.MaxDesktopNotifications {
		return nil, extension.RefuseBounds(fmt.Sprintf("%d notifications wait already", featurewire.MaxDesktopNotifications))
	}
	s.notices = append(s.notices, Notification{Extension: r.Extension.Name(), Title: wish.Title, Body: wish.Body})
	s.frontend.Wake()
	return featurewire.UiChromeResult{ToolsExpanded: s.frontend.ToolsExpanded()}, nil
}

// TakeNotifications returns what waits for the desktop, oldest first.
func (s *Service) TakeNotifications() []Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.notices
	s.notices = nil
	return taken
}

// draw takes a frame, or drops it with a diagnostic.
func (s *Service) draw(r *extension.Incoming) {
	p, err := featurewire.DecodeUiFrameParams(r.Params)
	if err == nil {
		err = checkLines(p.Lines)
	}
	if err != nil {
		r.Extension.Diagnose("a frame is dropped: " + err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.findLocked(r.Extension, p.SurfaceID)
	switch {
	case m == nil || m.owner != r.Owner:
		r.Extension.Diagnose("a frame is dropped: its surface is not mounted")
		return
	case p.Columns != int64(m.size.Columns) || p.Rows != int64(m.size.Rows):
		r.Extension.Diagnose("a frame is dropped: it was drawn for another size")
		return
	case p.Revision <= m.revision:
		r.Extension.Diagnose("a frame is dropped: its revision does not grow")
		return
	}
	m.revision = p.Revision
	m.frame = &Frame{Mount: m.ID, Revision: p.Revision, Size: m.size, Lines: p.Lines}
	if m.editor == nil || m.editor.settled() {
		s.frontend.Wake()
	}
}

// TakeFrames returns the latest frame of every mount that has a new one. Those of an editor wait until what the
// person has typed is acknowledged.
func (s *Service) TakeFrames() []Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken []Frame
	for _, m := range s.mounts {
		if m.frame != nil && (m.editor == nil || m.editor.settled()) {
			taken = append(taken, *m.frame)
			m.frame = nil
		}
	}
	return taken
}
