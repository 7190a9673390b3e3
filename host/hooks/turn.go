package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/session"
)

var (
	errVeto    = errors.New("the compaction is refused")
	errReplace = errors.New("it replaces the compaction, which this host does not offer")
	errContext = errors.New("it adds context, which no answer of a model turn may")
)

// ModelTurnStart is awaited in the order of registration, one deadline for all. The first failure is
// returned.
func (s *Set) ModelTurnStart(ctx context.Context, a agent.Scope, t agent.ModelTurn) error {
	return s.await(ctx, a, featurewire.HookModelTurnStart, func(*extension.Extension) wirejson.Encoder {
		return featurewire.ModelTurnStartPayload{RunID: a.Run, TurnIndex: int64(t.Index), TimestampMs: t.Time.UnixMilli()}
	})
}

// ModelTurnEnd is awaited like the start. Entries are shown without the private metadata of others.
func (s *Set) ModelTurnEnd(ctx context.Context, a agent.Scope, t agent.ModelTurn, answer session.Stored, results []session.Stored) error {
	return s.await(ctx, a, featurewire.HookModelTurnEnd, func(x *extension.Extension) wirejson.Encoder {
		p := featurewire.ModelTurnEndPayload{
			RunID: a.Run, TurnIndex: int64(t.Index), TimestampMs: t.Time.UnixMilli(),
			AssistantEntry: entryFor(x, answer), ToolResultEntries: []featurewire.StoredEntry{},
		}
		for _, each := range results {
			p.ToolResultEntries = append(p.ToolResultEntries, entryFor(x, each))
		}
		return p
	})
}

// BeforeCompact is awaited in the order of registration. The first that fails or cancels refuses.
func (s *Set) BeforeCompact(ctx context.Context, a agent.Scope, c agent.CompactionPlan) error {
	payload := featurewire.SessionBeforeCompactPayload{Unknown: members(
		raw("trigger", c.Trigger), raw("first_kept", c.FirstKept), raw("entries", c.Entries), raw("tokens_before", c.TokensBefore),
		raw("instructions", c.Instructions),
	)}
	return s.await(ctx, a, featurewire.HookSessionBeforeCompact, func(*extension.Extension) wirejson.Encoder { return payload })
}

// AfterCompact is awaited in the order of registration. A failure changes nothing that is stored.
func (s *Set) AfterCompact(ctx context.Context, a agent.Scope, stored session.Stored) error {
	entry := map[string]any{"id": stored.ID, "parent": parentOf(stored), "timestamp_unix_ms": stored.Time.UnixMilli()}
	if c, ok := stored.Value.(session.Compaction); ok {
		entry["summary"], entry["first_kept"], entry["tokens_before"] = c.Summary, c.FirstKept, c.TokensBefore
	}
	payload := featurewire.SessionCompactPayload{Unknown: members(raw("entry", entry))}
	return s.await(ctx, a, featurewire.HookSessionCompact, func(*extension.Extension) wirejson.Encoder { return payload })
}

// await runs a session-operation hook in one extension after the other, within one deadline for all. Each
// has a private grant for as long as it is asked.
func (s *Set) await(ctx context.Context, a agent.Scope, hook string, payload func(*extension.Extension) wirejson.Encoder) error {
	list := s.declaring(hook)
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(featurewire.LookupHook(hook).DeadlineMS)*time.Millisecond)
	defer cancel()
	for _, x := range list {
		if err := s.awaitOne(ctx, x, a, hook, payload(x)); err != nil {
			return turnFailed(x, hook, err)
		}
	}
	return nil
}

func (s *Set) awaitOne(ctx context.Context, x *extension.Extension, a agent.Scope, hook string, payload wirejson.Encoder) error {
	h := extension.HookRun{Hook: hook, Payload: payload, Scope: s.scope(a)}
	leaf, end := s.options.Grant(x, a)
	defer end()
	h.Leaf = leaf
	r, err := x.RunHook(ctx, h)
	if err != nil {
		return err
	}
	if turns := hook == featurewire.HookModelTurnStart || hook == featurewire.HookModelTurnEnd; turns && len(r.Context.Or(nil)) > 0 {
		return errContext
	}
	x.Tell(r.Notifications.Or(nil))
	operation, _ := r.SessionOperation.Get()
	switch operation.(type) {
	case featurewire.SessionOperationCancel:
		return errVeto
	case featurewire.SessionOperationReplaceCompaction:
		return errReplace
	}
	return nil
}

// members puts members into the order of the wire.
func members(list ...wirejson.Member) []wirejson.Member {
	slices.SortFunc(list, func(a, b wirejson.Member) int { return strings.Compare(a.Name, b.Name) })
	return list
}
