package extension_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

var owner = extension.Owner{SessionID: "s", ExtensionInstanceID: "i", ProcessGeneration: 2}

func TestSessionHooks_areDelivered(t *testing.T) {
	var heard []string
	ext := extension.New(quietOptions(extension.API03))
	ext.OnSessionStart(func(_ context.Context, s extension.SessionStart) { heard = append(heard, fmt.Sprintf("%+v", s)) })
	ext.OnSessionEnd(func(_ context.Context, s extension.SessionEnd) { heard = append(heard, fmt.Sprintf("%+v", s)) })
	host := exttest.StartWith(t, ext, &exttest.Options{SessionHooks: true})
	host.StartSession(extension.SessionStart{Owner: owner})
	host.EndSession(extension.SessionEnd{Owner: owner, Outcome: "completed", Reason: "shutdown", Duration: 1500 * time.Millisecond})
	want := "{Owner:{SessionID:s ExtensionInstanceID:i ProcessGeneration:2}}\n" +
		"{Owner:{SessionID:s ExtensionInstanceID:i ProcessGeneration:2} Outcome:completed Reason:shutdown Duration:1.5s}"
	if got := strings.Join(heard, "\n"); got != want {
		t.Errorf("heard\n%s\nwant\n%s", got, want)
	}
}

// An extension whose manifest declares the hooks selects them, whether or not it listens.
func TestSessionHooks_selection(t *testing.T) {
	const (
		declared = `"contributes":{"hooks":["session_start","session_end"],"tools":[]}`
		offered  = `"optional_capabilities":["lifecycle_events"],"optional_methods":["hook/run"]`
		selected = `"capabilities":["content_parts","core","lifecycle_events","request_cancellation","tool_call"]`
		minimal  = `"capabilities":["content_parts","core","request_cancellation","tool_call"]`
	)
	for _, test := range []struct {
		name, contributes, offer, want, log string
	}{
		{"declared and offered", declared, offered, selected, ""},
		{"declared, not offered", declared, `"optional_capabilities":[],"optional_methods":[]`, minimal, "session hooks, which this host does not offer"},
		{"declared, offered without its method", declared, `"optional_capabilities":["lifecycle_events"],"optional_methods":[]`, minimal, "does not offer"},
		{"offered, not declared", `"contributes":{}`, offered, minimal, ""},
		{"half declared", `"contributes":{"hooks":["session_start"]}`, offered, minimal, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			l := dial(t, extension.New(&extension.Options{API: extension.API03, Log: &log}))
			l.send(strings.NewReplacer(`"contributes":{}`, test.contributes, `"optional_capabilities":[],"optional_methods":[]`, test.offer).Replace(initialize(extension.API03)))
			if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, test.want) {
				t.Fatalf("initialize: %s (%v), want %s in it", got, err, test.want)
			}
			const hook = `{"id":7,"jsonrpc":"2.0","method":"hook/run","params":{"hook":"session_start","payload":{"binding":{"extension_instance_id":"i","process_generation":1,"session_id":"s"}}}}`
			l.send(hook)
			if test.want == selected {
				l.want(`{"id":7,"jsonrpc":"2.0","result":{"disposition":{"kind":"continue"}}}`)
				l.send(strings.Replace(hook, "session_start", "session_middle", 1))
				l.want(`{"error":{"code":-32602,"data":{"detail":"\"session_middle\" selects no variant; use one of session_start, session_end","pointer":"/hook","violation":"tag"},"message":"invalid params"},"id":7,"jsonrpc":"2.0"}`)
			} else {
				l.want(`{"error":{"code":-32601,"data":{"method":"hook/run"},"message":"unknown or unnegotiated method"},"id":7,"jsonrpc":"2.0"}`)
			}
			l.send(shutdown)
			l.want(`{"id":9,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}`)
			if err := l.end(); err != nil {
				t.Error(err)
			}
			if text := log.String(); !strings.Contains(text, test.log) {
				t.Errorf("stderr is %q, want %q in it", text, test.log)
			}
		})
	}
}

func TestSessionHooks_panicIsNotTheHosts(t *testing.T) {
	var log bytes.Buffer
	ext := extension.New(&extension.Options{API: extension.API03, Log: &log})
	ext.OnSessionStart(func(context.Context, extension.SessionStart) { panic("oh no") })
	host := exttest.StartWith(t, ext, &exttest.Options{SessionHooks: true})
	host.StartSession(extension.SessionStart{Owner: owner})
	host.EndSession(extension.SessionEnd{Owner: owner, Outcome: "failed", Reason: "crash"})
	host.Close()
	if !strings.Contains(log.String(), "session hook panicked: oh no") {
		t.Errorf("stderr is %q", log.String())
	}
}

func TestSessionHooks_misuse(t *testing.T) {
	for _, test := range []struct {
		add  func()
		want string
	}{
		{func() { extension.New(nil).OnSessionStart(nil) }, `session start handler: API 0.4 does not have it: use API "0.3"`},
		{func() { extension.New(quietOptions(extension.API01)).OnSessionEnd(nil) }, `session end handler: API 0.1 does not have it`},
		{func() {
			ext := extension.New(quietOptions(extension.API03))
			exttest.Start(t, ext)
			ext.OnSessionEnd(nil)
		}, "the extension is already serving"},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, test.want) {
					t.Errorf("panic %q, want one with %q", text, test.want)
				}
			}()
			test.add()
		}()
	}
}
