package remoteui

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// outgoing is one notification to a process.
type outgoing struct {
	method string
	params peer.Value
}

// sendQueue is how many notifications of one process wait; a process that does not read loses its mounts.
const sendQueue = featurewire.MaxUIPendingEvents

func (s *Service) started(x *extension.Extension) {
	if !x.Has(featurewire.FeatureRemoteUI) {
		return
	}
	p := &peerState{out: make(chan outgoing, sendQueue), stopped: make(chan struct{})}
	s.mu.Lock()
	s.peers[x] = p
	s.mu.Unlock()
	s.senders.Add(1)
	go func() {
		defer s.senders.Done()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-p.stopped:
				cancel()
			case <-ctx.Done():
			}
		}()
		for {
			select {
			case o := <-p.out:
				// What cannot be sent any more ends with the process, which is noticed elsewhere.
				_ = x.Notify(ctx, o.method, o.params)
			case <-p.stopped:
				return
			}
		}
	}()
}

func (s *Service) ended(x *extension.Extension) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Clone(s.mounts) {
		if m.extension == x {
			s.dropLocked(m)
		}
	}
	s.stopLocked(x)
}

func (s *Service) stopLocked(x *extension.Extension) {
	if p := s.peers[x]; p != nil {
		close(p.stopped)
		delete(s.peers, x)
	}
}

// tellLocked queues a notification, and reports whether there was room.
func (s *Service) tellLocked(x *extension.Extension, method string, params peer.Value) bool {
	p := s.peers[x]
	if p == nil {
		return false
	}
	select {
	case p.out <- outgoing{method, params}:
		return true
	default:
		return false
	}
}

// deliverLocked tells the extension of a mount, which loses the mount if it does not keep up.
func (s *Service) deliverLocked(m *mount, method string, params peer.Value) {
	if !s.tellLocked(m.extension, method, params) {
		s.dropLocked(m)
		m.extension.Diagnose("the surface " + m.surface + " is unmounted: the extension does not read what is told of it")
	}
}

// Key is one key as a person presses it.
type Key struct {
	Name      string // a character, or one of the named keys
	Kind      featurewire.UiKeyKind
	Modifiers []featurewire.UiModifier
}

// Handling says what the frontend is to do about a key.
type Handling int

// The ways in which a key is handled.
const (
	Native   Handling = iota // no mount has the focus: the key is the frontend's
	Sent                     // it was sent to the mount
	Rescued                  // it took the terminal back
	CloseApp                 // it closes the application
)

// Key sends a key to the mount that has the focus. Ctrl+G takes a fullscreen mount away at once and Ctrl+D
// closes the application, whatever the extension thinks of it.
func (s *Service) Key(mountID string, k Key) Handling {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mountLocked(mountID)
	control := slices.Equal(k.Modifiers, []featurewire.UiModifier{featurewire.UiModifierControl})
	switch {
	case control && strings.EqualFold(k.Name, "d"):
		return CloseApp
	case m == nil:
		return Native
	case control && strings.EqualFold(k.Name, "g") && m.Placement == featurewire.UiPlacementFullscreen:
		s.retireLocked(m, "the person took the terminal back")
		return Rescued
	}
	p := featurewire.UiKeyParams{SurfaceID: m.surface, Key: k.Name, Kind: k.Kind, Modifiers: append([]featurewire.UiModifier{}, k.Modifiers...)}
	if m.editor != nil {
		if !s.issueLocked(m, len(k.Name)) {
			return Native
		}
		p.EditorInput = m.input()
	}
	s.deliverLocked(m, featurewire.MethodUIKey, p)
	return Sent
}

// Mouse sends an event of the mouse to a mount. What it says of the surface is filled in.
func (s *Service) Mouse(mountID string, p featurewire.UiMouseParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mountLocked(mountID); m != nil {
		p.SurfaceID, p.Modifiers = m.surface, append([]featurewire.UiModifier{}, p.Modifiers...)
		s.deliverLocked(m, featurewire.MethodUIMouse, p)
	}
}

// Text sends text to the editor of a mount; native says that the editor of the host has changed as well.
func (s *Service) Text(mountID, text string, paste, native bool) Handling {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mountLocked(mountID)
	if m == nil || m.editor == nil || !s.issueLocked(m, len(text)) {
		return Native
	}
	s.deliverLocked(m, featurewire.MethodUIEditorText, featurewire.UiEditorTextParams{
		SurfaceID: m.surface, Text: text, Paste: paste, EditorInput: m.input(), NativeChanged: wirejson.Some(native),
	})
	return Sent
}

// Resize gives a mount another size. Frames for the one before are dropped from now on, and one that waits is.
// The holder of the terminal is not told.
func (s *Service) Resize(mountID string, size Size) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mountLocked(mountID)
	if m == nil || m.size == size {
		return
	}
	m.size, m.frame = size, nil
	if !s.held(m.extension) {
		s.deliverLocked(m, featurewire.MethodUIResize, featurewire.UiResizeParams{
			SurfaceID: m.surface, Columns: int64(size.Columns), Rows: int64(size.Rows),
		})
	}
}

// Retire ends a mount for a reason.
func (s *Service) Retire(mountID, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.mountLocked(mountID); m != nil {
		s.retireLocked(m, reason)
	}
}

// ContextUpdated tells every extension that another session is in front, or has another state. Mounts for other
// sessions end.
func (s *Service) ContextUpdated(session string, host extension.HostState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Clone(s.mounts) {
		if m.owner.SessionID != session {
			s.retireLocked(m, "another session is in front")
		}
	}
	for x := range s.peers {
		c := x.Context(extension.Scope{Owner: session, Host: host})
		s.tellLocked(x, featurewire.MethodContextUpdated, featurewire.ContextUpdatedParams{ResourceOwner: x.OwnerOf(session).Wire(), Host: c.Host})
	}
}

// interceptBudget is how long an extension may look at one piece of terminal input.
const interceptBudget = 100 * time.Millisecond

// Intercept shows terminal input to an extension before the host uses it, and returns what the host is to use:
// the input itself, what the extension makes of it, or nothing. Longer input than an extension may see, and
// whatever goes wrong, leaves it as it is; who is late is not asked again.
func (s *Service) Intercept(ctx context.Context, x *extension.Extension, session, data string) string {
	s.mu.Lock()
	p := s.peers[x]
	asks := p != nil && !p.deaf && x.Has(featurewire.FeatureTerminalInputInterceptV1)
	s.mu.Unlock()
	if !asks || data == "" || len(data) > featurewire.MaxTerminalInputBytes || !utf8.ValidString(data) {
		return data
	}
	answer, err := x.Do(ctx, extension.Ask{
		Method: featurewire.MethodUITerminalInputIntercept, Timeout: interceptBudget, Detached: true,
		Scope:  extension.Scope{Owner: session},
		Params: featurewire.UiTerminalInputInterceptParams{Data: data, ResourceOwner: x.OwnerOf(session).Wire()},
	})
	if err != nil {
		s.mu.Lock()
		p.deaf = true
		s.mu.Unlock()
		x.Diagnose("terminal input is not shown to the extension any more: " + err.Error())
		return data
	}
	result, err := featurewire.DecodeUiTerminalInputInterceptResult(answer)
	if err != nil || !complete(result.Data) {
		x.Diagnose("what the extension made of terminal input is refused")
		return data
	}
	return result.Data
}

// complete reports whether input is whole: no sequence is left open, and none is an answer of a terminal to a
// query, which only a terminal may give.
func complete(data string) bool {
	if !utf8.ValidString(data) {
		return false
	}
	for rest := data; ; {
		_, after, found := strings.Cut(rest, "\x1b")
		if !found {
			return true
		}
		switch {
		case after == "": // the key Escape itself
			return true
		case strings.ContainsRune("]P_^X", rune(after[0])): // strings of a terminal
			return false
		case after[0] != '[':
			rest = after[1:]
			continue
		}
		end := strings.IndexFunc(after[1:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return false
		}
		final, inside := after[1+end], after[1:1+end]
		if strings.IndexByte("Rcnyt", final) >= 0 || final == 'u' && strings.HasPrefix(inside, "?") {
			return false
		}
		rest = after[end+2:]
	}
}
