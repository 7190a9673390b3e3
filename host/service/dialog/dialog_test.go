package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// person does as the test says. The zero value says no and gives nothing.
type person struct {
	mu      sync.Mutex
	asked   []Question
	inputs  []Input
	confirm func(ctx context.Context) (bool, error)
	input   func(ctx context.Context) (string, bool, error)
}

func (p *person) Confirm(ctx context.Context, q Question) (bool, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	if p.confirm == nil {
		return false, nil
	}
	return p.confirm(ctx)
}

func (p *person) Input(ctx context.Context, i Input) (string, bool, error) {
	p.mu.Lock()
	p.inputs = append(p.inputs, i)
	p.mu.Unlock()
	if p.input == nil {
		return "", false, nil
	}
	return p.input(ctx)
}

func start(t *testing.T, api, contributes string, p Person) *extensiontest.Rig {
	t.Helper()
	return extensiontest.Start(t, extensiontest.Setup{
		API: api, Contributes: "tools = [\"work\"]\n" + contributes, Options: extension.Options{Bindings: []extension.Binding{Binding(p)}},
	})
}

const declared = "confirmations = true"

func question(parent int64) string {
	return fmt.Sprintf(`{"parent_request_id":%d,"prompt":"Push?","detail":"To main.","destructive":true,"default":true}`, parent)
}

// EXT04-CONFIRM-002, EXT04-CONFIRM-005.
func TestConfirm(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		for _, yes := range []bool{true, false} {
			p := &person{confirm: func(context.Context) (bool, error) { return yes, nil }}
			rig := start(t, api, declared, p)
			rig.During(front, func(parent int64) {
				rig.Ask(featurewire.MethodConfirmationRequest, question(parent)).OK(t, fmt.Sprintf(`{"confirmed":%t}`, yes))
			})
			q := p.asked[0]
			if q.Extension != "demo" || q.Owner.SessionID != front.Owner || q.On == nil || q.Prompt != "Push?" || q.Detail != "To main." || !q.Destructive || !q.Suggested {
				t.Errorf("asked %+v", q)
			}
		}
	}
}

// API 0.1 asks without a parent.
func TestConfirm_oldestVersion(t *testing.T) {
	p := &person{confirm: func(context.Context) (bool, error) { return true, nil }}
	rig := start(t, featurewire.Version01, declared, p)
	rig.Ask(featurewire.MethodConfirmationRequest, `{"prompt":"Push?","destructive":false,"default":false}`).OK(t, `{"confirmed":true}`)
	rig.Ask(featurewire.MethodConfirmationRequest, `{"prompt":"Push?"}`).Refused(t, featurewire.CodeInvalidParams, "")
	if len(p.asked) != 1 || p.asked[0].On != nil {
		t.Errorf("asked %+v", p.asked)
	}
	quiet := start(t, featurewire.Version01, "", p)
	quiet.Ask(featurewire.MethodConfirmationRequest, `{"prompt":"Push?","destructive":false,"default":true}`).OK(t, `{"confirmed":false}`)
	if len(p.asked) != 1 {
		t.Error("an undeclared confirmation was asked")
	}
}

// The answer of a person has two seconds to reach the extension. One that does not read its input that long
// is ended, and a diagnostic says who it is and why.
//
// MAN-SUPER-006.
func TestConfirm_deliveryIsBounded(t *testing.T) {
	const bound = 2 * time.Second
	for _, api := range []string{featurewire.Version01, featurewire.Version02, featurewire.Version04} {
		for wait, late := range map[time.Duration]bool{bound - 1: false, bound: true} {
			t.Run(fmt.Sprint(api, " ", wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					say := make(chan bool)
					rig := start(t, api, declared, &person{confirm: func(context.Context) (bool, error) { return <-say, nil }})
					parent, called := make(chan int64), make(chan error, 1)
					rig.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
						parent <- id
						return nil, extensiontest.Silence
					})
					go func() {
						_, err := rig.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front})
						called <- err
					}()
					text := question(<-parent)
					if api == featurewire.Version01 {
						text = `{"prompt":"Push?","destructive":false,"default":false}`
					}
					asked := rig.Send(featurewire.MethodConfirmationRequest, text)
					time.Sleep(time.Second) // a person takes time, which does not count
					hear := rig.Deafen()
					say <- true
					time.Sleep(wait)
					synctest.Wait()
					hear()
					if ended := rig.X.Err() != nil; ended != late {
						t.Errorf("the generation has ended %t, want %t", ended, late)
					}
					told := rig.Diagnosed("the extension is ended: `demo` does not read its input: the answer to `confirmation/request` could not be delivered within 2s")
					if told != late {
						t.Errorf("diagnostics %q", rig.Diagnostics())
					}
					if !late {
						asked.Wait().OK(t, `{"confirmed":true}`)
						time.Sleep(2 * bound)
						if rig.X.Err() != nil {
							t.Errorf("the generation has ended behind the answer: %v", rig.X.Err())
						}
						rig.Exit(0)
					}
					if err := <-called; err == nil {
						t.Error("the call has a result")
					}
				})
			})
		}
	}
}

// EXT04-CONFIRM-003, EXT04-CONFIRM-004.
func TestConfirm_denied(t *testing.T) {
	failing := &person{confirm: func(context.Context) (bool, error) { return true, errors.New("no terminal") }}
	eager := &person{confirm: func(context.Context) (bool, error) { return true, nil }}
	for name, rig := range map[string]*extensiontest.Rig{
		"nobody":     start(t, featurewire.Version04, declared, nil),
		"failure":    start(t, featurewire.Version04, declared, failing),
		"undeclared": start(t, featurewire.Version04, "", eager),
	} {
		rig.During(front, func(parent int64) {
			if answer := rig.Ask(featurewire.MethodConfirmationRequest, question(parent)); string(answer.Result) != `{"confirmed":false}` {
				t.Errorf("%s: %+v", name, answer)
			}
		})
	}
	if eager.asked != nil {
		t.Error("an undeclared confirmation was asked")
	}
}

// EXT04-CONFIRM-008.
func TestConfirm_refused(t *testing.T) {
	p := &person{}
	rig := start(t, featurewire.Version04, declared, p)
	var settled int64
	rig.During(front, func(parent int64) {
		settled = parent
		for _, params := range []string{
			fmt.Sprintf(`{"parent_request_id":%d}`, parent), fmt.Sprintf(`{"parent_request_id":%d,"prompt":7,"destructive":true,"default":true}`, parent),
			`{"prompt":"x","destructive":true,"default":true}`, `{"parent_request_id":"1","prompt":"x","destructive":true,"default":true}`,
		} {
			rig.Ask(featurewire.MethodConfirmationRequest, params).Refused(t, featurewire.CodeInvalidParams, "")
		}
	})
	rig.Ask(featurewire.MethodConfirmationRequest, question(settled)).Refused(t, featurewire.CodeNotForegroundOwner, "")
	rig.Ask(featurewire.MethodConfirmationRequest, question(settled+50)).Refused(t, featurewire.CodeNotForegroundOwner, "")
	if p.asked != nil {
		t.Errorf("asked %+v", p.asked)
	}
}

// An answer that comes after the generation has gone, or after the request that asked, is nobody's.
//
// EXT04-CONFIRM-006, EXT04-INPUT-006.
func TestQuestions_endWithWhatAskedThem(t *testing.T) {
	ended := make(chan error, 2)
	asked := make(chan struct{}, 2)
	p := &person{
		confirm: func(ctx context.Context) (bool, error) {
			asked <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return true, nil // too late
		},
		input: func(ctx context.Context) (string, bool, error) {
			asked <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return "late", true, nil
		},
	}
	rig := start(t, featurewire.Version04, declared, p)
	var confirmation, input *extensiontest.Pending
	rig.During(front, func(parent int64) {
		confirmation = rig.Send(featurewire.MethodConfirmationRequest, question(parent))
		input = rig.Send(featurewire.MethodInputRequest, fmt.Sprintf(`{"parent_request_id":%d,"prompt":"Who?","secret":false}`, parent))
		<-asked
		<-asked
	})
	for _, pending := range []*extensiontest.Pending{confirmation, input} {
		if answer := pending.Wait(); answer.CalledOff == "" || answer.Result != nil || answer.Refusal != nil {
			t.Errorf("a question whose parent has settled is answered %s", answer.Result)
		}
		<-ended
	}
	rig.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
		rig.Send(featurewire.MethodConfirmationRequest, question(id))
		<-asked
		rig.Exit(1)
		return nil, extensiontest.Silence
	})
	if _, err := rig.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front}); err == nil {
		t.Error("the call outlived its extension")
	}
	<-ended
}

// A confirmation answers the question and nothing else: the tools of the host are permitted as before.
//
// EXT04-CONFIRM-007.
func TestConfirm_reachesNothingElse(t *testing.T) {
	b := Binding(&person{})
	if len(b.Features) != 0 || b.Offer != nil || b.Started != nil || b.Media != nil || len(b.Requests) != 2 || len(b.Notices) != 0 {
		t.Errorf("the binding does more than answer: %+v", b)
	}
	a := &Approval{}
	if !a.take() || a.take() || (*Approval)(nil).take() {
		t.Error("an approval is good for one question")
	}
}

// EXT04-INPUT-002, EXT04-INPUT-003, EXT04-INPUT-004, EXT04-INPUT-007.
func TestInput(t *testing.T) {
	p := &person{}
	rig := extensiontest.Start(t, extensiontest.Setup{
		API: featurewire.Version02, Contributes: `tools = ["work"]`, Select: func(string) bool { return false },
		Options: extension.Options{Bindings: []extension.Binding{Binding(p)}},
	})
	ask := func(parent int64, prompt string, secret bool) extensiontest.Answer {
		return rig.Ask(featurewire.MethodInputRequest, fmt.Sprintf(`{"parent_request_id":%d,"prompt":"%s","secret":%t}`, parent, prompt, secret))
	}
	give := func(text string, given bool, err error) {
		p.input = func(context.Context) (string, bool, error) { return text, given, err }
	}
	var settled int64
	rig.During(front, func(parent int64) {
		settled = parent
		give("Ada", true, nil)
		ask(parent, "Who?", true).OK(t, `{"value":"Ada"}`)
		if i := p.inputs[0]; i.Extension != "demo" || i.Prompt != "Who?" || !i.Secret || i.On == nil || i.Owner.SessionID != front.Owner {
			t.Errorf("asked %+v", i)
		}
		give("", true, nil)
		ask(parent, "Who?", false).OK(t, `{"value":""}`)
		give("Ada", false, nil)
		ask(parent, "Who?", false).OK(t, `{"value":null}`)
		give("Ada", true, errors.New("gone"))
		ask(parent, "Who?", false).OK(t, `{"value":null}`)
		// MAN-SUPER-008
		give(strings.Repeat("x", featurewire.MaxInputAnswerBytes), true, nil)
		ask(parent, "Who?", false).OK(t, `{"value":"`+strings.Repeat("x", featurewire.MaxInputAnswerBytes)+`"}`)
		give(strings.Repeat("x", featurewire.MaxInputAnswerBytes+1), true, nil)
		ask(parent, "Who?", false).OK(t, `{"value":null}`)
		give("a\xff", true, nil)
		ask(parent, "Who?", false).OK(t, `{"value":null}`)

		give("Ada", true, nil)
		ask(parent, strings.Repeat("x", featurewire.MaxInputPromptBytes), false).OK(t, `{"value":"Ada"}`)
		asked := len(p.inputs)
		ask(parent, strings.Repeat("x", featurewire.MaxInputPromptBytes+1), false).Refused(t, featurewire.CodeInvalidParams, "")
		for _, blank := range []string{"", " ", `\n\t`} {
			ask(parent, blank, false).Refused(t, featurewire.CodeInvalidParams, "")
		}
		for _, params := range []string{`{"prompt":"x","secret":true}`, fmt.Sprintf(`{"parent_request_id":%d,"prompt":"x"}`, parent)} {
			rig.Ask(featurewire.MethodInputRequest, params).Refused(t, featurewire.CodeInvalidParams, "")
		}
		if len(p.inputs) != asked {
			t.Error("a malformed question was asked")
		}
	})
	ask(settled, "Who?", false).Refused(t, featurewire.CodeNotForegroundOwner, "")
	nobody := start(t, featurewire.Version04, "", nil)
	nobody.During(front, func(parent int64) {
		nobody.Ask(featurewire.MethodInputRequest, fmt.Sprintf(`{"parent_request_id":%d,"prompt":"x","secret":false}`, parent)).OK(t, `{"value":null}`)
	})
}

// EXT04-INPUT-005.
func TestInput_secretStaysSecret(t *testing.T) {
	for _, given := range []string{"hunter2", "hunter2" + strings.Repeat("x", featurewire.MaxInputAnswerBytes)} {
		p := &person{input: func(context.Context) (string, bool, error) { return given, true, errors.New("after " + given) }}
		rig := start(t, featurewire.Version04, "", p)
		result := rig.During(front, func(parent int64) {
			rig.Ask(featurewire.MethodInputRequest, fmt.Sprintf(`{"parent_request_id":%d,"prompt":"Word?","secret":true}`, parent)).OK(t, `{"value":null}`)
		})
		rig.X.Close()
		if rig.Diagnosed("hunter2") || strings.Contains(result.Text(), "hunter2") {
			t.Errorf("the secret is told: %q", rig.Diagnostics())
		}
	}
}
