package menu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/dialog"
)

const declared = "tools = [\"work\"]\ncommands = [\"do\", \"undo\"]\nmenu = true\nconfirmations = true"

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// item is an entry that runs a command; more are further members.
func item(id, more string) string {
	return fmt.Sprintf(`{"id":%q,"label":"x","command":"do"%s}`, id, more)
}

func listed(list ...string) string { return `{"items":[` + strings.Join(list, ",") + `]}` }

func many(count int, prefix string) string {
	var list []string
	for i := range count {
		list = append(list, item(fmt.Sprint(prefix, i), ""))
	}
	return strings.Join(list, ",")
}

// nested is a menu of so many levels.
func nested(levels int) string {
	text := item("x", "")
	for range levels - 1 {
		text = `{"id":"m","label":"m","items":[` + text + `]}`
	}
	return listed(text)
}

// sized is a menu of so many bytes in all.
func sized(bytes int) string {
	detail := strings.Repeat("x", featurewire.MaxMenuDetailBytes)
	text := `{"items":[`
	for i := range 15 {
		text += fmt.Sprintf(`{"command":"do","detail":"%s","id":"i%d","label":"x"},`, detail, i+10)
	}
	const last = `{"command":"do","detail":"","id":"last","label":"x"}]}`
	return text + strings.Replace(last, `"detail":""`, `"detail":"`+strings.Repeat("x", bytes-len(text)-len(last))+`"`, 1)
}

// MENU-001 and MENU-002 say what a menu is; here is what is found to be none.
func TestJudge(t *testing.T) {
	for _, c := range []struct{ name, text, fault string }{
		{"empty", listed(), ""},
		{"at the items", listed(many(featurewire.MaxMenuItems-1, "a"), `{"id":"m","label":"m","items":[]}`), ""},
		{"over the items", listed(many(featurewire.MaxMenuItems-1, "a"), `{"id":"m","label":"m","items":[`+item("x", "")+`]}`), "more than 256 items in all"},
		{"at the levels", nested(featurewire.MaxMenuLevels), ""},
		{"over the levels", nested(featurewire.MaxMenuLevels + 1), "more than 4 levels"},
		{"at the bytes", sized(featurewire.MaxMenuBytes), ""},
		{"over the bytes", sized(featurewire.MaxMenuBytes + 1), "262145 bytes, more than 262144"},
		{"one recommended on each level", listed(item("a", `,"recommended":true`), `{"id":"m","label":"m","items":[`+item("a", `,"recommended":true`)+`]}`), ""},
		{"two recommended", listed(item("a", `,"recommended":true`), item("b", `,"recommended":true`)), `"a" and "b" of one level are both recommended`},
		{"undeclared command", listed(item("a", ""), `{"id":"m","label":"m","items":[{"id":"x","label":"x","command":"other"}]}`), `command "other"`},
		{"submenu with arguments", listed(`{"id":"m","label":"m","items":[],"arguments":[]}`), `submenu "m" has arguments`},
		{"submenu with destructive", listed(`{"id":"m","label":"m","items":[],"destructive":false}`), `submenu "m" says`},
	} {
		m, err := featurewire.DecodeMenuCollectResult([]byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		err = Judge(m, []string{"do"})
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fault)
		}
	}
}

func start(t *testing.T, contributes string, person dialog.Person) *extensiontest.Rig {
	t.Helper()
	return extensiontest.Start(t, extensiontest.Setup{
		Contributes: contributes, Options: extension.Options{Bindings: []extension.Binding{dialog.Binding(person)}},
	})
}

func serve(rig *extensiontest.Rig, text string) {
	rig.Serve(featurewire.MethodMenuCollect, func(int64, json.RawMessage) (any, error) { return json.RawMessage(text), nil })
}

// EXT04-MENU-003, EXT04-MENU-007.
func TestOpen(t *testing.T) {
	rig := start(t, declared, nil)
	var sent []string
	rig.Serve(featurewire.MethodMenuCollect, func(_ int64, params json.RawMessage) (any, error) {
		sent = append(sent, string(params))
		return json.RawMessage(`{"title":null,"detail":"First.\nSecond.","status":{"state":"active","label":"Up"},"items":[{"id":"a","label":"A","command":"do","arguments":["x"],"destructive":true},{"id":"b","label":"B","items":[]}]}`), nil
	})
	m := Open(t.Context(), rig.X, front)
	if m.Generated || m.Title != "demo" || m.Subtitle != "First." || m.Detail != "First.\nSecond." || m.State != "active" || m.Label != "Up" || len(m.Items) != 2 || m.Items[0].Command != "do" || !m.Items[0].Destructive || m.Items[1].Command != "" {
		t.Errorf("%+v", m)
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal([]byte(sent[0]), &params); err != nil || len(params) != 1 || !strings.Contains(string(params["context"]), `"resource_owner"`) {
		t.Errorf("sent %s", sent[0])
	}
	serve(rig, `{"title":"Own","items":[]}`)
	if m := Open(t.Context(), rig.X, front); m.Title != "Own" || m.Subtitle != "" {
		t.Errorf("%+v", m)
	}
	for name, contributes := range map[string]string{
		"undeclared":       "tools = [\"work\"]\ncommands = [\"do\", \"undo\"]",
		"without commands": "tools = [\"work\"]",
	} {
		rig := start(t, contributes, nil)
		rig.Serve(featurewire.MethodMenuCollect, func(int64, json.RawMessage) (any, error) {
			t.Errorf("%s: a menu was asked for", name)
			return nil, extensiontest.Silence
		})
		if m := Open(t.Context(), rig.X, front); !m.Generated || m.Why != "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// EXT04-MENU-005, EXT04-MENU-006.
func TestOpen_standsIn(t *testing.T) {
	rig := start(t, declared, nil)
	for name, text := range map[string]string{
		"breaks its model":    `{"items":[{"id":"a","label":"a"}]}`,
		"both kinds":          `{"items":[{"id":"a","label":"a","command":"do","items":[]}]}`,
		"repeats an id":       listed(item("a", ""), item("a", "")),
		"a long label":        listed(`{"id":"a","label":"` + strings.Repeat("x", featurewire.MaxMenuLabelBytes+1) + `","command":"do"}`),
		"unknown command":     listed(`{"id":"a","label":"a","command":"other"}`),
		"one of many is bad":  listed(item("a", ""), item("b", ""), nested(9)[10:len(nested(9))-2]),
		"is no menu at all":   `[]`,
		"too many arguments":  listed(item("a", `,"arguments":[`+strings.TrimSuffix(strings.Repeat(`"",`, featurewire.MaxMenuArguments+1), ",")+`]`)),
		"too long a argument": listed(item("a", `,"arguments":["`+strings.Repeat("x", featurewire.MaxMenuArgumentBytes+1)+`"]`)),
	} {
		serve(rig, text)
		m := Open(t.Context(), rig.X, front)
		if !m.Generated || m.Why == "" || len(m.Items) != 2 || m.Items[0].Command != "do" || m.Items[1].Command != "undo" || m.Title != "demo" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// EXT04-MENU-005.
func TestOpen_waitsFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := start(t, declared, nil)
		released := make(chan struct{})
		rig.Serve(featurewire.MethodMenuCollect, func(int64, json.RawMessage) (any, error) {
			<-released
			return json.RawMessage(listed()), nil
		})
		begun := time.Now()
		m := Open(t.Context(), rig.X, front)
		if took := time.Since(begun); took != featurewire.MenuCollectMs*time.Millisecond || !m.Generated || m.Why == "" {
			t.Errorf("after %s: %+v", took, m)
		}
		close(released)
		synctest.Wait()
	})
}

// person answers and counts.
type person struct {
	yes      bool
	err      error
	asked    []dialog.Question
	inputs   int
	whenever func()
}

func (p *person) Confirm(_ context.Context, q dialog.Question) (bool, error) {
	p.asked = append(p.asked, q)
	if p.whenever != nil {
		p.whenever()
	}
	return p.yes, p.err
}

func (p *person) Input(context.Context, dialog.Input) (string, bool, error) {
	p.inputs++
	return "", false, nil
}

func question(parent int64) string {
	return fmt.Sprintf(`{"parent_request_id":%d,"prompt":"Sure?","destructive":true,"default":true}`, parent)
}

// A destructive action is confirmed once by the person; what it asks next is asked again.
//
// EXT04-MENU-008, EXT04-MENU-009.
func TestChoose_destructive(t *testing.T) {
	p := &person{yes: true}
	rig := start(t, declared, p)
	var got []string
	rig.Serve(featurewire.MethodCommandExecute, func(id int64, params json.RawMessage) (any, error) {
		var sent struct {
			Name      string
			Arguments []string
		}
		if err := json.Unmarshal(params, &sent); err != nil {
			return nil, err
		}
		got = append(got, sent.Name+" "+strings.Join(sent.Arguments, ","))
		rig.Ask(featurewire.MethodConfirmationRequest, question(id)).OK(t, `{"confirmed":true}`)
		rig.Ask(featurewire.MethodConfirmationRequest, question(id)).OK(t, `{"confirmed":true}`)
		return map[string]any{"text": "done"}, nil
	})
	action := Item{ID: "a", Label: "Wipe", Description: "All of it.", Command: "undo", Arguments: []string{"x", "y"}, Destructive: true}
	result, err := Choose(t.Context(), rig.X, p, Choice{Item: action, Scope: front})
	if err != nil || result.Text != "done" || len(got) != 1 || got[0] != "undo x,y" {
		t.Errorf("%+v %v, sent %q", result, err, got)
	}
	if len(p.asked) != 2 || p.asked[0].Prompt != "Wipe" || !p.asked[0].Destructive || p.asked[0].Suggested || p.asked[1].Prompt != "Sure?" {
		t.Errorf("asked %+v, want the action and its second question", p.asked)
	}
	// One that destroys nothing is not asked about, and answers nothing in advance.
	action.Destructive, p.asked = false, nil
	if _, err := Choose(t.Context(), rig.X, p, Choice{Item: action, Scope: front}); err != nil || len(p.asked) != 2 {
		t.Errorf("%v, asked %+v", err, p.asked)
	}
	for name, no := range map[string]*person{"no": {}, "nobody": nil, "failure": {yes: true, err: errors.New("gone")}} {
		action.Destructive, got = true, nil
		var asked dialog.Person
		if no != nil {
			asked = no
		}
		if _, err := Choose(t.Context(), rig.X, asked, Choice{Item: action, Scope: front}); !errors.Is(err, ErrDeclined) || got != nil {
			t.Errorf("%s: %v, and %q was sent", name, err, got)
		}
	}
	if _, err := Choose(t.Context(), rig.X, p, Choice{Item: Item{ID: "m", Items: []Item{action}}}); err == nil {
		t.Error("a submenu was run")
	}
}

// A command from a menu may take half an hour, its progress goes to the menu, and the person can cancel it.
//
// EXT04-CMD-006, EXT04-CMD-007, EXT04-CMD-008.
func TestChoose_takesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &person{yes: true}
		rig := start(t, declared, p)
		rig.Serve(featurewire.MethodCommandExecute, func(id int64, _ json.RawMessage) (any, error) {
			rig.Tell(featurewire.MethodProgress, fmt.Sprintf(`{"request_id":%d,"sequence":1,"event":{"type":"decoration","label":"half"}}`, id))
			rig.Ask(featurewire.MethodConfirmationRequest, question(id)).OK(t, `{"confirmed":true}`)
			time.Sleep(featurewire.MenuCommandMs*time.Millisecond - time.Second)
			return map[string]any{"text": "done"}, nil
		})
		var progress []extension.Progress
		choice := Choice{Item: Item{Command: "do"}, Scope: front, Progress: func(e extension.Progress) { progress = append(progress, e) }}
		result, err := Choose(t.Context(), rig.X, p, choice)
		if err != nil || result.Text != "done" || len(progress) != 1 || progress[0].Label != "half" || len(p.asked) != 1 || p.asked[0].On == nil || p.asked[0].On.Subject != "do" {
			t.Errorf("%+v %v, progress %+v, asked %+v", result, err, progress, p.asked)
		}
		ctx, cancel := context.WithCancel(t.Context())
		rig.Serve(featurewire.MethodCommandExecute, func(int64, json.RawMessage) (any, error) {
			cancel()
			rig.WaitTold(featurewire.MethodCancelRequest, 1)
			return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "cancelled"}
		})
		_, err = Choose(ctx, rig.X, p, choice)
		if failure := (*extension.Failure)(nil); !errors.As(err, &failure) || failure.Kind != extension.Cancelled || failure.Unsettled {
			t.Errorf("%v", err)
		}
	})
}
