package assembly_test

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// terminal reads until the turn has ended and returns its outcome.
func (c *caller) terminal() string {
	c.t.Helper()
	for {
		text, err := c.Read()
		if err != nil {
			c.t.Fatal(err)
		}
		if _, rest, is := strings.Cut(string(text), `"outcome":"`); is && strings.Contains(string(text), `"type":"turn_terminal"`) {
			outcome, _, _ := strings.Cut(rest, `"`)
			return outcome
		}
	}
}

// TestOwner_isTheProfileThatASessionWasMadeFor: a key that names no profile has the models of the profile that the
// client named when it made the session, also behind a restart, in a fork, and for whoever names none. OUP-KEY-009.
func TestOwner_isTheProfileThatASessionWasMadeFor(t *testing.T) {
	address, keys := local(t)
	root := t.TempDir()
	o := options(t, root)
	o.Model = ""
	d := open(t, o)
	c := d.connect()
	c.ok(oupwire.MethodProfileLocalCreate, `{"name":"Work","username":"work"}`)
	c.ok(oupwire.MethodProfileLlmUpsert, `{"profile_id":"work","selection":{"family_id":"here","model_id":"one","route":{"base_url":"`+address+`"}},"api_key":"`+secret+`"}`)
	turn := func(c *caller, session, id string) {
		t.Helper()
		before := len(keys())
		c.ok(oupwire.MethodTurnStart, `{"session_id":"`+session+`","turn_id":"7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a`+id+`","input":[{"kind":"text","text":"Hello"}]}`)
		if outcome := c.terminal(); outcome != "completed" {
			t.Errorf("a turn in %s is %s", session, outcome)
		}
		if shown := keys(); len(shown) != before+1 || shown[before] != "Bearer "+secret {
			t.Errorf("a turn in %s has shown the provider %q", session, shown)
		}
	}
	opened := c.ok(oupwire.MethodSessionOpen, `{"session_id":"web-1","profile_id":"work"}`)["opened"].(map[string]any)
	if opened["active_profile_id"] != "work" {
		t.Errorf("opened is %v", opened)
	}
	turn(c, "web-1", "01")
	if got := c.ok(oupwire.MethodSessionFork, `{"session_id":"web-1","new_chat_id":"web-2"}`); got["new_session_id"] != "web-2" {
		t.Errorf("the fork is %v", got)
	}
	if got := c.ok(oupwire.MethodSessionFork, `{"session_id":"web-1","new_chat_id":"web-3","copy_messages":1}`); got["new_session_id"] != "web-3" {
		t.Errorf("the fork is %v", got)
	}
	d.close()

	d = open(t, o)
	c = d.connect()
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"_main:local:mine"}`) // this connection is of the default profile now
	for i, session := range []string{"web-1", "web-2", "web-3"} {
		if got := c.ok(oupwire.MethodSessionStatusRead, `{"session_id":"`+session+`"}`); got["profile_id"] != "work" {
			t.Errorf("%s is of %v", session, got["profile_id"])
		}
		c.ok(oupwire.MethodSessionOpen, `{"session_id":"`+session+`"}`)
		turn(c, session, "1"+string(rune('0'+i)))
	}
	if got := c.ok(oupwire.MethodLaunchResolve, `{"cwd":"`+o.Workspace+`","profile_id":"work"}`); got["decision"] != "resume" {
		t.Errorf("the launch is %v", got)
	}
	for _, params := range []string{`{"session_id":"web-1","profile_id":"_main"}`, `{"session_id":"_main:local:mine","profile_id":"work"}`} {
		_, failure := c.call(oupwire.MethodSessionOpen, params)
		if failure == nil || failure.Code != oupwire.CodeInvalidParams || !strings.Contains(string(failure.Data.Or(nil)), "expected_profile_id") {
			t.Errorf("%s gives %+v", params, failure)
		}
	}
}
