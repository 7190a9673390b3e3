package agent

import (
	"context"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Hooks are what others may say at the seams of a run. The agent calls them one at a time for each run,
// except BeforeToolCall and AfterToolCall of calls that overlap. Deadlines of their own, order, merging and
// diagnostics are the implementation's; ctx ends when the run is cancelled. What fails inside is no opinion
// unless a method says otherwise.
//
// Sheet: feature wire 9.
type Hooks interface {
	// BeforePrompt sees what the user said before anything of it is stored. The run is "" then.
	BeforePrompt(ctx context.Context, s Scope, prompt string) Opinion
	// CollectContext gathers what extensions contribute to the prompt.
	CollectContext(ctx context.Context, s Scope, prompt string) ([]Context, []Notification)
	// BeforeToolCall sees a call whose arguments are valid, before permission is asked.
	BeforeToolCall(ctx context.Context, s Scope, call tool.Call) Opinion
	// AfterToolCall sees a call that was run, before its result is stored.
	AfterToolCall(ctx context.Context, s Scope, call tool.Call, result tool.Result) []Notification
	// AfterResponse sees the answer of a run that is complete and successful, never another one.
	AfterResponse(ctx context.Context, s Scope, response string) []Notification
	// ProviderRetry advises on a retry that the agent is about to make. ctx ends with the planned wait.
	ProviderRetry(ctx context.Context, s Scope, r RetryPlan) RetryAdvice
	// BeforePersistence yields what is stored with an answer. It never fails.
	BeforePersistence(ctx context.Context, s Scope, p Persistence) session.Metadata
	// PostMutation sees what a call has changed, and returns the resources that should be read again.
	PostMutation(ctx context.Context, s Scope, m Mutation) []string
	// ModelTurnStart is awaited before a turn is prepared, once a turn; ModelTurnEnd once the answer and all
	// its tool results are stored. An error ends the run; what is stored stays.
	ModelTurnStart(ctx context.Context, s Scope, t ModelTurn) error
	ModelTurnEnd(ctx context.Context, s Scope, t ModelTurn, answer session.Stored, results []session.Stored) error
	// BeforeCompact is awaited before a compaction. An error refuses it.
	BeforeCompact(ctx context.Context, s Scope, c CompactionPlan) error
	// AfterCompact is awaited once it is stored. An error makes the compaction count as failed; it stays.
	AfterCompact(ctx context.Context, s Scope, stored session.Stored) error
	// CompactionStrategy draws the text as PNG images in place of a summary. ok is false where nobody wants
	// to; an error fails the compaction, and no summary is made in its place. It is asked only for models
	// that see.
	CompactionStrategy(ctx context.Context, s Scope, text string) (frames Frames, ok bool, err error)
	// CacheWarming returns the action after the hooks; d.Action is the one of the host.
	CacheWarming(ctx context.Context, s Scope, d CacheDecision) CacheAction
}

// Scope says on whose behalf a hook is run.
type Scope struct {
	Session   string // id in the store
	Owner     string // the opaque id that extensions are told
	Run       string // "run:" and the id of the user's entry; empty before that is stored
	Turn      int    // of the run, from 0
	Execution string // the id of the tool call; empty outside of one
	Provider  string
	Model     string
	Reasoning string
}

// Opinion is the answer to a question that may be denied.
type Opinion struct {
	// Deny is the reason of a denial; nil lets it pass.
	Deny          *string
	Context       []Context
	Notifications []Notification
}

// Placement says where a piece of context goes.
type Placement string

// The placements. An empty one is PromptSuffix.
const (
	SystemPrefix = Placement(featurewire.ContextPlacementSystemPrefix)
	SystemSuffix = Placement(featurewire.ContextPlacementSystemSuffix)
	PromptPrefix = Placement(featurewire.ContextPlacementPromptPrefix)
	PromptSuffix = Placement(featurewire.ContextPlacementPromptSuffix)
)

// Context is text that goes to the model beside what people say. Placed at the system prompt it holds for
// the run; placed at the prompt it is stored with what the user said and stays in the conversation, while
// people are shown the user's own words. Context of a tool call is stored with its result.
type Context struct {
	Source    string // the extension; empty: the host
	Label     string
	Content   string
	Placement Placement
}

// Notification is something that the user is shown.
type Notification struct {
	Source  string `json:"source,omitempty"` // the extension; empty: the host
	Level   string `json:"level"`            // info, success, warning or error
	Title   string `json:"title,omitempty"`
	Message string `json:"message"`
}

// Operation names a request to a model that is not the main answer; empty for that.
type Operation string

// LocalCompaction is the request for a summary.
const LocalCompaction = Operation(featurewire.ProviderOperationLocalCompaction)

// RetryPlan is a retry that is about to be made.
type RetryPlan struct {
	Kind        string // before_generation, stream_start, interrupted_inference or waiting_for_network
	Attempt     int    // the one that would come, from 2
	MaxAttempts int    // 0: without bound, for waiting_for_network
	Operation   Operation
	Delay       time.Duration
}

// RetryAdvice is what hooks say of a retry. The agent adds at most five seconds, whatever Delay is.
type RetryAdvice struct {
	Stop   bool
	Delay  time.Duration // additional
	Reason string        // of Stop, for records; may be empty
}

// Persistence describes an answer that is about to be stored.
type Persistence struct {
	Protocol   string
	StopReason string
	TextBytes  int64
	ToolCalls  int64
	Reasonings int64
	Media      int64
}

// Mutation tells of changes that were made.
type Mutation struct {
	ID        string   // opaque lower-case ASCII, at most 128 bytes, never used twice
	Kind      string   // configuration, resource or migration_ingestion
	State     string   // committed or rolled_back
	Resources []string // opaque ids, sorted, at most 32
}

// ModelTurn is one turn of a run.
type ModelTurn struct {
	Index int // from 0
	Time  time.Time
}

// CompactionPlan is a compaction that is about to be made.
type CompactionPlan struct {
	Trigger      string // manual, threshold or overflow
	FirstKept    session.EntryID
	Entries      int // that the summary would stand in for
	TokensBefore int64
	Instructions string
}

// Frames are pictures in place of a summary.
type Frames struct {
	Source string // the extension that drew them
	PNG    [][]byte
}

// CacheAction is what to do with a provider cache that is about to be lost.
type CacheAction string

// The actions.
const (
	WarmCache = CacheAction(featurewire.CacheWarmingActionWarm)
	StopCache = CacheAction(featurewire.CacheWarmingActionStop)
)

// CacheDecision is what the agent would do, and why.
type CacheDecision struct {
	Phase           string // streaming or idle
	WarmCost        int64  // microdollars
	MissCost        int64  // microdollars
	Continuation    float64
	ExpectedSavings int64 // microdollars; may be negative
	Economics       bool  // the numbers are known
	Action          CacheAction
}

// NoHooks has no opinion. Embed it to implement some of Hooks.
type NoHooks struct{}

var _ Hooks = NoHooks{}

// BeforePrompt lets every prompt pass.
func (NoHooks) BeforePrompt(context.Context, Scope, string) Opinion { return Opinion{} }

// CollectContext adds nothing.
func (NoHooks) CollectContext(context.Context, Scope, string) ([]Context, []Notification) {
	return nil, nil
}

// BeforeToolCall lets every call pass.
func (NoHooks) BeforeToolCall(context.Context, Scope, tool.Call) Opinion { return Opinion{} }

// AfterToolCall says nothing.
func (NoHooks) AfterToolCall(context.Context, Scope, tool.Call, tool.Result) []Notification {
	return nil
}

// AfterResponse says nothing.
func (NoHooks) AfterResponse(context.Context, Scope, string) []Notification { return nil }

// ProviderRetry leaves the plan as it is.
func (NoHooks) ProviderRetry(context.Context, Scope, RetryPlan) RetryAdvice { return RetryAdvice{} }

// BeforePersistence adds nothing.
func (NoHooks) BeforePersistence(context.Context, Scope, Persistence) session.Metadata {
	return session.Metadata{}
}

// PostMutation wants nothing read again.
func (NoHooks) PostMutation(context.Context, Scope, Mutation) []string { return nil }

// ModelTurnStart lets the turn start.
func (NoHooks) ModelTurnStart(context.Context, Scope, ModelTurn) error { return nil }

// ModelTurnEnd lets the run go on.
func (NoHooks) ModelTurnEnd(context.Context, Scope, ModelTurn, session.Stored, []session.Stored) error {
	return nil
}

// BeforeCompact lets every compaction pass.
func (NoHooks) BeforeCompact(context.Context, Scope, CompactionPlan) error { return nil }

// AfterCompact says nothing.
func (NoHooks) AfterCompact(context.Context, Scope, session.Stored) error { return nil }

// CompactionStrategy leaves the summary to the model.
func (NoHooks) CompactionStrategy(context.Context, Scope, string) (Frames, bool, error) {
	return Frames{}, false, nil
}

// CacheWarming leaves the decision as it is.
func (NoHooks) CacheWarming(_ context.Context, _ Scope, d CacheDecision) CacheAction { return d.Action }
