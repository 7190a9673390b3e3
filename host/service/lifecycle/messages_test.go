package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// A batch goes at its bytes, at its deltas, at its time and at the end; each once, in order, and the end
// behind the last.
//
// EXT04-EVENT-016, EXT04-EVENT-017, EXT04-EVENT-018, EXT04-EVENT-019.
func TestMessage_batches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &ear{}, New()
		s.admit(e)
		m := s.Start("s1", nil).Message("m1")
		updated := func(delta string, deltas int) string {
			return fmt.Sprintf(`message/updated {"delta":"%s","deltas":%d,"message_id":"m1"}`, delta, deltas)
		}
		expect := func(what string, want ...string) {
			t.Helper()
			if got := e.take(); !slices.Equal(got, want) {
				t.Errorf("%s: heard %.300q, want %.300q", what, got, want)
			}
		}
		expect("start", `session/started {"session_id":"s1"}`, `message/started {"message_id":"m1"}`)
		m.Add("a")
		time.Sleep(batchTime - 1)
		m.Add("b")
		expect("before its time")
		time.Sleep(time.Nanosecond)
		expect("at its time", updated("ab", 2))
		time.Sleep(time.Second)
		expect("nothing is sent of nothing")
		for range featurewire.MaxMessageBatchDeltas - 1 {
			m.Add("x")
		}
		expect("below its deltas")
		m.Add("y")
		expect("at its deltas", updated(strings.Repeat("x", featurewire.MaxMessageBatchDeltas-1)+"y", featurewire.MaxMessageBatchDeltas))
		m.Add(strings.Repeat("x", featurewire.MaxMessageBatchBytes-1))
		expect("below its bytes")
		m.Add("y")
		expect("at its bytes", updated(strings.Repeat("x", featurewire.MaxMessageBatchBytes-1)+"y", 2))
		m.Add("a")
		m.Add(strings.Repeat("x", featurewire.MaxMessageBatchBytes) + "é")
		expect("over its bytes", updated("a"+strings.Repeat("x", featurewire.MaxMessageBatchBytes-1), 1))
		m.Settle()
		m.Add("late")
		m.Settle()
		expect("at the end", updated("xé", 1), `message/settled {"message_id":"m1"}`)
		time.Sleep(time.Second)
		expect("nothing is sent behind the end")
		s.drop(e)
	})
}

// EXT04-EVENT-020.
func TestMessage_Update(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s := &ear{}, New()
		s.admit(e)
		m := s.Start("s1", nil).Message("m1")
		e.take()
		many := make([]string, featurewire.MaxMessageDeltas+1)
		if err := m.Update(many); err == nil || !strings.HasPrefix(err.Error(), "bounds_exceeded") {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Second)
		if got := e.take(); got != nil {
			t.Errorf("heard %q", got)
		}
		if err := m.Update(many[1:]); err != nil {
			t.Error(err)
		}
		if got := e.take(); len(got) != featurewire.MaxMessageDeltas/featurewire.MaxMessageBatchDeltas {
			t.Errorf("heard %d batches", len(got))
		}
		s.drop(e)
	})
}

// No character is torn, and no byte lost.
func TestMessage_splits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{strings.Repeat("é", 9000), strings.Repeat("€", 5000), "a" + strings.Repeat("😀", 4000), strings.Repeat("a\x80", 9000)} {
			e, s := &ear{}, New()
			s.admit(e)
			m := s.Start("s1", nil).Message("m1")
			m.Add(text)
			m.Settle()
			whole, count := "", int64(0)
			for _, heard := range e.take() {
				if rest, is := strings.CutPrefix(heard, featurewire.MethodMessageUpdated+" "); is {
					var p struct {
						Delta  string
						Deltas int64
					}
					if err := json.Unmarshal([]byte(rest), &p); err != nil {
						t.Error(err)
					}
					if len(p.Delta) > featurewire.MaxMessageBatchBytes {
						t.Errorf("a batch of %d bytes", len(p.Delta))
					}
					whole, count = whole+p.Delta, count+p.Deltas
				}
			}
			if whole != strings.ToValidUTF8(text, "\ufffd") || count != 1 {
				t.Errorf("%d bytes became %d, %d deltas", len(text), len(whole), count)
			}
			s.drop(e)
		}
	})
}

// EXT04-EVENT-013, EXT04-EVENT-014, EXT04-EVENT-015, EXT04-EVENT-021.
func TestSession_Tell(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04, "0.3"} {
		synctest.Test(t, func(t *testing.T) {
			s := New()
			rig := start(t, s, extensiontest.Setup{API: api})
			closed := start(t, s, extensiontest.Setup{API: api, Name: "closed", Select: func(name string) bool { return name != featurewire.FeatureLifecycleEventsV2 }})
			session := s.Start("s1", nil)
			sized := func(bytes int) string { return `{"a":"` + strings.Repeat("x", bytes-len(`{"a":""}`)) + `"}` }
			for _, method := range plain {
				if err := session.Tell(method, json.RawMessage(`{ "z":1, "a":[true] }`)); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			}
			if err := session.Tell(featurewire.MethodBashUser, json.RawMessage(sized(maxEventBytes))); err != nil {
				t.Errorf("at the bound: %v", err)
			}
			for _, bad := range []string{sized(maxEventBytes + 1), `[]`, `null`, `7`, `{`, `{"a":1,"a":2}`, ``} {
				if err := session.Tell(featurewire.MethodBashUser, json.RawMessage(bad)); err == nil {
					t.Errorf("%.40s is sent", bad)
				}
			}
			for _, method := range []string{featurewire.MethodTurnStarted, featurewire.MethodMessageUpdated, featurewire.MethodToolCall, "x"} {
				if err := session.Tell(method, json.RawMessage(`{}`)); err == nil {
					t.Errorf("%s is sent", method)
				}
			}
			session.Message("m").Settle()
			synctest.Wait()
			opened := append([]string{featurewire.MethodMessageStarted, featurewire.MethodMessageUpdated, featurewire.MethodMessageSettled}, plain...)
			got, want := told(rig, opened...), len(plain)+3
			if api == "0.3" {
				want = 0
			} else if !slices.Contains(got, featurewire.MethodCompactionFailed+` {"a":[true],"z":1}`) {
				t.Errorf("API %s: told %.300q", api, got)
			}
			if len(got) != want || told(closed, opened...) != nil {
				t.Errorf("API %s: told %d events, want %d", api, len(got), want)
			}
			rig.X.Close()
			closed.X.Close()
			if rig.Diagnosed("the event bash/user is not sent") != (api != "0.3") || closed.Diagnosed("is not sent") {
				t.Errorf("API %s: diagnostics %q, %q", api, rig.Diagnostics(), closed.Diagnostics())
			}
		})
	}
}

// A real extension that does not read holds nobody up, and loses what it did not read.
//
// EXT04-EVENT-007, EXT04-EVENT-008.
func TestService_extensionThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		rig := start(t, s, extensiontest.Setup{})
		session := s.Start("s1", nil)
		rig.Exit(1)
		<-rig.X.Done()
		for n := range 500 {
			session.Turn("r", fmt.Sprint(n)).Settle(done)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Retire(ctx, rig.X, done)
		session.Settle(done)
	})
}
