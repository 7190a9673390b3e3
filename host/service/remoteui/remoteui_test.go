package remoteui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// screen is a frontend with room.
type screen struct {
	err     error
	left    []string
	wakes   int
	blurred bool
}

func (f *screen) Room(Mount) (Size, error) { return Size{80, 24}, f.err }
func (f *screen) Leave(mount string)       { f.left = append(f.left, mount) }
func (f *screen) Wake()                    { f.wakes++ }
func (f *screen) ToolsExpanded() bool      { return true }
func (f *screen) Focused(string) bool      { return !f.blurred }

// stage is an extension that draws.
type stage struct {
	*extensiontest.Rig
	t       *testing.T
	service *Service
	screen  *screen
	parent  int64
	ceded   bool
	held    bool
}

const (
	open   = featurewire.MethodUIOpen
	closes = featurewire.MethodUIClose
	frame  = featurewire.MethodUIFrame
	chrome = featurewire.MethodUIChrome
)

// play runs f inside a tool call of the session in front.
func play(t *testing.T, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, screen: &screen{}}
		s.service = New(Options{
			Frontend: s.screen, Ceded: func() bool { return s.ceded }, Held: func(*extension.Extension) bool { return s.held },
		})
		defer s.service.Close()
		s.start("demo")
		s.DuringCall(extension.Request{Scope: extension.Scope{Owner: extensiontest.DefaultFront}, Timeout: time.Hour}, func(parent int64) {
			s.parent = parent
			f(s)
		})
	})
}

func (s *stage) start(name string) {
	s.Rig = extensiontest.Start(s.t, extensiontest.Setup{
		Name: name, Contributes: "tools = [\"work\"]", Options: extension.Options{Bindings: []extension.Binding{s.service.Binding()}},
	})
}

func (s *stage) ask(method, members string) extensiontest.Answer {
	return s.Ask(method, fmt.Sprintf(`{"parent_request_id":%d,%s}`, s.parent, members))
}

func surface(name, more string) string {
	return fmt.Sprintf(`"surface_id":"%s","title":"T"%s`, name, more)
}

// mount opens a surface and returns the id of its mount.
func (s *stage) mount(name, placement string) string {
	s.t.Helper()
	s.ask(open, surface(name, `,"placement":"`+placement+`"`)).OK(s.t, "")
	s.service.mu.Lock()
	defer s.service.mu.Unlock()
	return s.service.findLocked(s.X, name).ID
}

// draw sends a frame and waits until the host has looked at it.
func (s *stage) draw(name string, revision int, size, lines string) {
	s.t.Helper()
	s.Tell(frame, fmt.Sprintf(`{"resource_owner":%s,"surface_id":"%s","revision":%d,%s,"lines":%s}`, s.Owner(extensiontest.DefaultFront), name, revision, size, lines))
	synctest.Wait()
}

const whole = `"columns":80,"rows":24`

func (s *stage) wantFrames(want ...string) {
	s.t.Helper()
	var got []string
	for _, f := range s.service.TakeFrames() {
		got = append(got, fmt.Sprintf("%d %s", f.Revision, strings.Join(f.Lines, "|")))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("frames %.200q, want %.200q; diagnosed %q", got, want, s.Diagnostics())
	}
}

func (s *stage) wantTold(method string, want ...string) {
	s.t.Helper()
	synctest.Wait()
	var got []string
	for _, told := range s.Told(method) {
		got = append(got, string(told.Params))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("told by %s\n%s\nwant\n%s", method, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// EXT04-UI-007
func TestBinding_offers(t *testing.T) {
	play(t, func(s *stage) {
		if !s.X.Has(featurewire.FeatureRemoteUI) || !s.X.Has(featurewire.FeatureTerminalInputInterceptV1) {
			t.Errorf("offered %s", s.Offer())
		}
	})
	rig := extensiontest.Start(t, extensiontest.Setup{})
	for _, feature := range []string{featurewire.FeatureRemoteUI, featurewire.FeatureTerminalInputInterceptV1} {
		if strings.Contains(string(rig.Offer()), feature) {
			t.Errorf("%s is offered by a frontend without room", feature)
		}
	}
}

// EXT04-UI-008, EXT04-UI-009
func TestOpen(t *testing.T) {
	play(t, func(s *stage) {
		s.ask(open, surface("a", "")).OK(t, `{"columns":80,"rows":24}`)
		if m := s.service.mounts[0]; m.Placement != featurewire.UiPlacementFullscreen || m.MouseCapture || m.Extension != "demo" || m.Title != "T" {
			t.Errorf("mounted %+v", m.Mount)
		}
		var r featurewire.UiOpenResult
		s.ask(open, surface("e", `,"placement":"editor"`)).Decode(t, &r)
		if id, ok := r.EditorMountID.Get(); !ok || id != s.service.mounts[1].ID {
			t.Errorf("opened an editor with %+v", r)
		}
		s.ask(open, surface("m", `,"placement":"header","mouse_capture":true`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		s.ask(open, surface("m", `,"placement":"header","mouse_capture":false`)).OK(t, "")
		for _, bad := range []string{surface("a b", ""), surface(strings.Repeat("s", 65), ""), `"surface_id":"x"`, `"surface_id":"x","title":""`, surface("x", `,"placement":"corner"`)} {
			if a := s.ask(open, bad); a.Refusal == nil || a.Refusal.Code != featurewire.CodeInvalidParams {
				t.Errorf("%.80s: %+v", bad, a)
			}
		}
		s.ask(open, `"surface_id":"`+strings.Repeat("s", 64)+`","placement":"footer","title":"`+strings.Repeat("t", 128)+`"`).OK(t, "")
		s.ask(open, `"surface_id":"y","placement":"footer","title":"`+strings.Repeat("t", 129)+`"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
	})
}

// EXT04-UI-010
func TestOpen_refusals(t *testing.T) {
	play(t, func(s *stage) {
		refused := func(members string) {
			t.Helper()
			s.ask(open, members).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		}
		s.ceded = true
		refused(surface("a", ""))
		s.ceded = false
		s.screen.err = errors.New("a panel of the host is open")
		refused(surface("a", ""))
		s.screen.err = nil
		s.mount("a", "fullscreen")
		refused(surface("a", `,"placement":"header"`)) // the same surface
		refused(surface("b", ""))                      // the same place
		s.mount("e", "editor")
		refused(surface("f", `,"placement":"editor"`))
		for n := 2; n < featurewire.MaxUIMounts; n++ {
			s.mount(fmt.Sprint("h", n), "header")
		}
		s.ask(open, surface("more", `,"placement":"header"`)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		s.ask(closes, `"surface_id":"a"`).OK(t, `{}`)
		s.mount("b", "fullscreen")
	})
}

// EXT04-UI-011, EXT04-UI-013
func TestFrames(t *testing.T) {
	play(t, func(s *stage) {
		s.mount("a", "fullscreen")
		s.draw("a", 0, whole, `["zero"]`)
		s.wantFrames("0 zero")
		s.draw("a", 0, whole, `["again"]`)
		s.draw("a", 5, `"columns":79,"rows":24`, `["narrow"]`) // its revision does not count
		s.draw("a", 5, `"columns":80,"rows":25`, `["high"]`)
		s.wantFrames()
		s.draw("a", 1, whole, `["one"]`)
		s.draw("a", 2, whole, `["two"]`)
		s.wantFrames("2 two") // the latest alone
		s.wantFrames()
		s.draw("b", 3, whole, `["nobody"]`)
		s.draw("a", 9007199254740991, whole, `[]`)
		s.wantFrames("9007199254740991 ")
		if s.screen.wakes != 4 {
			t.Errorf("woken %d times", s.screen.wakes)
		}
		s.draw("a", 1, whole, `["back"]`)
		s.wantFrames()
	})
}

// EXT04-UI-012
func TestFrames_contents(t *testing.T) {
	play(t, func(s *stage) {
		s.mount("a", "fullscreen")
		many := func(n, length int) string {
			return `["` + strings.TrimSuffix(strings.Repeat(strings.Repeat("x", length)+`","`, n), `","`) + `"]`
		}
		good := []string{
			`["ü \u001b[1;31mred\u001b[0m \u001b[m \u001b[38;5;255mx\u001b[48;2;0;128;255my\u001b[97;107m"]`, `["\u001b[38:5:1mx"]`,
			many(256, 1), many(1, 16384), many(32, 16384), `[""]`,
		}
		bad := []string{
			`["\u001b[2J"]`, `["\u001b[1A"]`, `["\u001b[10;10H"]`, `["\u001b]0;t\u0007"]`, `["\u001b[6n"]`, `["a\nb"]`, `["\u0007"]`, `["\u009b1m"]`, `["\u001b7"]`,
			`["\u001b[?25l"]`, `["\u001b["]`, `["\u001b[38;5;256mx"]`, `["\u001b[38;2;1;2mx"]`, `["\u001b[38mx"]`, `["\u001b[1000mx"]`, `["\u001b[50mx"]`,
			many(257, 1), many(1, 16385), many(33, 16384), `[1]`, `"x"`,
		}
		for n, lines := range good {
			s.draw("a", n, whole, lines)
			if f := s.service.TakeFrames(); len(f) != 1 {
				t.Errorf("%.80s is dropped: %q", lines, s.Diagnostics())
			}
		}
		for n, lines := range bad {
			s.draw("a", 100+n, whole, lines)
			if f := s.service.TakeFrames(); len(f) != 0 {
				t.Errorf("%.80s is shown", lines)
			}
		}
	})
}

// EXT04-UI-014
func TestClose(t *testing.T) {
	play(t, func(s *stage) {
		s.mount("a", "fullscreen")
		one, parent := s.Rig, s.parent
		s.start("other")
		s.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(theirs int64) {
			s.parent = theirs
			s.ask(closes, `"surface_id":"a"`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			s.mount("a", "header") // names are each extension's own
		})
		s.Rig, s.parent = one, parent
		s.ask(closes, `"surface_id":"none"`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		s.ask(closes, `"surface_id":"a"`).OK(t, `{}`)
		s.ask(closes, `"surface_id":"a"`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		if len(s.service.mounts) != 1 || len(s.screen.left) != 1 {
			t.Errorf("%d mounts, %d left", len(s.service.mounts), len(s.screen.left))
		}
		s.wantTold(featurewire.MethodUIClosed)
	})
}

// EXT04-UI-015, EXT04-UI-016
func TestChrome(t *testing.T) {
	play(t, func(s *stage) {
		owner := `"resource_owner":` + s.Owner(extensiontest.DefaultFront)
		notify := func(title, body string) extensiontest.Answer {
			return s.ask(chrome, owner+`,"chrome":{"kind":"desktop_notification","title":"`+title+`","body":"`+body+`"}`)
		}
		notify(strings.Repeat("t", 1024), strings.Repeat("b", 4096)).OK(t, `{"tools_expanded":true}`)
		for range featurewire.MaxDesktopNotifications - 1 {
			notify("t", "b").OK(t, `{"tools_expanded":true}`)
		}
		notify("t", "b").Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		if taken := s.service.TakeNotifications(); len(taken) != 16 || taken[1] != (Notification{"demo", "t", "b"}) || s.screen.wakes != 16 {
			t.Errorf("taken %d, woken %d times", len(taken), s.screen.wakes)
		}
		notify("a;b", "b").Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		notify("t", `b\n`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		notify(strings.Repeat("t", 1025), "b").Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		notify("t", strings.Repeat("b", 4097)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		for _, wish := range []string{`{"kind":"editor","surface_id":"a","operation":{"create":{}}}`, `{"kind":"title","title":"x"}`, `{}`} {
			s.ask(chrome, owner+`,"chrome":`+wish).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		}
	})
}

// EXT04-UI-017, EXT04-UI-018, EXT04-UI-019
func TestInput(t *testing.T) {
	play(t, func(s *stage) {
		id := s.mount("a", "fullscreen")
		shift := []featurewire.UiModifier{featurewire.UiModifierShift, featurewire.UiModifierAlt, featurewire.UiModifierSuper}
		if h := s.service.Key(id, Key{"Enter", featurewire.UiKeyKindPress, shift}); h != Sent {
			t.Errorf("handled %v", h)
		}
		s.service.Key(id, Key{"x", featurewire.UiKeyKindRelease, nil})
		if h := s.service.Key("nobody", Key{"x", featurewire.UiKeyKindRepeat, nil}); h != Native {
			t.Errorf("handled %v", h)
		}
		s.service.Mouse(id, featurewire.UiMouseParams{Kind: featurewire.UiMouseKindWheel, Button: featurewire.UiMouseButtonNone, X: 0, Y: 23, WheelDelta: 2})
		s.service.Mouse("nobody", featurewire.UiMouseParams{})
		s.service.Resize(id, Size{80, 24}) // it has that size
		s.service.Resize(id, Size{100, 30})
		s.service.Resize("nobody", Size{1, 1})
		s.wantTold(featurewire.MethodUIKey,
			`{"key":"Enter","kind":"press","modifiers":["shift","alt","super"],"surface_id":"a"}`, `{"key":"x","kind":"release","modifiers":[],"surface_id":"a"}`)
		s.wantTold(featurewire.MethodUIMouse, `{"button":"none","kind":"wheel","modifiers":[],"surface_id":"a","wheel_delta":2,"x":0,"y":23}`)
		s.wantTold(featurewire.MethodUIResize, `{"columns":100,"rows":30,"surface_id":"a"}`)
		s.draw("a", 1, whole, `["old size"]`)
		s.wantFrames()
		s.draw("a", 1, `"columns":100,"rows":30`, `["new size"]`)
		s.wantFrames("1 new size")
		s.draw("a", 2, `"columns":100,"rows":30`, `["waits"]`)
		s.service.Resize(id, Size{80, 24})
		s.wantFrames()
		s.service.Retire(id, "done with it")
		s.service.Retire(id, "again")
		s.wantTold(featurewire.MethodUIClosed, `{"reason":"done with it","surface_id":"a"}`)
	})
}

// EXT04-TERM-006
func TestResize_ofTheHolderOfTheTerminal(t *testing.T) {
	play(t, func(s *stage) {
		id := s.mount("a", "fullscreen")
		s.held = true
		s.service.Resize(id, Size{1, 1})
		s.wantTold(featurewire.MethodUIResize)
		s.held = false
		s.service.Resize(id, Size{2, 2})
		s.wantTold(featurewire.MethodUIResize, `{"columns":2,"rows":2,"surface_id":"a"}`)
	})
}

// EXT04-UI-020
func TestContextUpdated(t *testing.T) {
	play(t, func(s *stage) {
		s.mount("a", "fullscreen")
		s.service.ContextUpdated(extensiontest.DefaultFront, extension.HostState{Model: "m"})
		s.wantTold(featurewire.MethodContextUpdated,
			`{"host":{"active_skills":[],"model":"m","reasoning":null,"session_id":null,"session_name":null},"resource_owner":`+s.Owner(extensiontest.DefaultFront)+`}`)
		s.wantTold(featurewire.MethodUIClosed)
		s.service.ContextUpdated("session-2", extension.HostState{})
		s.wantTold(featurewire.MethodUIClosed, `{"reason":"another session is in front","surface_id":"a"}`)
		if n := len(s.service.mounts); n != 0 {
			t.Errorf("%d mounts are left", n)
		}
	})
}

// EXT04-UI-024
func TestKey_rescue(t *testing.T) {
	control := []featurewire.UiModifier{featurewire.UiModifierControl}
	play(t, func(s *stage) {
		id, header := s.mount("a", "fullscreen"), s.mount("h", "header")
		s.draw("a", 0, whole, `["waits"]`)
		if h := s.service.Key(header, Key{"g", featurewire.UiKeyKindPress, control}); h != Sent {
			t.Errorf("Ctrl+G on a header: %v", h)
		}
		if h := s.service.Key(id, Key{"d", featurewire.UiKeyKindPress, control}); h != CloseApp {
			t.Errorf("Ctrl+D: %v", h)
		}
		if h := s.service.Key(id, Key{"G", featurewire.UiKeyKindPress, control}); h != Rescued {
			t.Errorf("Ctrl+G: %v", h)
		}
		s.wantFrames()
		if len(s.screen.left) != 1 || s.screen.left[0] != id {
			t.Errorf("left %q", s.screen.left)
		}
		if h := s.service.Key("nobody", Key{"d", featurewire.UiKeyKindPress, control}); h != CloseApp {
			t.Errorf("Ctrl+D without a mount: %v", h)
		}
	})
}

func (s *stage) checkpoint(id string, input, revision int64, apply func() error) error {
	return s.service.Checkpoint(s.X, s.X.OwnerOf(extensiontest.DefaultFront), featurewire.EditorCheckpoint{
		SurfaceID: "e", MountID: id, InputRevision: input, CheckpointRevision: revision,
	}, apply)
}

// EXT04-UI-021, EXT04-UI-023
func TestEditor(t *testing.T) {
	play(t, func(s *stage) {
		if s.service.Owned() {
			t.Error("owned without an editor")
		}
		id := s.mount("e", "editor")
		if !s.service.Owned() {
			t.Error("not owned by its editor")
		}
		applied := 0
		apply := func() error { applied++; return nil }
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		must(s.checkpoint(id, 0, 1, apply)) // the initial text
		s.service.Key(id, Key{"x", featurewire.UiKeyKindPress, nil})
		if h := s.service.Text(id, "pasted", true, false); h != Sent {
			t.Errorf("handled %v", h)
		}
		s.wantTold(featurewire.MethodUIKey, `{"editor_input":{"input_revision":1,"mount_id":"`+id+`"},"key":"x","kind":"press","modifiers":[],"surface_id":"e"}`)
		s.wantTold(featurewire.MethodUIEditorText, `{"editor_input":{"input_revision":2,"mount_id":"`+id+`"},"native_changed":false,"paste":true,"surface_id":"e","text":"pasted"}`)
		s.draw("e", 0, whole, `["early"]`)
		s.wantFrames()
		if s.screen.wakes != 0 {
			t.Errorf("woken %d times for a frame that must wait", s.screen.wakes)
		}
		must(s.checkpoint(id, 1, 2, apply))
		s.wantFrames()
		must(s.checkpoint(id, 2, 3, apply))
		if s.screen.wakes != 1 {
			t.Errorf("woken %d times", s.screen.wakes)
		}
		s.wantFrames("0 early")
		for name, try := range map[string]func() error{
			"input goes back":    func() error { return s.checkpoint(id, 1, 4, apply) },
			"input never issued": func() error { return s.checkpoint(id, 3, 4, apply) },
			"revision stays":     func() error { return s.checkpoint(id, 2, 3, apply) },
			"another mount":      func() error { return s.checkpoint("other", 2, 4, apply) },
			"another owner": func() error {
				return s.service.Checkpoint(s.X, s.X.OwnerOf("session-2"), featurewire.EditorCheckpoint{SurfaceID: "e", MountID: id, InputRevision: 2, CheckpointRevision: 4}, apply)
			},
			"no focus": func() error {
				s.screen.blurred = true
				defer func() { s.screen.blurred = false }()
				return s.checkpoint(id, 2, 4, apply)
			},
			"the composer has changed": func() error { return s.checkpoint(id, 2, 4, func() error { return errors.New("changed") }) },
		} {
			if try() == nil {
				t.Errorf("%s: taken", name)
			}
		}
		must(s.checkpoint(id, 2, 4, apply)) // refused ones counted for nothing
		if applied != 4 {
			t.Errorf("applied %d times", applied)
		}
		if h := s.service.Text("nobody", "x", false, false); h != Native {
			t.Errorf("handled %v", h)
		}
		s.service.Retire(id, "gone")
		if s.checkpoint(id, 2, 5, apply) == nil || s.service.Owned() {
			t.Error("a checkpoint behind the end of its mount is taken")
		}
	})
}

// EXT04-UI-022
func TestEditor_unacknowledgedInput(t *testing.T) {
	play(t, func(s *stage) {
		id := s.mount("e", "editor")
		for range featurewire.MaxUIPendingEvents {
			if h := s.service.Text(id, "x", false, false); h != Sent {
				t.Fatalf("handled %v", h)
			}
			synctest.Wait()
		}
		if h := s.service.Text(id, "x", false, false); h != Native {
			t.Errorf("one event more: %v", h)
		}
		s.wantTold(featurewire.MethodUIClosed, `{"reason":"the editor does not acknowledge what is typed","surface_id":"e"}`)

		id = s.mount("e", "editor")
		half := strings.Repeat("x", featurewire.MaxUIPendingBytes/2)
		for range 2 {
			if h := s.service.Text(id, half, true, false); h != Sent {
				t.Errorf("handled %v", h)
			}
		}
		if err := s.checkpoint(id, 1, 1, func() error { return nil }); err != nil {
			t.Error(err)
		}
		if h := s.service.Text(id, half, true, false); h != Sent {
			t.Errorf("behind an acknowledgement: %v", h)
		}
		if h := s.service.Text(id, "x", true, false); h != Native {
			t.Errorf("one byte more: %v", h)
		}
	})
}

// EXT04-UI-025, EXT04-UI-026
func TestIntercept(t *testing.T) {
	play(t, func(s *stage) {
		var mu sync.Mutex
		var asked []string
		answer := ""
		say := func(text string) {
			mu.Lock()
			defer mu.Unlock()
			answer, asked = text, nil
		}
		wasAsked := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return asked
		}
		s.Serve(featurewire.MethodUITerminalInputIntercept, func(_ int64, params json.RawMessage) (any, error) {
			mu.Lock()
			asked = append(asked, string(params))
			text := answer
			mu.Unlock()
			if text == "late" {
				time.Sleep(time.Second)
			}
			return map[string]any{"data": text}, nil
		})
		use := func(data string) string {
			return s.service.Intercept(context.Background(), s.X, extensiontest.DefaultFront, data)
		}
		for _, c := range []struct{ data, answer, want string }{
			{"a", "b", "b"},
			{"a", "", ""},
			{"a", "\x1b[A", "\x1b[A"},
			{"a", "\x1b", "\x1b"},
			{"a", "\x1bx", "\x1bx"},
			{"a", strings.Repeat("b", 256), strings.Repeat("b", 256)},
			{strings.Repeat("a", 256), "b", "b"},
			{"a", strings.Repeat("b", 257), "a"},
			{"a", "\x1b[1;", "a"},
			{"a", "\x1b]0;x\a", "a"},
			{"a", "\x1b[10;20R", "a"},
			{"a", "\x1b[?1;2c", "a"},
			{"a", "\x1b[0n", "a"},
			{"a", "x\x1b[?1u", "a"},
			{"a", "\x1bP1$r\x1b\\", "a"},
		} {
			say(c.answer)
			if got := use(c.data); got != c.want {
				t.Errorf("%.20q becomes %.20q with %.20q, want %.20q", c.data, got, c.answer, c.want)
			}
		}
		if want := []string{`{"data":"a","resource_owner":` + s.Owner(extensiontest.DefaultFront) + `}`}; !slices.Equal(wasAsked(), want) {
			t.Errorf("asked %s, want %s", wasAsked(), want)
		}
		say("b")
		for _, native := range []string{"", strings.Repeat("a", 257), "\xff"} {
			if got := use(native); got != native || len(wasAsked()) != 0 {
				t.Errorf("%.20q is shown", native)
			}
		}
		say("late")
		start := time.Now()
		if got := use("a"); got != "a" || time.Since(start) != interceptBudget {
			t.Errorf("late: %q after %s", got, time.Since(start))
		}
		say("b")
		if got := use("a"); got != "a" || len(wasAsked()) != 0 {
			t.Errorf("asked again after it was late: %q", got)
		}
		time.Sleep(2 * time.Second)
	})
}

// EXT04-UI-027
func TestNobodySubmits(t *testing.T) {
	for name := range New(Options{Frontend: &screen{}}).Binding().Requests {
		if strings.Contains(name, "submit") {
			t.Errorf("%s is served", name)
		}
	}
	play(t, func(s *stage) {
		s.ask("composer/"+"submit", `"text":"x"`).Refused(t, featurewire.CodeUnknownMethod, "")
	})
}

// An extension that goes, or that reads nothing, has no mount any more.
func TestMounts_endWithTheirProcess(t *testing.T) {
	play(t, func(s *stage) {
		id := s.mount("a", "fullscreen")
		s.service.mu.Lock()
		s.service.stopLocked(s.X)
		s.service.peers[s.X] = &peerState{out: make(chan outgoing), stopped: make(chan struct{})} // nobody takes anything out
		s.service.mu.Unlock()
		s.service.Key(id, Key{"x", featurewire.UiKeyKindPress, nil})
		if n := len(s.service.mounts); n != 0 {
			t.Errorf("%d mounts of an extension that reads nothing", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, screen: &screen{}}
		s.service = New(Options{Frontend: s.screen})
		defer s.service.Close()
		s.start("demo")
		s.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(parent int64) {
			s.parent = parent
			s.mount("a", "fullscreen")
		})
		s.X.Close()
		if len(s.service.mounts) != 0 || len(s.service.peers) != 0 || len(s.screen.left) != 1 {
			t.Errorf("%d mounts, %d processes", len(s.service.mounts), len(s.service.peers))
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add("\x1b[1;38;5;3mx\x1b[m")
	f.Fuzz(func(t *testing.T, line string) {
		_ = checkLines([]string{line})
		_ = complete(line)
	})
}
