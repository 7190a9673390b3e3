package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/session"
)

// bytesPerToken is the estimate where nothing was counted.
const bytesPerToken = 4

// ContextState says what the model is shown of the session.
func (s *Session) ContextState(ctx context.Context) oupwire.ContextState { return s.contextState(ctx) }

func (s *Session) contextState(ctx context.Context) oupwire.ContextState {
	state := oupwire.ContextState{SessionID: s.o.Key, RecoveryState: oupwire.RecoveryStateExact}
	branch, err := s.Branch(ctx)
	if err != nil { // what can be read of a damaged one is what it goes on with
		state.RecoveryState = oupwire.RecoveryStateRebuilt
	}
	from := 0
	for i, stored := range branch {
		if c, ok := stored.Value.(session.Compaction); ok {
			state.Generation++
			state.LastCompactionID = wirejson.Some(string(stored.ID))
			state.TokenEstimate = int64(len(c.Summary)) / bytesPerToken
			from = max(slices.IndexFunc(branch[:i], func(s session.Stored) bool { return s.ID == c.FirstKept }), 0)
		}
	}
	hash := sha256.New()
	for _, stored := range branch[from:] {
		m, ok := stored.Value.(session.Message)
		if !ok {
			continue
		}
		_, _ = hash.Write([]byte(stored.ID + "\n"))
		state.ItemCount++
		for _, part := range m.Message.Parts {
			state.TokenEstimate += int64(len(part.PlainText())+len(part.Arguments)+len(part.Data)) / bytesPerToken
		}
	}
	state.TranscriptHash = hex.EncodeToString(hash.Sum(nil))
	return state
}

// threshold is the number of tokens from which the conversation is shortened by itself; 0 where it is not known.
func (s *Session) threshold() int64 {
	s.mu.Lock()
	c := s.conversation
	s.mu.Unlock()
	if c == nil {
		return 0
	}
	_, info, _ := c.Model()
	return max(info.ContextWindow-min(reserve, info.ContextWindow/4), 0)
}

// reserve is what the agent keeps free of the context for an answer, at most a quarter of it.
const reserve = 16384

// row is the place of a message in the transcript, from 0.
func (s *Session) row(id string) int64 {
	branch, err := s.Branch(context.Background())
	if err != nil || id == "" {
		return 0
	}
	return int64(max(slices.IndexFunc(branch, func(stored session.Stored) bool { return string(stored.ID) == id }), 0))
}
