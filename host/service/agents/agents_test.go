package agents

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
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/model"
)

// EXT04-AGENT-008, EXT04-AGENT-009, EXT04-AGENT-010, EXT04-AGENT-012
func TestBinding_offers(t *testing.T) {
	all := []string{
		featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1, featurewire.FeatureDelegationTelemetryV1,
		featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1,
	}
	for _, c := range []struct {
		name, api string
		want      []string
	}{{subagents, "0.4", all}, {subagents, "0.2", all[:3]}, {"other", "0.4", nil}} {
		playAs(t, extensiontest.Setup{Name: c.name, API: c.api}, func(s *stage) {
			offer := string(s.Offer())
			for i, feature := range all {
				if feature == featurewire.FeatureDelegationTelemetryV1 && c.want == nil {
					continue // without children it says nothing
				}
				if got := strings.Contains(offer, `"`+feature+`"`); got != (i < len(c.want)) {
					t.Errorf("%s on %s is offered %s: %v", c.name, c.api, feature, got)
				}
			}
		})
	}
	if rig := extensiontest.Start(t, extensiontest.Setup{Name: subagents}); strings.Contains(string(rig.Offer()), "agent_") {
		t.Errorf("offered without a service: %s", rig.Offer())
	}
}

// EXT04-AGENT-013, EXT04-AGENT-016
func TestParent_isAToolCallOrACommand(t *testing.T) {
	scope := extension.Scope{Owner: extensiontest.DefaultFront}
	setup := extensiontest.Setup{Contributes: "tools = [\"work\"]\ncommands = [\"do\"]\nhooks = [\"before_prompt\"]\ncontext = true"}
	playAs(t, setup, func(s *stage) {
		s.DuringCommand(extension.Execution{Scope: scope}, func(parent int64) {
			s.parent = parent
			s.ask(spawn, order("k", "task", "")).OK(t, "")
		})
		s.Serve(featurewire.MethodHookRun, func(id int64, _ json.RawMessage) (any, error) {
			s.parent = id
			for method, members := range map[string]string{spawn: order("l", "task", ""), list: "", models: "", stop: target("x")} {
				s.ask(method, members).Refused(t, refused, "")
			}
			return map[string]any{}, nil
		})
		if _, err := s.X.RunHook(context.Background(), extension.HookRun{Hook: featurewire.HookBeforePrompt, Scope: scope, Payload: featurewire.BeforePromptPayload{Prompt: "x"}}); err != nil {
			t.Error(err)
		}
		s.DuringCall(extension.Request{}, func(parent int64) { // no session
			s.parent = parent
			s.ask(list, "").Refused(t, refused, "")
		})
	})
}

// EXT04-AGENT-015, EXT04-AGENT-018, EXT04-AGENT-020
func TestSpawn_malformed(t *testing.T) {
	play(t, func(s *stage) {
		with := func(old, new string) string { return strings.Replace(order("k", "task", ""), old, new, 1) }
		for name, members := range map[string]string{
			"nothing": "", "no policy": `"task_name":"t","message":"m","idempotency_key":"k"`,
			"task": with(`"task"`, `"Task"`), "long task": with(`"task"`, `"`+long(49)+`"`), "empty message": with("Do it.", ""),
			"long message": with("Do it.", long(131073)), "empty key": with(`"k"`, `""`), "long key": with(`"k"`, `"`+long(257)+`"`),
			"fingerprint": with(`"task_name"`, `"fingerprint":"00","task_name"`), "no tools": order("k", "task", `"tools":[]`),
			"unknown tool": order("k", "task", `"tools":["agent"]`), "twice a tool": order("k", "task", `"tools":["read","read"]`),
			"depth": order("k", "task", `"max_depth":2`), "children": order("k", "task", `"max_concurrent_children":9`),
			"no children": order("k", "task", `"max_concurrent_children":0`), "turns": order("k", "task", `"max_turns":257`),
			"few tokens": order("k", "task", `"max_tokens":999`), "tokens": order("k", "task", `"max_tokens":64001`),
			"cost": order("k", "task", `"max_cost_microdollars":50000001`), "little output": order("k", "task", `"max_output_bytes":511`),
			"output": order("k", "task", `"max_output_bytes":16385`), "short": order("k", "task", `"timeout_ms":4999`), "long": order("k", "task", `"timeout_ms":86400001`),
			"selection": order("k", "task", `"model_selection":{"stray":"x"}`), "empty model": order("k", "task", `"model_selection":{"model":""}`),
			"provider alone": order("k", "task", `"model_selection":{"provider":"p"}`), "model with control": order("k", "task", `"model_selection":{"model":"a\u0007"}`),
			"provider with inherited model": order("k", "task", `"model_selection":{"provider":"p","model":"inherit"}`),
		} {
			if a := s.ask(spawn, members); a.Refusal == nil || a.Refusal.Code != malformed {
				t.Errorf("%s: %+v", name, a)
			}
		}
		for _, method := range []string{message, followUp} {
			s.ask(method, target("x")+`,"message":"`+long(131073)+`"`).Refused(t, malformed, "")
			s.ask(method, target("x")+`,"message":"`+long(131072)+`"`).Refused(t, refused, "")
			s.ask(method, target("x")).Refused(t, malformed, "")
		}
		for method, members := range map[string]string{list: `"resource_owner":7`, wait: `"timeout_ms":"x"`, interrupt: "", stop: "", events: target("x"), models: `"limit":0`} {
			s.ask(method, members).Refused(t, malformed, "")
		}
		for n, members := range []string{
			with(`"task"`, `"`+long(48)+`"`), with("Do it.", long(131072)), with(`"k"`, `"`+long(256)+`"`),
			order("k4", "task", `"max_turns":256,"max_tokens":64000,"max_cost_microdollars":50000000,"max_output_bytes":16384,"timeout_ms":86400000`),
			order("k5", "task", `"max_turns":1,"max_tokens":1000,"max_cost_microdollars":1,"max_output_bytes":512,"timeout_ms":5000`),
		} {
			s.ask(spawn, strings.Replace(members, `"k"`, fmt.Sprintf(`"k%d"`, n), 1)).OK(t, "")
		}
	})
}

// EXT04-AGENT-020: without the feature.
func TestSpawn_selectionNeedsItsFeature(t *testing.T) {
	setup := extensiontest.Setup{Select: func(name string) bool { return name != featurewire.FeatureAgentModelSelectionV1 }}
	playAs(t, setup, func(s *stage) {
		s.during(func() {
			s.ask(spawn, order("k", "task", `"model_selection":{}`)).Refused(t, malformed, "")
			a := s.ask(spawn, order("k", "task", `"model_selection":null`))
			a.OK(t, "")
			if strings.Contains(string(a.Result), "resolved_model") {
				t.Errorf("answered %s", a.Result)
			}
		})
	})
}

// EXT04-AGENT-019, EXT04-AGENT-021, EXT04-AGENT-022, EXT04-AGENT-025
func TestSpawn_answer(t *testing.T) {
	play(t, func(s *stage) {
		s.roots.ceilings = Ceilings{Turns: 5, CostMicrodollars: 100, Timeout: time.Minute}
		members := strings.Replace(order("k", "task", `"tools":["read","search"],"max_turns":9,"max_tokens":2000,"model_selection":{"provider":"p","model":"m","reasoning":"high"}`),
			`"task_name"`, `"profile":"fast","fingerprint":"`+strings.Repeat("ab", 32)+`","task_name"`, 1)
		a := s.ask(spawn, members)
		synctest.Wait()
		k := s.roots.kernels[0]
		resolved := `{"provider":"p","model":"m","reasoning":{"type":"high"}}`
		now := time.Now().UnixMilli()
		var id struct {
			AgentID string `json:"agent_id"`
		}
		a.Decode(t, &id)
		a.OK(t, fmt.Sprintf(`{"agent_id":"%s","agent_path":"/task","task_name":"task","profile":"fast","fingerprint":"%s","idempotency_key":"k",
			"status":{"state":"pending"},"created_at_ms":%d,"started_at_ms":null,"completed_at_ms":null,"deadline_at_ms":%d,
			"principal":"%s","resource_owner":"session-1","resolved_model":%s,
			"policy":{"tools":["read","search"],"max_depth":1,"max_concurrent_children":8,"max_turns":5,"max_tokens":2000,"max_cost_microdollars":100,
			"max_output_bytes":512,"timeout_ms":60000,"model_selection":{"provider":"p","model":"m","reasoning":"high"},"resolved_model":%s}}`,
			id.AgentID, strings.Repeat("ab", 32), now, now+60000, Principal(s.X), resolved, resolved))
		if k.child.Selection != (Selection{"p", "m", "high"}) || k.child.Limits != (agent.Limits{Turns: 5, Tokens: 2000, CostMicrodollars: 100}) ||
			len(k.child.Tools) != 2 || k.child.Owner != "session-1" {
			t.Errorf("opened %+v", k.child)
		}
		if strings.Join(k.prompts, "|") != "Do it." {
			t.Errorf("told %q", k.prompts)
		}
		second := s.ask(spawn, order("l", "task", `"model_selection":{"reasoning":"inherit"}`))
		if !strings.Contains(string(second.Result), `"agent_path":"/task.2"`) || !strings.Contains(string(second.Result), `{"type":"off"}`) ||
			!strings.Contains(string(second.Result), `"max_tokens":null`) {
			t.Errorf("answered %s", second.Result)
		}
	})
}

// EXT04-AGENT-023, EXT04-AGENT-024
func TestSpawn_idempotency(t *testing.T) {
	playAs(t, extensiontest.Setup{}, func(s *stage) {
		var first extensiontest.Answer
		s.during(func() {
			first = s.ask(spawn, order("k", "task", ""))
			synctest.Wait()
			s.ask(spawn, order("k", "task", "")).OK(t, string(first.Result))
			s.ask(spawn, order("k", "other", "")).Refused(t, refused, "")
			s.ask(spawn, order("k", "task", `"max_turns":3`)).Refused(t, refused, "")
			s.ask(spawn, strings.Replace(order("k", "task", ""), "Do it.", "Do that.", 1)).Refused(t, refused, "")
			if len(s.roots.kernels) != 1 {
				t.Errorf("%d children were opened", len(s.roots.kernels))
			}
		})
		s.during(func() { // another request of the same session
			s.ask(spawn, order("k", "task", "")).OK(t, string(first.Result))
		})
		s.DuringCall(extension.Request{Scope: extension.Scope{Owner: "session-2"}}, func(parent int64) {
			s.parent = parent
			if again := s.ask(spawn, order("k", "task", "")); string(again.Result) == string(first.Result) {
				t.Error("another session is given the same child")
			}
		})
		if err := s.service.SettleRoot(context.Background(), "session-1"); err != nil {
			t.Error(err)
		}
		s.service.BeginRun("session-1")
		s.during(func() {
			if again := s.ask(spawn, order("k", "task", "")); string(again.Result) == string(first.Result) || again.Result == nil {
				t.Errorf("the key of a former run counts: %+v", again)
			}
		})
	})
}

// EXT04-AGENT-017
func TestSpawn_limits(t *testing.T) {
	play(t, func(s *stage) {
		for n := range featurewire.MaxAgentActive {
			s.child(fmt.Sprint("a", n), "")
		}
		s.ask(spawn, order("more", "task", "")).Refused(t, refused, "")
		end := func() {
			for _, k := range s.roots.kernels {
				select {
				case k.end <- agent.Outcome{Status: agent.Completed}:
				default:
				}
			}
			synctest.Wait()
		}
		end()
		s.child("b0", `"max_concurrent_children":2`)
		s.child("b1", `"max_concurrent_children":2`)
		s.ask(spawn, order("b2", "task", `"max_concurrent_children":2`)).Refused(t, refused, "")
		end()
		for n := featurewire.MaxAgentActive + 2; n < featurewire.MaxAgentRecords; n++ {
			s.child(fmt.Sprint("c", n), "")
			end()
		}
		s.ask(spawn, order("more", "task", "")).Refused(t, refused, "")
	})
}

// EXT04-AGENT-026, EXT04-AGENT-027
func TestStates(t *testing.T) {
	play(t, func(s *stage) {
		for n, c := range []struct {
			outcome agent.Outcome
			want    string
		}{
			{agent.Outcome{Status: agent.Completed, Text: "done"}, `{"output":"done","state":"completed"}`},
			{agent.Outcome{Status: agent.Completed, Text: long(511) + "ü"}, `{"output":"` + long(511) + `","state":"completed"}`},
			{agent.Outcome{Status: agent.Failed, Reason: "no model"}, `{"error":"no model","state":"failed"}`},
			{agent.Outcome{Status: agent.LimitReached, Reason: "8 turns"}, `{"error":"8 turns","state":"failed"}`},
			{agent.Outcome{Status: agent.Interrupted}, `{"state":"interrupted"}`},
			{agent.Outcome{Code: "error", Reason: "disk full"}, `{"error":"disk full","state":"failed"}`},
			{agent.Outcome{Code: "panic", Reason: "x"}, `{"error":"the agent broke down","state":"failed"}`},
		} {
			id, k := s.child(fmt.Sprint("k", n), "")
			s.wantState(id, `{"state":"running"}`)
			k.end <- c.outcome
			s.wantState(id, c.want)
		}
		id, _ := s.child("late", `"timeout_ms":5000`)
		time.Sleep(5*time.Second - time.Millisecond)
		s.wantState(id, `{"state":"running"}`)
		time.Sleep(time.Millisecond)
		s.wantState(id, `{"state":"timed_out"}`)
		id, k := s.child("down", "")
		s.ask(stop, target(id)).OK(t, `{"agent_id":"`+id+`","shutdown_requested":true}`)
		s.wantState(id, `{"state":"shutdown"}`)
		if !k.closed {
			t.Error("the session of a child that is shut down is open")
		}
		states := map[string]bool{}
		for _, f := range s.told {
			states[f.State] = true
			if f.Schema != TelemetrySchema || f.Principal != Principal(s.X) || f.Owner != "session-1" {
				t.Errorf("telemetry %+v", f)
			}
		}
		if len(states) != 7 {
			t.Errorf("telemetry of %v", states)
		}
	})
}

// EXT04-AGENT-016: what cannot be opened is no child.
func TestSpawn_cannotBeOpened(t *testing.T) {
	play(t, func(s *stage) {
		s.roots.err = errors.New("disk full")
		s.ask(spawn, order("k", "task", "")).Refused(t, refused, "the agent cannot be opened: disk full")
		if got := s.ask(list, ""); !strings.Contains(string(got.Result), `"agents":[],"persistence_error":"disk full"`) {
			t.Errorf("listed %s", got.Result)
		}
		s.roots.err = nil
		s.ask(spawn, order("k", "task", "")).OK(t, "")
	})
}

// EXT04-AGENT-028, EXT04-AGENT-029, EXT04-AGENT-030
func TestModels(t *testing.T) {
	play(t, func(s *stage) {
		s.roots.models = []model.Info{
			{Provider: "alpha", Model: "one", DisplayName: "First One", ContextWindow: 10, MaxOutputTokens: 5, Reasoning: []string{"low", "high"}},
			{Provider: "beta", Model: "two"},
			{Provider: "beta", Model: long(257)},
		}
		one := `{"model":"one","provider":"alpha","display_name":"First One","reasoning":["low","high"],"context_window":10,"max_output_tokens":5}`
		two := `{"model":"two","provider":"beta","display_name":null,"reasoning":[],"context_window":0,"max_output_tokens":0}`
		both := `{"models":[` + one + `,` + two + `],"truncated":false}`
		for members, want := range map[string]string{
			``: both, `"query":null,"limit":null`: both, `"query":""`: both, `"query":"ALPH"`: `{"models":[` + one + `],"truncated":false}`,
			`"query":"first"`: `{"models":[` + one + `],"truncated":false}`, `"query":"Two"`: `{"models":[` + two + `],"truncated":false}`,
			`"limit":1`: `{"models":[` + one + `],"truncated":true}`, `"query":"none"`: `{"models":[],"truncated":false}`,
		} {
			s.ask(models, members).OK(t, want)
		}
		for _, bad := range []string{`"query":"` + long(129) + `"`, `"query":"\u0007"`, `"limit":101`} {
			s.ask(models, bad).Refused(t, malformed, "")
		}
		s.ask(models, `"query":"`+long(128)+`","limit":100`).OK(t, "")
		s.roots.models = nil
		for n := range 51 {
			s.roots.models = append(s.roots.models, model.Info{Provider: "p", Model: fmt.Sprint("m", n), Reasoning: strings.Split(strings.Repeat("r,", 33), ",")})
		}
		var r featurewire.AgentModelsResult
		s.ask(models, "").Decode(t, &r)
		if len(r.Models) != 50 || !r.Truncated || len(r.Models[0].Reasoning) != 32 {
			t.Errorf("%d models, truncated %v, %d labels", len(r.Models), r.Truncated, len(r.Models[0].Reasoning))
		}
		s.roots.inactive = true
		s.ask(models, "").Refused(t, refused, "")
	})
}

// EXT04-AGENT-031
func TestMessage(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", "")
		s.ask(message, target(id)+`,"message":"a"`).OK(t, `{"delivered_to":"`+id+`","delivery":"steering"}`)
		s.ask(message, target("/task")+`,"message":"b"`).OK(t, `{"delivered_to":"`+id+`","delivery":"steering"}`)
		if strings.Join(k.steered, "") != "ab" {
			t.Errorf("steered with %q", k.steered)
		}
		k.err = agent.ErrIdle
		s.ask(message, target(id)+`,"message":"c"`).Refused(t, refused, "")
		k.end <- agent.Outcome{Status: agent.Completed}
		synctest.Wait()
		s.ask(message, target(id)+`,"message":"c"`).Refused(t, refused, "")
		s.ask(message, target("nobody")+`,"message":"c"`).Refused(t, refused, "")
		// One that has not begun gets it with what it begins with.
		s.service.mu.Lock()
		c := s.service.trees[key{Principal(s.X), "session-1"}].agents[0]
		c.status = featurewire.AgentPending{}
		s.service.mu.Unlock()
		for range followUpsMost {
			s.ask(message, target(id)+`,"message":"d"`).OK(t, `{"delivered_to":"`+id+`","delivery":"queued"}`)
		}
		s.ask(message, target(id)+`,"message":"d"`).Refused(t, refused, "")
		s.service.mu.Lock()
		c.startLocked("Again.")
		s.service.mu.Unlock()
		synctest.Wait()
		if got := k.prompts[1]; got != "Again."+strings.Repeat("\n\nd", followUpsMost) {
			t.Errorf("begun with %q", got)
		}
	})
}

// EXT04-AGENT-032, EXT04-AGENT-033, EXT04-AGENT-034
func TestFollowUp(t *testing.T) {
	play(t, func(s *stage) {
		id, k := s.child("k", `"timeout_ms":10000`)
		more := func() extensiontest.Answer { return s.ask(followUp, target(id)+`,"message":"more"`) }
		answer := func(delivery string) string {
			return `{"agent_id":"` + id + `","agent_path":"/task","delivery":"` + delivery + `"}`
		}
		deadline := func() string { return string(s.record(id)["deadline_at_ms"]) }
		first := deadline()
		for range followUpsMost {
			more().OK(t, answer("follow_up"))
		}
		more().Refused(t, refused, "")
		k.end <- agent.Outcome{Status: agent.Completed}
		time.Sleep(time.Second)
		more().OK(t, answer("new_run"))
		if deadline() != first {
			t.Errorf("the deadline ahead moved from %s to %s", first, deadline())
		}
		s.wantState(id, `{"state":"running"}`)
		time.Sleep(10 * time.Second)
		s.wantState(id, `{"state":"timed_out"}`)
		more().OK(t, answer("new_run"))
		if want := fmt.Sprint(time.Now().Add(10 * time.Second).UnixMilli()); deadline() != want {
			t.Errorf("the elapsed deadline is %s, want %s", deadline(), want)
		}
		k.err = agent.ErrIdle
		more().Refused(t, refused, "")
		k.err = nil
		s.service.mu.Lock()
		c := s.service.trees[key{Principal(s.X), "session-1"}].agents[0]
		c.cause = errInterrupted
		s.service.mu.Unlock()
		more().Refused(t, refused, "")
		s.service.mu.Lock()
		c.cause = nil
		s.service.mu.Unlock()
		s.ask(stop, target(id)).OK(t, "")
		synctest.Wait()
		more().Refused(t, refused, "")

		id, k = s.child("l", "")
		k.end <- agent.Outcome{Status: agent.Completed}
		synctest.Wait()
		for n := range featurewire.MaxAgentActive {
			s.child(fmt.Sprint("busy", n), "")
		}
		more().Refused(t, refused, "")
		if deadline() != "null" {
			t.Errorf("deadline %s without a timeout", deadline())
		}
	})
}

// EXT04-AGENT-035, EXT04-AGENT-036, EXT04-AGENT-037
func TestList(t *testing.T) {
	play(t, func(s *stage) {
		s.ask(list, "").OK(t, `{"principal":"`+Principal(s.X)+`","resource_owner":"session-1","persistence_error":null,"agents":[]}`)
		id, k := s.child("k", "")
		emit := func(e agent.Event) { k.child.Emit(e) }
		for n := range 8 {
			call := fmt.Sprint("c", n)
			emit(agent.ToolStarted{CallID: call, Name: "read", Arguments: json.RawMessage("{\n\"path\":\t\"" + long(200) + "\"}")})
			if n < 7 {
				status := agent.ToolCompleted
				if n == 6 {
					status = agent.ToolFailed
				}
				emit(agent.ToolFinished{CallID: call, Name: "read", Status: status})
			}
		}
		emit(agent.TurnFinished{})
		r := s.record(id)
		for member, want := range map[string]string{
			"agent_path": `"/task"`, "parent_id": "null", "depth": "1", "session": `"agent-session:child-1"`, "turn_count": "1", "tool_call_count": "8",
			"phase": `"tool"`, "tool_name": `"read"`, "idempotency_key": `"k"`, "status": `{"state":"running"}`, "completed_at_ms": "null",
		} {
			if string(r[member]) != want {
				t.Errorf("%s is %s, want %s", member, r[member], want)
			}
		}
		var recent []featurewire.AgentToolRun
		if err := json.Unmarshal(r["recent_tools"], &recent); err != nil || len(recent) != 6 {
			t.Fatalf("recent tools %s", r["recent_tools"])
		}
		if args := recent[0].Args; len(args) != 160 || !strings.HasPrefix(args, `{ "path": "xxx`) {
			t.Errorf("arguments %q", args)
		}
		if recent[3].Error || !recent[4].Error || !recent[5].FinishedAtMs.IsAbsent() {
			t.Errorf("recent tools %s", r["recent_tools"])
		}
		cost := int64(7)
		k.end <- agent.Outcome{Status: agent.Completed, Usage: conversation.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, CostMicrodollars: &cost}}
		r = s.record(id)
		if want := `{"cache_read_tokens":3,"cache_write_tokens":4,"input_tokens":1,"output_tokens":2,"reasoning_tokens":5}`; string(r["usage"]) != want || string(r["cost_microdollars"]) != "7" {
			t.Errorf("usage %s, cost %s", r["usage"], r["cost_microdollars"])
		}
	})
}

// EXT04-AGENT-038, EXT04-AGENT-039, EXT04-AGENT-040
func TestWait(t *testing.T) {
	playAs(t, extensiontest.Setup{}, func(s *stage) {
		took := func(members string) (string, time.Duration) {
			start := time.Now()
			var r struct {
				TimedOut json.RawMessage `json:"timed_out"`
				Snapshot json.RawMessage `json:"snapshot"`
			}
			s.ask(wait, members).Decode(t, &r)
			if !strings.Contains(string(r.Snapshot), `"principal"`) {
				t.Errorf("snapshot %s", r.Snapshot)
			}
			return string(r.TimedOut), time.Since(start)
		}
		var left *extensiontest.Pending
		s.during(func() {
			if out, d := took(""); out != "false" || d != 0 {
				t.Errorf("with no child: %s after %s", out, d)
			}
			_, k := s.child("k", "")
			_, _ = s.child("l", "")
			for members, want := range map[string]time.Duration{
				``: 30 * time.Second, `"timeout_ms":null`: 30 * time.Second, `"timeout_ms":0`: time.Millisecond, `"timeout_ms":1`: time.Millisecond,
				`"timeout_ms":60000`: time.Minute, `"timeout_ms":60001`: time.Minute, `"timeout_ms":9000000`: time.Minute,
			} {
				if strings.Contains(members, "null") {
					continue // null is no timeout of the model
				}
				if out, d := took(members); out != "true" || d != want {
					t.Errorf("%s: %s after %s", members, out, d)
				}
			}
			p := s.Send(wait, s.params(""))
			synctest.Wait()
			k.end <- agent.Outcome{Status: agent.Completed}
			if a := p.Wait(); !strings.Contains(string(a.Result), `"timed_out":false`) {
				t.Errorf("behind the end of one: %s", a.Result)
			}
			left = s.Send(wait, s.params(""))
			synctest.Wait()
		})
		if a := left.Wait(); a.CalledOff == "" {
			t.Errorf("behind the parent: %+v", a)
		}
	})
}

// EXT04-AGENT-041
func TestInterrupt(t *testing.T) {
	play(t, func(s *stage) {
		id, _ := s.child("k", "")
		want := func(status string, requested bool) string {
			return fmt.Sprintf(`{"agent_id":"%s","agent_path":"/task","previous_status":{"state":"%s"},"interrupt_requested":%v}`, id, status, requested)
		}
		s.ask(interrupt, target(id)).OK(t, want("running", true))
		s.wantState(id, `{"state":"interrupted"}`)
		s.ask(interrupt, target(id)).OK(t, want("interrupted", false))
		s.ask(interrupt, target("nobody")).Refused(t, refused, "")
	})
}

// What is kept for an extension names it by this: its name and a digest that tells
// nothing of where it lies.
//
// MAN-IDENTITY-004.
func TestPrincipal(t *testing.T) {
	rig := extensiontest.Start(t, extensiontest.Setup{Name: "one"})
	name, digest, _ := strings.Cut(Principal(rig.X), "@")
	if name != "one" || len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		t.Errorf("it is %s", Principal(rig.X))
	}
	if other := extensiontest.Start(t, extensiontest.Setup{Name: "two"}); Principal(other.X) == Principal(rig.X) || Principal(rig.X) != name+"@"+digest {
		t.Error("two extensions have one identity, or one has two")
	}
}
