package session

import "github.com/octet-dev/octet/host/conversation"

// UsageKind says what a usage was for.
type UsageKind string

// The kinds of usage.
const (
	UsageTurn           UsageKind = "turn"
	UsageCompaction     UsageKind = "compaction"
	UsageDelegatedAgent UsageKind = "delegated_agent" // all of a child session; one record for each child
	UsageOther          UsageKind = "other"
)

// UsageRecord says what one request to a model, or one child session, has cost.
type UsageRecord struct {
	Kind     UsageKind          `json:"kind"`
	Provider string             `json:"provider,omitempty"`
	Model    string             `json:"model,omitempty"`
	Run      string             `json:"run,omitempty"`
	Child    string             `json:"child,omitempty"` // the session, for delegated_agent
	Usage    conversation.Usage `json:"usage"`
}

// Uncertainty says that more may have been used than anybody has counted. From then on totals are known
// subtotals.
type Uncertainty struct {
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Run      string `json:"run,omitempty"`
	Child    string `json:"child,omitempty"`
	Reason   string `json:"reason"`
}

// Totals sums the usage records of a session.
type Totals struct {
	// Usage is what is known, children included.
	Usage conversation.Usage `json:"usage"`
	// Delegated is the part of it that children have used.
	Delegated conversation.Usage `json:"delegated"`
	// Uncertain says that Usage is a known subtotal: something was used that nobody counted.
	Uncertain bool `json:"uncertain"`
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Completed   Outcome = "completed"
	Cancelled   Outcome = "cancelled"
	Errored     Outcome = "errored"
	Interrupted Outcome = "interrupted"
)

// CodeOrphaned is the code of a run whose process ended before the run did.
const CodeOrphaned = "orphaned_by_restart"

// Settlement is the one terminal of a run.
type Settlement struct {
	Run     string  `json:"run"`
	Outcome Outcome `json:"outcome"`
	Code    string  `json:"code,omitempty"`
	Text    string  `json:"text,omitempty"`
}

// Batch is what one transaction writes, in the order of its fields: all of it is on disk, or nothing.
type Batch struct {
	Entries     []Entry
	Usage       []UsageRecord
	Uncertainty []Uncertainty
	// Start is the id of a run that begins with this batch. If it is RunOfFirst, the run is named for the
	// first entry of the batch.
	Start string
	// Settle ends the run that is going on. The checkpoint that it writes stands behind everything else.
	Settle *Settlement
}

// RunOfFirst stands for "run:" and the id of the first entry of the batch.
const RunOfFirst = "run:first"

// Receipt says what a batch became.
type Receipt struct {
	Entries []EntryID
	Run     string // that was started
}
