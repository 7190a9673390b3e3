package story

import (
	"cmp"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// compaction remembers how one began.
type compaction struct {
	id     string
	before oupwire.ContextState
	items  int64
	tokens int64
}

// Compactions tells compactions outside of turns.
type Compactions struct {
	session string
	world   World
	compaction
}

// NewCompactions makes a teller of compactions.
func NewCompactions(session string, world World) *Compactions {
	return &Compactions{session: session, world: world}
}

// Take returns what a compaction is told as; nothing for any other event.
func (c *Compactions) Take(e agent.Event) []ledger.Event {
	return c.compaction.take(c.session, e, c.world)
}

// take tells a step of a compaction. One that failed is told as completed with that status.
//
// Rules: OUP-COMPACT-001, OUP-COMPACT-004.
func (c *compaction) take(session string, e agent.Event, world World) []ledger.Event {
	state := func() oupwire.ContextState {
		if world.Context == nil {
			return oupwire.ContextState{SessionID: session, RecoveryState: oupwire.RecoveryStateExact}
		}
		return world.Context()
	}
	switch e := e.(type) {
	case agent.CompactionStarted:
		*c = compaction{id: event.NewID(world.Now()), before: state(), items: int64(e.Entries), tokens: e.TokensBefore}
		told := oupwire.ContextCompactionStartedEvent{SessionID: session, Topic: event.Topic(session), ContextState: c.before, Trigger: e.Trigger}
		if world.Threshold != nil {
			told.ThresholdTokens = max(world.Threshold(), 0)
		}
		return []ledger.Event{event.Of(session, oupwire.MethodContextCompactionStarted, told, ledger.Subject{}, ledger.Within)}
	case agent.CompactionSettled:
		after := state()
		r := c.record(e.Trigger, oupwire.CompactionStatusInstalled)
		r.OutputGeneration, r.TokenEstimateAfter = wirejson.Some(after.Generation), wirejson.Some(after.TokenEstimate)
		r.InstalledTranscriptHash, r.SummaryItemID = wirejson.Some(after.TranscriptHash), wirejson.Some(string(e.Entry))
		return []ledger.Event{c.completed(session, after, r)}
	case agent.CompactionFailed:
		r := c.record(e.Trigger, oupwire.CompactionStatusFailed)
		r.Error = wirejson.Some(Cut(e.Reason, oupwire.MaxToolErrorCharacters))
		return []ledger.Event{c.completed(session, state(), r)}
	}
	return nil
}

func (c *compaction) record(trigger string, status oupwire.CompactionStatus) oupwire.CompactionRecord {
	dropped := min(c.items, c.before.ItemCount)
	return oupwire.CompactionRecord{
		CompactionID: c.id, CheckpointID: cmp.Or(c.before.LastCheckpointID.Or(""), c.id), PolicyID: "policy:" + trigger, Trigger: trigger,
		InputTranscriptHash: c.before.TranscriptHash, Status: status, InputGeneration: c.before.Generation, InputItemCount: c.before.ItemCount,
		RetainedCount: c.before.ItemCount - dropped, DroppedCount: dropped, TokenEstimateBefore: max(c.tokens, 0),
	}
}

func (c *compaction) completed(session string, state oupwire.ContextState, r oupwire.CompactionRecord) ledger.Event {
	return event.Of(session, oupwire.MethodContextCompactionCompleted, oupwire.ContextCompactionCompletedEvent{
		SessionID: session, Topic: event.Topic(session), ContextState: state, Compaction: r,
	}, ledger.Subject{}, ledger.Within)
}
