package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

var someOwner = extension.Owner{SessionID: "o1", ExtensionInstanceID: "i1", ProcessGeneration: 3}

// action is what a test does in a scope.
type action = func(ctx context.Context, scope *extension.Scope) error

// eager is an extension that uses everything, whose tool "do" acts in its call, and whose tool "later" does so
// behind it. Ready acts in the session; nil does nothing. The error of each action goes to done.
func eager(api extension.API, act action, done chan<- error) *extension.Extension {
	options := quietOptions(api)
	options.UsesAll = true
	ext := extension.New(options)
	extension.AddTool(ext, "do", "Does it", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		done <- act(ctx, &call.Scope)
		return nil, ctx.Err()
	})
	extension.AddTool(ext, "later", "Does it later", func(_ context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		call.After(func(ctx context.Context, scope *extension.Scope) error {
			done <- act(ctx, scope)
			return nil
		})
		return nil, nil
	})
	if api == extension.API02 || api == extension.API04 {
		ext.OnAutocomplete(func(context.Context, *extension.Scope, featurewire.UiAutocompleteCompleteParams) (featurewire.UiAutocompleteCompleteResult, error) {
			return featurewire.UiAutocompleteCompleteResult{}, nil
		})
	}
	return ext
}

// try runs one action where the test says, and returns its error and what the extension sent.
func try(t *testing.T, api extension.API, where string, options *exttest.Options, act action) (sent []exttest.Message, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error, 1)
		ext := eager(api, act, done)
		if where == "session" {
			ext.OnReady(func(ctx context.Context, session *extension.Scope) { done <- act(ctx, session) })
		}
		host := exttest.StartWith(t, ext, options)
		if where != "session" {
			host.Call(where, nil)
		}
		err = <-done
		synctest.Wait()
		sent = host.Sent()
	})
	return sent, err
}

func invoke(service, with string) action {
	return func(ctx context.Context, scope *extension.Scope) error {
		_, err := scope.Invoke(ctx, service, []byte(with))
		return err
	}
}

// TestServices_tie says for each class of parent what binds a message to its request and its owner, in a call
// that runs, behind it, and in the session.
func TestServices_tie(t *testing.T) {
	const (
		none   = "none"
		parent = "parent"
		owner  = "owner"
		both   = "parent and owner"
		no     = "ErrNoParent"
	)
	for _, c := range []struct {
		service, with                       string
		live, liveFree, behind, free, alone string // free: without an owner
	}{
		{"notifications.show", `{"message":"m"}`, none, none, none, none, none},
		{"autocomplete.register", `{"revision":1}`, none, none, none, none, none},
		{"confirmations.ask", `{"prompt":"p","detail":null,"destructive":false,"default":false}`, parent, parent, no, no, no},
		{"input.ask", `{"prompt":"p","secret":false}`, parent, parent, no, no, no},
		{"composition.context", `{}`, parent, parent, no, no, no},
		{"composer.set", `{"text":"t"}`, parent, parent, both, no, no},
		{"composer.set_history", `{"entries":[]}`, both, no, both, no, no},
		{"agents.list", `{}`, both, parent, both, no, no},
		{"session.compact", `{}`, no, no, both, no, no},
		{"presentation.update", `{"snapshot":{"revision":1}}`, parent, parent, owner, none, none},
		{"ui.frame", `{"surface_id":"s","revision":0,"columns":1,"rows":1,"lines":[]}`, owner, no, owner, no, no},
		{"shortcuts.register", `{"id":"i","key":"k","description":"d"}`, no, no, no, no, no},
	} {
		t.Run(c.service, func(t *testing.T) {
			for _, at := range []struct {
				where string
				owned bool
				want  string
			}{{"do", true, c.live}, {"do", false, c.liveFree}, {"later", true, c.behind}, {"later", false, c.free}, {"session", true, c.alone}} {
				options := &exttest.Options{Services: map[string]exttest.Service{c.service: exttest.Refuse(-32000, "refused")}}
				if at.owned {
					options.Owner = &someOwner
				}
				sent, err := try(t, extension.API04, at.where, options, invoke(c.service, c.with))
				got := no
				if !errors.Is(err, extension.ErrNoParent) {
					got = tieOf(t, sent)
				} else if len(sent) > 0 || !strings.Contains(err.Error(), "cannot be sent from here: ") {
					t.Errorf("%s, owned %t: %v after %v", at.where, at.owned, err, sent)
				}
				if got != at.want {
					t.Errorf("%s, owned %t: tied by %s, want %s (%v)", at.where, at.owned, got, at.want, err)
				}
			}
		})
	}
}

// tieOf says what binds the one message that was sent. The call of the tool is the second request of the host.
func tieOf(t *testing.T, sent []exttest.Message) string {
	t.Helper()
	if len(sent) != 1 {
		t.Errorf("sent %v, want one message", sent)
		return ""
	}
	var tie struct {
		Parent *int64                     `json:"parent_request_id"`
		Owner  *featurewire.ResourceOwner `json:"resource_owner"`
	}
	if err := json.Unmarshal(sent[0].Params, &tie); err != nil {
		t.Fatal(err)
	}
	if tie.Parent != nil && *tie.Parent != 2 {
		t.Errorf("the parent is %d, want 2", *tie.Parent)
	}
	if o := tie.Owner; o != nil && (o.SessionID != someOwner.SessionID || o.ExtensionInstanceID != someOwner.ExtensionInstanceID || o.ProcessGeneration != someOwner.ProcessGeneration) {
		t.Errorf("the owner is %+v, want %+v", *o, someOwner)
	}
	switch {
	case tie.Parent != nil && tie.Owner != nil:
		return "parent and owner"
	case tie.Parent != nil:
		return "parent"
	case tie.Owner != nil:
		return "owner"
	}
	return "none"
}

// Without the feature that lets child agents outlive their request, no owner goes with them.
func TestServices_agentsWithoutLifetime(t *testing.T) {
	for api, withheld := range map[extension.API][]string{extension.API04: {featurewire.FeatureAgentSessionLifetimeV1}, extension.API02: nil} {
		options := &exttest.Options{Owner: &someOwner, Withhold: withheld, Services: map[string]exttest.Service{"agents.list": exttest.Refuse(-32000, "refused")}}
		if sent, _ := try(t, api, "do", options, invoke("agents.list", `{}`)); tieOf(t, sent) != "parent" {
			t.Errorf("API %s: sent %s", api, sent[0].Params)
		}
		if _, err := try(t, api, "later", options, invoke("agents.list", `{}`)); !errors.Is(err, extension.ErrNoParent) {
			t.Errorf("API %s: behind the call: %v", api, err)
		}
	}
}

// API 0.1 has its confirmation without a parent, from anywhere.
func TestServices_tieNothingOn01(t *testing.T) {
	ask := func(ctx context.Context, scope *extension.Scope) error {
		answer, err := scope.Confirmations().Ask(ctx, featurewire.ConfirmationRequestParams{Prompt: "sure?", Detail: wirejson.Null[string]()})
		if err == nil && !answer.Confirmed {
			return errors.New("not confirmed")
		}
		return err
	}
	options := &exttest.Options{Services: map[string]exttest.Service{"confirmations.ask": exttest.Answer(map[string]any{"confirmed": true})}}
	for _, where := range []string{"do", "later", "session"} {
		sent, err := try(t, extension.API01, where, options, ask)
		if err != nil || len(sent) != 1 || string(sent[0].Params) != `{"default":false,"destructive":false,"detail":null,"prompt":"sure?"}` {
			t.Errorf("%s: %v, sent %v", where, err, sent)
		}
	}
}

// TestServices_refuseWhatIsNotOpen names the method, what it needs and the remedy, and sends nothing.
func TestServices_refuseWhatIsNotOpen(t *testing.T) {
	for name, c := range map[string]struct {
		api     extension.API
		options *exttest.Options
		service string
		want    string
	}{
		"feature not offered": {
			extension.API04, &exttest.Options{Withhold: []string{featurewire.FeatureComposer}}, "composer.get",
			`composer/get is not negotiated with this host: it needs the feature "composer"; list it in Options.Uses and run under a host that offers it`,
		},
		"not declared": {
			extension.API04, &exttest.Options{Undeclared: []string{"presentation"}}, "presentation.update",
			`presentation/update is not negotiated with this host: it needs contributes.presentation; declare it in the manifest`,
		},
		"later version": {
			extension.API02, nil, "session.fork",
			`session/fork is not negotiated with this host: it needs another API than 0.2; declare one of "0.4" in the manifest and in Options.API`,
		},
		"frozen version": {extension.API01, nil, "composer.get", `it needs another API than 0.1; declare one of "0.2", "0.4"`},
		"other wire":     {extension.API03, nil, "composer.get", `it needs another API than 0.3`},
		"canonical wire": {extension.API04, nil, "bus.publish", `bus/publish is not negotiated with this host: it needs another API than 0.4; declare one of "0.3"`},
		"capability not offered": {
			extension.API03, &exttest.Options{Withhold: []string{"theme_selection"}}, "theme.select",
			`theme/select is not negotiated with this host: it needs the capability "theme_selection"; list it in Options.Uses and run under a host that offers it`,
		},
	} {
		sent, err := try(t, c.api, "do", c.options, invoke(c.service, `{}`))
		if !errors.Is(err, extension.ErrNotNegotiated) || !strings.Contains(err.Error(), c.want) || len(sent) > 0 {
			t.Errorf("%s: %v after %v, want %q", name, err, sent, c.want)
		}
	}
}

// TestServices_checkTheirArguments locates a fault and sends nothing; typed and named services agree.
func TestServices_checkTheirArguments(t *testing.T) {
	options := &exttest.Options{Services: map[string]exttest.Service{}}
	for name, c := range map[string]struct {
		act  action
		want string
	}{
		"typed": {func(ctx context.Context, scope *extension.Scope) error {
			return scope.Session().SendMessage(ctx, "user", "x")
		}, "value /role"},
		"named":           {invoke("session.send_message", `{"role":"user","text":"x"}`), "value /role"},
		"missing":         {invoke("session.send_message", `{"role":"system"}`), "missing /text"},
		"filled by scope": {invoke("session.send_message", `{"role":"system","text":"x","parent_request_id":2}`), "unknown /parent_request_id"},
		"no object":       {invoke("session.send_message", `[]`), "not_object "},
	} {
		sent, err := try(t, extension.API04, "do", options, c.act)
		var v *wirejson.Violation
		if !errors.As(err, &v) || string(v.Kind)+" "+v.Pointer != c.want || len(sent) > 0 {
			t.Errorf("%s: %v after %v, want %s", name, err, sent, c.want)
		}
	}
	var unknown wirejson.UnknownServiceError
	if _, err := try(t, extension.API04, "do", options, invoke("composer.sing", `{}`)); !errors.As(err, &unknown) {
		t.Errorf("a service nobody has: %v", err)
	}
}

// TestServices_whatTheHostAnswers turns each answer into what an author can tell apart.
func TestServices_whatTheHostAnswers(t *testing.T) {
	get := func(text *string) action {
		return func(ctx context.Context, scope *extension.Scope) error {
			answer, err := scope.Composer().Get(ctx)
			*text = answer.Text
			return err
		}
	}
	serve := func(s exttest.Service) *exttest.Options {
		return &exttest.Options{Services: map[string]exttest.Service{"composer.get": s}}
	}
	var text string
	if _, err := try(t, extension.API04, "do", serve(exttest.Answer(map[string]any{"text": "draft"})), get(&text)); err != nil || text != "draft" {
		t.Errorf("a result: %q, %v", text, err)
	}
	var host *extension.HostError
	_, err := try(t, extension.API04, "do", serve(exttest.Refuse(featurewire.CodeInvalidParams, "bounds_exceeded too long")), get(&text))
	if !errors.As(err, &host) || host.Code != featurewire.CodeInvalidParams || host.Token() != "bounds_exceeded" || host.Method != featurewire.MethodComposerGet {
		t.Errorf("an error: %v", err)
	}
	_, err = try(t, extension.API04, "do", serve(exttest.Refuse(featurewire.CodeRequestCancelled, "request cancelled")), get(&text))
	if !errors.Is(err, extension.ErrCancelled) {
		t.Errorf("a cancellation: %v", err)
	}
	for _, faulty := range []exttest.Malformed{`{}`, `null`, `[]`, `{"text":7}`} {
		var broken *extension.ResultError
		var v *wirejson.Violation
		_, err = try(t, extension.API04, "do", serve(exttest.Answer(faulty)), get(&text))
		if !errors.As(err, &broken) || !errors.As(broken.Err, &v) {
			t.Errorf("%s: %v", faulty, err)
		}
	}
}

// TestServices_nameTheServiceOfAMalformedAnswer holds the error to the method, whatever of the answer is broken.
func TestServices_nameTheServiceOfAMalformedAnswer(t *testing.T) {
	methods := map[extension.API]string{extension.API04: featurewire.MethodComposerGet, extension.API03: canonicalwire.MethodSessionFork}
	services := map[extension.API]string{extension.API04: "composer.get", extension.API03: "session.fork"}
	for api, method := range methods {
		for _, answer := range []string{
			`{"error":null,"id":"c-1","jsonrpc":"2.0"}`,
			`{"error":"boo","id":"c-1","jsonrpc":"2.0"}`,
			`{"error":{},"id":"c-1","jsonrpc":"2.0"}`,
			`{"error":{"code":"1","message":"boo"},"id":"c-1","jsonrpc":"2.0"}`,
			`{"id":"c-1","jsonrpc":"2.0"}`,
		} {
			done := make(chan error, 1)
			l := dial(t, eager(api, invoke(services[api], `{}`), done))
			l.send(offerAll(api))
			l.next(`"id":1,`)
			l.send(call(api, 7, "do", `{}`))
			l.next(`"method":"` + method + `"`)
			l.send(answer)
			err := within(t, "the service", done)
			if err == nil || !strings.HasPrefix(err.Error(), method+": remote protocol error: invalid message: ") {
				t.Errorf("API %s: %s gives %v", api, answer, err)
			}
			l.next(`"id":7,`)
			l.send(shutdown)
			l.next(`"id":9,`)
			if err := l.end(); err != nil {
				t.Errorf("API %s: served %v", api, err)
			}
		}
	}
}

// TestSecrets_areNotPrinted takes a secret in each way it may come into a log.
func TestSecrets_areNotPrinted(t *testing.T) {
	options := &exttest.Options{Services: map[string]exttest.Service{"secrets.get": exttest.Answer(map[string]any{"value": "hunter2"})}}
	_, err := try(t, extension.API04, "do", options, func(ctx context.Context, scope *extension.Scope) error {
		secret, err := scope.Secrets().Get(ctx, "token")
		if err != nil || secret.Value != "hunter2" || string(secret.AppendJSON(nil)) != `{"value":"hunter2"}` {
			t.Errorf("the secret is %q (%v)", secret.Value, err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			for _, value := range []any{secret, &secret, []any{secret}, map[string]any{"a": &secret}, struct{ S featurewire.SecretGetResult }{secret}} {
				if text := fmt.Sprintf(verb, value); strings.Contains(text, "hunter2") || strings.Contains(text, "68756e74657232") {
					t.Errorf("%s of %T gives %s", verb, value, text)
				}
			}
		}
		if text := fmt.Sprint(secret); text != "SecretGetResult{hidden}" {
			t.Errorf("the secret prints as %s", text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInvoke_givesCanonicalJSON(t *testing.T) {
	options := &exttest.Options{Services: map[string]exttest.Service{
		"composer.get": exttest.Answer(exttest.Malformed(`{ "zip":1.50, "text":"é" }`)), "composer.insert": exttest.Answer(nil),
	}}
	for service, c := range map[string]struct{ with, want string }{
		"composer.get":       {``, `{"text":"é","zip":1.50}`},
		"composer.insert":    {`{"text":"x"}`, `{}`},
		"notifications.show": {`{"message":"m"}`, `{}`},
	} {
		var got []byte
		_, err := try(t, extension.API04, "do", options, func(ctx context.Context, scope *extension.Scope) (err error) {
			got, err = scope.Invoke(ctx, service, []byte(c.with))
			return err
		})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", service, got, err)
		}
	}
}

func TestServices_ofAPI03(t *testing.T) {
	options := &exttest.Options{Services: map[string]exttest.Service{"session.fork": exttest.Answer(map[string]any{"session_id": "s2"})}}
	var id string
	for _, where := range []string{"do", "later", "session"} {
		sent, err := try(t, extension.API03, where, options, func(ctx context.Context, scope *extension.Scope) error {
			answer, err := scope.V03().Session().Fork(ctx)
			id = answer.SessionID
			return err
		})
		if err != nil || id != "s2" || len(sent) != 1 || string(sent[0].Params) != `{}` {
			t.Errorf("%s: %q, %v, sent %v", where, id, err, sent)
		}
	}
}

func TestServices_leaveTheCatalogToDynamicTools(t *testing.T) {
	sent, err := try(t, extension.API04, "do", nil, invoke("tools.unregister", `{"names":["do"]}`))
	if err == nil || !strings.Contains(err.Error(), "DynamicTools") || len(sent) > 0 {
		t.Errorf("%v, sent %v", err, sent)
	}
}
