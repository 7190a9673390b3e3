// Package agents lets an extension have child agents: real sessions of their own, that work for the session in
// which the extension was called.
//
// A tree of children belongs to a principal, the extension as its manifest identifies it, and to the durable
// session; it outlives a restart or reload of the process. The host keeps every ceiling and the wall clock
// itself. Children have no children. What they have used is booked with the session before its run is
// settled. Source: sheet feature 12.1.
package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/host/session"
)

// Kernel is a child at work. *agent.Agent is one.
type Kernel interface {
	Run(ctx context.Context, p agent.Prompt) (agent.Outcome, error)
	Steer(text string) error
	FollowUp(text string) error
}

// Selection says which model a child is to have; empty fields are those of the parent.
type Selection struct{ Provider, Model, Reasoning string }

// Child is a child to be opened.
type Child struct {
	Owner     string // opaque id of the session it works for
	Task      string
	Tools     []featurewire.AgentTool // the only ones; the set never changes
	Selection Selection
	Limits    agent.Limits
	// Emit takes the events of the child, one at a time and in order.
	Emit func(agent.Event)
}

// Opened is a child that can run.
type Opened struct {
	Kernel  Kernel
	Session string // id of its durable session
	// Provider, Model and Reasoning are what was resolved; Reasoning is a label, empty for off.
	Provider, Model, Reasoning string
	// Close lets go of the session once no run goes on.
	Close func()
}

// Roots are the sessions that children work for, by opaque owner id.
type Roots interface {
	// Active reports whether a run of the session goes on or it is in front: children may be begun for it.
	Active(owner string) bool
	// Ceilings are those of the session itself; zero fields are none.
	Ceilings(owner string) Ceilings
	Models(ctx context.Context, owner string) ([]model.Info, error)
	// Open makes a durable session with a fresh context. ErrModel if the selection cannot be resolved.
	Open(ctx context.Context, c Child) (Opened, error)
	// Book stores what a child has used in all, once for each child, durably.
	Book(ctx context.Context, owner string, usage session.UsageRecord, uncertain bool) error
}

// Ceilings bound what a child may use. Zero is none.
type Ceilings struct {
	Turns, Tokens, CostMicrodollars int64
	Timeout                         time.Duration
}

// ErrModel is for a selection that names no model the session can use.
var ErrModel = errors.New("no such model for the session")

// TelemetrySchema names the form of Telemetry.
const TelemetrySchema = "octet.delegation.telemetry.v1"

// Telemetry is one fact about delegation, for the host's own records. Nothing of it is on the wire.
type Telemetry struct {
	Schema    string `json:"schema"`
	Principal string `json:"principal"`
	Owner     string `json:"owner"`
	Agent     string `json:"agent"`
	Session   string `json:"session"`
	Task      string `json:"task"`
	State     string `json:"state"`
	Millis    int64  `json:"at_ms"`
}

// Options configure a service. Roots is required.
type Options struct {
	Roots Roots
	// Telemetry is told of every change of a child's state. It must not block. Nil: nobody is.
	Telemetry func(Telemetry)
}

// Service keeps the trees of all extensions. Make it with New and Close it.
type Service struct {
	roots     Roots
	telemetry func(Telemetry)
	running   sync.WaitGroup

	mu     sync.Mutex
	trees  map[key]*tree
	closed bool
}

// key says whose a tree is.
type key struct{ principal, owner string }

// tree is the children of one principal in one session.
type tree struct {
	key     key
	agents  []*child      // oldest first
	changed chan struct{} // closed and replaced when anything about a child changes
	retired bool
	fault   string // of persistence, empty for none
}

// New returns a service without children.
func New(o Options) *Service {
	if o.Telemetry == nil {
		o.Telemetry = func(Telemetry) {}
	}
	return &Service{roots: o.Roots, telemetry: o.Telemetry, trees: map[key]*tree{}}
}

// Close shuts every child down and returns when none runs.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	for _, t := range s.trees {
		s.shutDownLocked(t)
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Binding serves the requests. Which extensions are offered children is the policy's affair.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{
			featurewire.FeatureAgentSessions, featurewire.FeatureAgentModelSelectionV1, featurewire.FeatureDelegationTelemetryV1,
			featurewire.FeatureAgentSessionEventsV1, featurewire.FeatureAgentSessionLifetimeV1,
		},
		Requests: map[string]extension.Handler{
			featurewire.MethodAgentSpawn:     s.spawn,
			featurewire.MethodAgentModels:    s.models,
			featurewire.MethodAgentMessage:   s.message,
			featurewire.MethodAgentFollowUp:  s.followUp,
			featurewire.MethodAgentList:      s.list,
			featurewire.MethodAgentWait:      s.wait,
			featurewire.MethodAgentInterrupt: s.interrupt,
			featurewire.MethodAgentStop:      s.stop,
			featurewire.MethodAgentEvents:    s.events,
		},
	}
}

// Principal is the extension as its manifest identifies it: which one it is and where it lies, not what it
// says, so that it stays the same across a reload.
func Principal(x *extension.Extension) string {
	digest := sha256.Sum256([]byte(x.Name() + "\x00" + x.Source().Folder.ManifestPath))
	return x.Name() + "@" + hex.EncodeToString(digest[:])
}

// joinBriefly bounds how long the settlement of a root waits for its children.
const joinBriefly = 2 * time.Second

// SettleRoot stops the children of a session whose run is about to be settled, waits for them briefly and books
// what they have used. Call it before the settlement is stored.
func (s *Service) SettleRoot(ctx context.Context, owner string) error {
	ctx, cancel := context.WithTimeout(ctx, joinBriefly)
	defer cancel()
	var all []*child
	s.mu.Lock()
	for _, t := range s.ofOwnerLocked(owner) {
		for _, c := range t.agents {
			c.interruptLocked(errInterrupted)
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		s.join(ctx, c)
	}
	var err error
	for _, c := range all {
		err = errors.Join(err, s.book(context.WithoutCancel(ctx), c))
	}
	return err
}

// join waits until a child does not run.
func (s *Service) join(ctx context.Context, c *child) {
	for {
		s.mu.Lock()
		active, changed := c.activeLocked(), c.tree.changed
		s.mu.Unlock()
		if !active {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// book stores what a child has used, once.
func (s *Service) book(ctx context.Context, c *child) error {
	s.mu.Lock()
	if c.booked {
		s.mu.Unlock()
		return nil
	}
	c.booked = true
	record := session.UsageRecord{
		Kind: session.UsageDelegatedAgent, Provider: c.opened.Provider, Model: c.opened.Model, Child: c.opened.Session, Usage: c.usage,
	}
	uncertain := c.uncertain || c.activeLocked()
	s.mu.Unlock()
	err := s.roots.Book(ctx, c.tree.key.owner, record, uncertain)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.booked, c.tree.fault = false, clip.Text(err.Error(), faultMost)
	}
	return err
}

// BeginRun forgets the children of former runs of a session, and with them their idempotency keys.
func (s *Service) BeginRun(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.ofOwnerLocked(owner) {
		var kept []*child
		for _, c := range t.agents {
			if c.activeLocked() || !c.booked {
				kept = append(kept, c)
			} else {
				c.closeLocked()
			}
		}
		t.agents = kept
		t.changedLocked()
	}
}

// RetireOwner ends the trees of a session that is not served any more: its requests are refused, waits return,
// and its children are asked to shut down.
func (s *Service) RetireOwner(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.ofOwnerLocked(owner) {
		t.retired = true
		s.shutDownLocked(t)
	}
}

// AdmitOwner serves a session again whose trees were ended; it has none then.
func (s *Service) AdmitOwner(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.ofOwnerLocked(owner) {
		if t.retired {
			delete(s.trees, t.key)
		}
	}
}

// ShutDown asks the trees of an extension to shut down, because its process is shut down for good. A restart
// or reload is no such end.
func (s *Service) ShutDown(x *extension.Extension) {
	principal := Principal(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, t := range s.trees {
		if k.principal == principal {
			s.shutDownLocked(t)
		}
	}
}

func (s *Service) shutDownLocked(t *tree) {
	for _, c := range t.agents {
		c.shutDownLocked()
	}
	t.changedLocked()
}

func (s *Service) ofOwnerLocked(owner string) []*tree {
	var list []*tree
	for k, t := range s.trees {
		if k.owner == owner {
			list = append(list, t)
		}
	}
	return list
}

// changedLocked wakes who waits for a change.
func (t *tree) changedLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// activeLocked counts the children that are pending or running.
func (t *tree) activeLocked() int {
	n := 0
	for _, c := range t.agents {
		if c.activeLocked() {
			n++
		}
	}
	return n
}

// findLocked returns a child by id or path.
func (t *tree) findLocked(target string) *child {
	for _, c := range t.agents {
		if c.id == target || c.path == target {
			return c
		}
	}
	return nil
}
