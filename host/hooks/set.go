// Package hooks asks many extensions at the seams of a run and makes one answer of theirs: in order, merged
// by the rule of the hook, within its time, and with every failure turned into a diagnostic. A Set does so
// for the hooks of the feature wire and is what an agent calls; a Pairs runs the session hooks of the
// canonical wire.
//
// Sheet: feature 9, canonical 6.4; S01. The times are those of the generated hook tables.
package hooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/promptcontext"
)

// Options say whom a Set asks. Ready is required.
type Options struct {
	// Ready yields the extensions that can be asked now, in the order of registration.
	Ready func() []*extension.Extension
	// State is what extensions are shown of a scope. Nil shows what the scope itself says.
	State func(agent.Scope) extension.HostState
	// Pool holds what extensions contributed to the next prompt unasked. Nil: nothing waits.
	Pool *promptcontext.Pool
	// Grant makes the private grant for a session-operation hook; end takes it back. Nil: one that names the
	// invocation and the owner of the session, and authorizes nothing by itself.
	Grant func(x *extension.Extension, s agent.Scope) (leaf json.RawMessage, end func())
	// Resources says that a loader stands behind DiscoverResources; without one the hook is not offered.
	Resources bool
	// Diagnose takes what went wrong with a hook. Nil: Extension.Diagnose.
	Diagnose func(x *extension.Extension, text string)
	// Failed takes, besides, each hook that gave no answer and so counts as no opinion. Nil: nobody wants to know.
	Failed func(x *extension.Extension, hook string, err error)
}

// Set runs the hooks of the extensions that are ready. Its methods may be called from any goroutine.
type Set struct {
	options   Options
	mutations mutations
	passed    sync.Map // extensions that were told that another one draws for them
}

var _ agent.Hooks = (*Set)(nil)

// New makes a Set.
func New(o Options) *Set {
	s := &Set{options: o}
	s.mutations.generation = 1
	if s.options.Grant == nil {
		s.options.Grant = grant
	}
	if s.options.State == nil {
		s.options.State = shown
	}
	if s.options.Diagnose == nil {
		s.options.Diagnose = (*extension.Extension).Diagnose
	}
	return s
}

// Binding stands behind the features and capabilities that exist for hooks alone. Other features that open
// hooks belong to the services with their methods.
func (s *Set) Binding() extension.Binding {
	features := []string{featurewire.FeatureCompactionStrategy, featurewire.FeatureCacheWarmingDecision}
	if s.options.Resources {
		features = append(features, featurewire.FeatureResourcePathsV1)
	}
	return extension.Binding{
		Features:     features,
		Capabilities: []string{canonicalwire.CapabilityLifecycleEvents},
		Ended:        func(x *extension.Extension) { s.passed.Delete(x) },
	}
}

// shown is the state of a scope without anything that only a session knows.
func shown(s agent.Scope) extension.HostState {
	h := extension.HostState{SessionID: s.Session, Model: s.Model}
	if s.Reasoning != "" {
		h.Reasoning = json.RawMessage(strconv.Quote(s.Reasoning))
	}
	return h
}

// grant is the leaf of a session for one invocation of one process, opaque to it.
func grant(x *extension.Extension, a agent.Scope) (leaf json.RawMessage, end func()) {
	text, err := json.Marshal(map[string]any{"invocation": rand.Text(), "run": a.Run, "session": json.RawMessage(x.OwnerOf(a.Owner).Wire().AppendJSON(nil))})
	if err != nil {
		return nil, func() {}
	}
	return text, func() {}
}

// scope is the scope as extensions are told it.
func (s *Set) scope(a agent.Scope) extension.Scope {
	return extension.Scope{Owner: a.Owner, Host: s.options.State(a), Execution: a.Execution}
}

// declaring are the ready extensions that run a hook, in their order.
func (s *Set) declaring(hook string) []*extension.Extension {
	var list []*extension.Extension
	for _, x := range s.options.Ready() {
		if x.Declares(hook) {
			list = append(list, x)
		}
	}
	return list
}

// ask runs a hook in one extension. What fails is told and is no opinion: the result is nil then.
func (s *Set) ask(ctx context.Context, x *extension.Extension, a agent.Scope, h extension.HookRun) *featurewire.HookRunResult {
	result, err := s.run(ctx, x, a, h)
	if err != nil {
		return nil
	}
	return result
}

// run is ask for a caller that wants to know why there is none.
func (s *Set) run(ctx context.Context, x *extension.Extension, a agent.Scope, h extension.HookRun) (*featurewire.HookRunResult, error) {
	h.Scope = s.scope(a)
	result, err := x.RunHook(ctx, h)
	if err != nil {
		s.failed(x, h.Hook, err)
	}
	return result, err
}

// failed tells about a hook that gave no answer. A run that was given up is nobody's failure.
func (s *Set) failed(x *extension.Extension, hook string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	s.options.Diagnose(x, bounded(fmt.Sprintf("hook %q counts as no opinion: %v", hook, err)))
	if s.options.Failed != nil {
		s.options.Failed(x, hook, err)
	}
}

// maxDiagnosticBytes bounds a diagnostic that repeats what an extension said.
const maxDiagnosticBytes = 1024

func bounded(text string) string {
	if len(text) > maxDiagnosticBytes {
		return strings.ToValidUTF8(text[:maxDiagnosticBytes], "") + "…"
	}
	return text
}

// together runs f for every extension at once, and returns when all have returned.
func together(list []*extension.Extension, f func(n int, x *extension.Extension)) {
	if len(list) == 1 {
		f(0, list[0])
		return
	}
	var group sync.WaitGroup
	for n, x := range list {
		group.Go(func() { f(n, x) })
	}
	group.Wait()
}

// notifications of a result, as the agent knows them.
func notifications(x *extension.Extension, r *featurewire.HookRunResult) []agent.Notification {
	var list []agent.Notification
	for _, n := range x.AdmitNotifications(r.Notifications.Or(nil)) {
		list = append(list, agent.Notification{
			Source: x.Name(), Level: string(n.Level.Or(featurewire.NotificationLevelInfo)), Title: n.Title.Or(""), Message: n.Message,
		})
	}
	return list
}

// raw is a member of a payload whose form the wire leaves open.
func raw(name string, value any) wirejson.Member {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("hooks: member %s: %v", name, err)) // only values that can be written are given
	}
	return wirejson.Member{Name: name, Value: text}
}
