// Package agent is the kernel: it takes what a user says, asks a model, runs the tools that the model calls,
// and goes on until the model is done. The terminal and the server stand on the same Agent.
//
// Everything that is said is on disk before anybody is told of it. Every call of a tool gets exactly one
// result, every run exactly one outcome, however it ends.
package agent

import (
	"context"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Journal is the durable conversation. *session.Session is one.
type Journal interface {
	ID() string
	// Owner is the opaque id that extensions are told.
	Owner() string
	// Commit returns once the batch is on disk.
	Commit(ctx context.Context, batch session.Batch) (session.Receipt, error)
	// Branch returns the entries from the first to the head.
	Branch(ctx context.Context) ([]session.Stored, error)
	Usage(ctx context.Context) (session.Totals, error)
}

// ToolInterface says how tools are shown to the model.
type ToolInterface string

const (
	// Direct advertises every tool of the snapshot.
	Direct ToolInterface = "direct"
	// Fixed advertises FixedTools, discover_tools and run_tool, whatever comes and goes: the list is the same
	// in every request, so that a provider's cache of it holds.
	Fixed ToolInterface = "fixed"
)

// Options are what an agent works with. Provider, Model, Tools, Session and Permission are required.
type Options struct {
	Provider  model.Provider
	Model     model.Info
	Reasoning string // a label of Model.Reasoning; empty: off

	Tools     tool.Source
	Interface ToolInterface // empty: Direct
	// Visible is what the model is shown of a snapshot and may call itself; the rest can be called on behalf
	// of another call. Nil: all of it.
	Visible    func(tool.Snapshot) []tool.Tool
	Session    Journal
	Permission permission.Gate
	Hooks      Hooks // nil: NoHooks
	// Emit takes live events, one at a time and in order. While it runs, the run does not go on. It must not
	// call the agent, except Steer, FollowUp and Running. Nil drops them.
	Emit func(Event)

	// System is the beginning of the system prompt: who the model is and where it works.
	System string

	Limits     Limits
	Retry      Retry
	Compaction CompactionOptions
	Warming    Warming
	Clock      Clock // nil: the system's
	// Random yields numbers in [0, 1) for jitter. Nil: math/rand/v2.
	Random func() float64
}

// Limits bound one run. Zero means no bound.
type Limits struct {
	Turns            int   // answers of the model
	CostMicrodollars int64 // known cost
	Tokens           int64 // known tokens, all buckets
	// OutputTokens bounds one answer; 0: what the model allows.
	OutputTokens int64
}

// Retry says how often a request is sent again. Zero fields mean the defaults.
type Retry struct {
	Attempts int           // of one request in all; default 5
	Base     time.Duration // before the second attempt; doubles from there; default 1 s
	Most     time.Duration // bounds the doubling, never what a provider asks for; default 30 s
	// Patience is the longest wait that a provider may ask for; one that asks for more has failed. Default
	// 10 minutes.
	Patience time.Duration
	// Network is the wait between two attempts while there is no network, unlimited in number: it doubles
	// from Base up to Network. Default 15 s.
	Network time.Duration
}

// CompactionOptions say when a conversation is summed up. Zero fields mean the defaults.
type CompactionOptions struct {
	Off bool // never by itself
	// Reserve is the part of the context window, in tokens, that is kept free for an answer; a request that
	// would leave less begins with a compaction. Default 16384, at most a quarter of the window.
	Reserve int64
	// Keep is how many tokens of the newest entries stay as they are, at most. Default 20000, and no more
	// than a quarter of the window.
	Keep int64
}

// Warming says when a provider's cache of the conversation is kept alive with a request that asks for
// nothing. Every is how long after the last request it is due; 0: never.
type Warming struct {
	Every time.Duration
	// Continuation is how likely another request follows, in [0, 1]. Default 0.5.
	Continuation float64
	// Most bounds the refreshes between two real requests. Default 3.
	Most int
}

// Clock is time. After behaves like time.After.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// Prompt is what a user says.
type Prompt struct {
	Text string
	// Media are image and audio parts behind the text.
	Media []conversation.Part
	// Display is what people are shown in place of the text; empty: the text.
	Display string
	// Context is added to what hooks and extensions contribute, in front of it.
	Context []Context
	// Metadata is kept with what the user said.
	Metadata session.Metadata
	// Run is the id of the run, one that no run of the conversation had; empty: one is made.
	Run string
}

// Status says how a run ended.
type Status string

// The ways in which a run ends. All but denied are those that extensions are told.
const (
	Completed    = Status(featurewire.SettlementOutcomeCompleted)
	Failed       = Status(featurewire.SettlementOutcomeFailed)
	Cancelled    = Status(featurewire.SettlementOutcomeCancelled)
	Interrupted  = Status(featurewire.SettlementOutcomeInterrupted)
	Disconnected = Status(featurewire.SettlementOutcomeFrontendDisconnected)
	Shutdown     = Status(featurewire.SettlementOutcomeShutdown)
	LimitReached = Status(featurewire.SettlementOutcomeLimitReached)
	// Denied: a hook did not let the prompt pass. Nothing was stored, and there was no run_started.
	Denied Status = "denied"
)

// Outcome is the one end of a run.
type Outcome struct {
	Run    string `json:"run,omitempty"` // empty if nothing was stored
	Status Status `json:"status"`
	// Code is stable, for programs; empty for completed. See the Code constants.
	Code string `json:"code,omitempty"`
	// Reason is a sentence for people; empty for completed.
	Reason string `json:"reason,omitempty"`
	// Text is the last answer of the model.
	Text  string             `json:"text,omitempty"`
	Turns int                `json:"turns"`
	Calls int                `json:"calls"` // of tools
	Usage conversation.Usage `json:"usage"` // of this run, as far as known
	// Uncertain says that Usage is a known subtotal.
	Uncertain bool          `json:"uncertain,omitempty"`
	Duration  time.Duration `json:"-"`
	// Undelivered are texts of Steer and FollowUp that the model was never told.
	Undelivered []string `json:"undelivered,omitempty"`
}

// Codes of outcomes.
const (
	CodeCancelled  = "cancelled"
	CodeProvider   = "provider_failed"
	CodeStore      = "store_failed"
	CodeTools      = "tools_unavailable"
	CodeHook       = "hook_failed"
	CodeDenied     = "denied"
	CodeTurns      = "turn_limit"
	CodeCost       = "cost_limit"
	CodeTokens     = "token_limit"
	CodeLength     = "output_limit"
	CodeFiltered   = "filtered"
	CodeContext    = "context_full"
	CodeBadRequest = "invalid_prompt"
)

// Compaction is one that was made.
type Compaction struct {
	Entry        session.EntryID `json:"entry"`
	Summary      string          `json:"summary"`
	FirstKept    session.EntryID `json:"first_kept"`
	TokensBefore int64           `json:"tokens_before"`
	Source       string          `json:"source,omitempty"` // the extension that made it
}
