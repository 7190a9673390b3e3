package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// kernel is a child whose runs a test ends.
type kernel struct {
	child   Child
	mu      sync.Mutex
	prompts []string
	steered []string
	follows []string
	err     error // of Steer and FollowUp
	end     chan agent.Outcome
	closed  bool
	closes  int
}

func (k *kernel) Run(ctx context.Context, p agent.Prompt) (agent.Outcome, error) {
	k.mu.Lock()
	k.prompts = append(k.prompts, p.Text)
	k.mu.Unlock()
	select {
	case o := <-k.end:
		if o.Code == "error" {
			return agent.Outcome{}, errors.New(o.Reason)
		}
		if o.Code == "panic" {
			panic(o.Reason)
		}
		return o, nil
	case <-ctx.Done():
		return agent.Outcome{Status: agent.Cancelled}, nil
	}
}

func (k *kernel) note(list *[]string, text string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		*list = append(*list, text)
	}
	return k.err
}
func (k *kernel) Steer(text string) error    { return k.note(&k.steered, text) }
func (k *kernel) FollowUp(text string) error { return k.note(&k.follows, text) }

// roots are sessions in memory.
type roots struct {
	mu       sync.Mutex
	inactive bool
	ceilings Ceilings
	models   []model.Info
	kernels  []*kernel
	booked   []string
	err      error // of Open and Book
	opening  chan struct{}
}

func (r *roots) Active(string) bool                                   { return !r.inactive }
func (r *roots) Ceilings(string) Ceilings                             { return r.ceilings }
func (r *roots) Models(context.Context, string) ([]model.Info, error) { return r.models, r.err }

func (r *roots) Open(_ context.Context, c Child) (Opened, error) {
	if r.opening != nil {
		<-r.opening
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return Opened{}, r.err
	}
	k := &kernel{child: c, end: make(chan agent.Outcome)}
	r.kernels = append(r.kernels, k)
	return Opened{
		Kernel: k, Session: fmt.Sprint("child-", len(r.kernels)), Provider: "p", Model: "m", Reasoning: c.Selection.Reasoning,
		Close: func() { k.mu.Lock(); k.closed = true; k.closes++; k.mu.Unlock() },
	}, nil
}

func (r *roots) Book(_ context.Context, owner string, u session.UsageRecord, uncertain bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.booked = append(r.booked, fmt.Sprintf("%s %s %s %d %v", owner, u.Kind, u.Child, u.Usage.Tokens(), uncertain))
	}
	return r.err
}

// stage is an extension with children.
type stage struct {
	*extensiontest.Rig
	t       *testing.T
	service *Service
	roots   *roots
	parent  int64
	owned   string // member of params that names the owner, empty for none
	told    []Telemetry
}

const subagents = "octet-subagents"

// play runs f inside a tool call of the session in front.
func play(t *testing.T, f func(s *stage)) {
	t.Helper()
	playAs(t, extensiontest.Setup{}, func(s *stage) { s.during(func() { f(s) }) })
}

func playAs(t *testing.T, setup extensiontest.Setup, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, roots: &roots{}}
		s.service = New(Options{Roots: s.roots, Telemetry: func(f Telemetry) { s.told = append(s.told, f) }})
		defer s.service.Close()
		s.start(setup)
		f(s)
	})
}

func (s *stage) start(setup extensiontest.Setup) {
	s.t.Helper()
	if setup.Name == "" {
		setup.Name = subagents
	}
	setup.Options.Bindings = append(setup.Options.Bindings, s.service.Binding())
	s.Rig = extensiontest.Start(s.t, setup)
}

func (s *stage) during(f func()) {
	s.DuringCall(extension.Request{Scope: extension.Scope{Owner: extensiontest.DefaultFront}, Timeout: 1 << 50}, func(parent int64) {
		s.parent = parent
		f()
	})
}

func (s *stage) params(members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"parent_request_id":%d%s%s}`, s.parent, s.owned, members)
}

func (s *stage) ask(method, members string) extensiontest.Answer {
	return s.Ask(method, s.params(members))
}

const (
	spawn     = featurewire.MethodAgentSpawn
	message   = featurewire.MethodAgentMessage
	followUp  = featurewire.MethodAgentFollowUp
	list      = featurewire.MethodAgentList
	wait      = featurewire.MethodAgentWait
	interrupt = featurewire.MethodAgentInterrupt
	stop      = featurewire.MethodAgentStop
	events    = featurewire.MethodAgentEvents
	models    = featurewire.MethodAgentModels
)

const (
	malformed = featurewire.CodeInvalidParams
	refused   = featurewire.CodeNotForegroundOwner
)

// policy is one without ceilings; extra overrides or adds members.
func policy(extra string) string {
	members := map[string]json.RawMessage{}
	plain := `{"tools":["read"],"max_depth":1,"max_concurrent_children":8,"max_turns":null,"max_tokens":null,"max_cost_microdollars":null,"max_output_bytes":512,"timeout_ms":null}`
	for _, text := range []string{plain, "{" + extra + "}"} {
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			panic(err)
		}
	}
	text, _ := json.Marshal(members)
	return string(text)
}

func order(key, task, extraPolicy string) string {
	return fmt.Sprintf(`"task_name":"%s","message":"Do it.","idempotency_key":"%s","policy":%s`, task, key, policy(extraPolicy))
}

// child spawns one and returns its id and kernel, which runs.
func (s *stage) child(key, extraPolicy string) (id string, k *kernel) {
	s.t.Helper()
	var r struct {
		AgentID string `json:"agent_id"`
	}
	s.ask(spawn, order(key, "task", extraPolicy)).Decode(s.t, &r)
	synctest.Wait()
	s.roots.mu.Lock()
	defer s.roots.mu.Unlock()
	return r.AgentID, s.roots.kernels[len(s.roots.kernels)-1]
}

func target(id string) string { return `"target":"` + id + `"` }

// state is the status of a child as the list tells it.
func (s *stage) state(id string) string {
	s.t.Helper()
	return string(s.record(id)["status"])
}

func (s *stage) record(id string) map[string]json.RawMessage {
	s.t.Helper()
	synctest.Wait()
	var l struct {
		Agents []map[string]json.RawMessage `json:"agents"`
	}
	s.ask(list, "").Decode(s.t, &l)
	for _, a := range l.Agents {
		if string(a["agent_id"]) == `"`+id+`"` {
			return a
		}
	}
	return nil
}

func (s *stage) wantState(id, want string) {
	s.t.Helper()
	if got := s.state(id); got != want {
		s.t.Errorf("state %s, want %s", got, want)
	}
}

func long(n int) string { return strings.Repeat("x", n) }
