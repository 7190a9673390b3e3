package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// What makes a compaction begin.
const (
	triggerManual    = "manual"
	triggerThreshold = "threshold"
	triggerOverflow  = "overflow"
)

const summarySystem = `You write summaries of conversations between a user and a coding agent, so that the agent can go on without the conversation. Write down what the user wants, what was decided and why, what was done, which files and names matter, what failed, and what comes next. Leave out nothing that is needed to go on. Answer with the summary alone.`

// Compact sums up the conversation at once. ErrBusy, ErrNothingToCompact, or why there is no summary; then
// the conversation is as it was. An error of an after-hook comes with the compaction, which is stored.
func (a *Agent) Compact(ctx context.Context, instructions string) (Compaction, error) {
	if err := a.take(); err != nil {
		return Compaction{}, err
	}
	defer a.release()
	r := a.begin(ctx)
	if err := r.mend(); err != nil {
		return Compaction{}, err
	}
	branch, err := r.branch()
	if err != nil {
		return Compaction{}, err
	}
	return r.compact(branch, triggerManual, strings.TrimSpace(instructions))
}

// compactInRun makes room in the middle of a run. A failure of a hook behind it does not matter: the
// summary is stored.
func (r *run) compactInRun(branch []session.Stored, trigger string) error {
	made, err := r.compact(branch, trigger, "")
	if made.Entry != "" {
		return nil
	}
	return err
}

// compact stores something that stands in for the older part of the conversation.
func (r *run) compact(branch []session.Stored, trigger, instructions string) (Compaction, error) {
	_, kept := since(branch, r.view().sees)
	cut := r.cut(kept, trigger)
	if cut <= 0 {
		return Compaction{}, ErrNothingToCompact
	}
	plan := CompactionPlan{
		Trigger: trigger, FirstKept: kept[cut].ID, Entries: cut, Instructions: instructions,
		TokensBefore: r.tokens(branch, nil),
	}
	r.Emit(CompactionStarted{At: r.at(), Trigger: trigger, TokensBefore: plan.TokensBefore, Entries: cut})
	made, err := r.makeCompaction(plan, source(branch, plan.FirstKept))
	if err != nil {
		r.Emit(CompactionFailed{At: r.at(), Trigger: trigger, Reason: err.Error(), Stored: made.Entry})
		return made, err
	}
	r.Emit(CompactionSettled{At: r.at(), Trigger: trigger, Compaction: made})
	return made, nil
}

func (r *run) makeCompaction(plan CompactionPlan, text string) (made Compaction, err error) {
	if err := r.Hooks.BeforeCompact(r.ctx, r.scope(), plan); err != nil {
		return made, fmt.Errorf("the compaction was refused: %w", err)
	}
	value := session.Compaction{FirstKept: plan.FirstKept, Instructions: plan.Instructions, TokensBefore: plan.TokensBefore}
	batch := session.Batch{}
	tell := func() {}
	drawn, err := r.draw(&value, text)
	if err != nil {
		return made, err
	}
	switch {
	case drawn:
	case r.agent.plain.Load():
		value.Summary = plainSummary(text)
	default:
		if tell, err = r.summarize(&value, &batch, text); err != nil {
			return made, err
		}
	}
	batch.Entries = []session.Entry{{Value: value}}
	receipt, err := r.commit(batch)
	if err != nil {
		return made, err
	}
	r.agent.forget()
	made = Compaction{
		Entry: receipt.Entries[0], Summary: value.Summary, FirstKept: value.FirstKept, TokensBefore: value.TokensBefore, Source: value.Source,
	}
	tell()
	stored := session.Stored{ID: made.Entry, Time: r.Clock.Now(), Value: value}
	branch, err := r.branch()
	if err != nil {
		return made, err
	}
	if i := slices.IndexFunc(branch, func(s session.Stored) bool { return s.ID == made.Entry }); i >= 0 {
		stored = branch[i]
	}
	if err := r.Hooks.AfterCompact(r.ctx, r.scope(), stored); err != nil {
		return made, fmt.Errorf("the compaction is stored, but a hook behind it failed: %w", err)
	}
	return made, nil
}

// plainRoom is how many bytes a summary has that no model makes.
const plainRoom = 8 << 10

// plainSummary sums up without a model: the beginning and the end of what was said.
func plainSummary(text string) string {
	return "(shortened without a model: the beginning and the end of what was said)\n\n" + middleOut(text, plainRoom)
}

// SetPlain says whether compactions from here on ask no model for a summary: the beginning and the end of what was
// said stand in for it then.
func (a *Agent) SetPlain(plain bool) { a.plain.Store(plain) }

// draw asks hooks for pictures in place of a summary. A failure is one of the compaction: no summary is
// made in its place.
//
// EXT04-HOOK-086 to EXT04-HOOK-089.
func (r *run) draw(value *session.Compaction, text string) (bool, error) {
	if !r.view().sees || len(text) > featurewire.MaxCompactionSourceBytes {
		return false, nil
	}
	frames, ok, err := r.Hooks.CompactionStrategy(r.ctx, r.scope(), text)
	if err != nil || !ok {
		return false, err
	}
	total := 0
	for i, png := range frames.PNG {
		total += len(png)
		if !bytes.HasPrefix(png, []byte("\x89PNG\r\n\x1a\n")) {
			return false, fmt.Errorf("image %d of the compaction by %q is no PNG", i+1, frames.Source)
		}
	}
	if len(frames.PNG) == 0 || len(frames.PNG) > featurewire.MaxCompactionFrames || total > featurewire.MaxCompactionImageBytes {
		return false, fmt.Errorf("the compaction by %q has %d images of %d bytes, want 1 to %d of at most %d",
			frames.Source, len(frames.PNG), total, featurewire.MaxCompactionFrames, featurewire.MaxCompactionImageBytes)
	}
	value.Frames, value.Source = frames.PNG, frames.Source
	value.Summary = fmt.Sprintf("(drawn in %d images by %s)", len(frames.PNG), frames.Source)
	return true, nil
}

// summarize asks the model for a summary. What that has used goes into the batch.
func (r *run) summarize(value *session.Compaction, batch *session.Batch, text string) (tell func(), err error) {
	prompt := "Summarize this conversation.\n"
	if value.Instructions != "" {
		prompt += "\nThe user asks in particular: " + value.Instructions + "\n"
	}
	text = middleOut(text, r.summaryRoom())
	request := model.Request{
		Model: r.Model.Model, System: summarySystem,
		Messages: []conversation.Message{conversation.Say(conversation.User, prompt+"\n<conversation>\n"+text+"\n</conversation>")},
	}
	response, err := r.send(request, LocalCompaction, nil)
	if err != nil {
		return nil, err
	}
	tell = r.account(batch, session.UsageCompaction, response)
	value.Summary = strings.TrimSpace(validText(response.Message.PlainText()))
	if value.Summary == "" || stopped(response.Stop) != nil {
		// What it has used is stored all the same.
		if _, err := r.commit(*batch); err != nil {
			return nil, err
		}
		tell()
		if value.Summary == "" {
			return nil, errors.New("the model gave no summary")
		}
		return nil, fmt.Errorf("the model gave no whole summary: %w", stopped(response.Stop))
	}
	return tell, nil
}

// summaryRoom is how many bytes of text a request for a summary may hold: what surely fits into half of
// the model's window.
func (r *run) summaryRoom() int {
	const most = 1 << 20
	if window := r.Model.ContextWindow; window > 0 {
		return int(min(window/2*bytesPerToken, most))
	}
	return most
}

// middleOut cuts a text that is too long in its middle.
func middleOut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return validText(text[:most/3]) + "\n[... a part is left out here ...]\n" + validText(text[len(text)-most*2/3:])
}

// cut is the index of the first entry that stays: the newest entries of at most Keep tokens, and never
// between a call and its results. 0 means that nothing can be summed up.
func (r *run) cut(kept []session.Stored, trigger string) int {
	keep := r.Compaction.Keep
	if window := r.Model.ContextWindow; window > 0 {
		keep = min(keep, window/4)
	}
	boundary := boundaries(kept)
	var cut int
	if trigger == triggerManual && entriesTokens(kept) <= keep {
		cut = lastSaid(kept, boundary)
	} else {
		cut = newest(kept, boundary, keep)
	}
	if spoken(kept[:cut]) == 0 {
		return 0
	}
	return cut
}

// newest is where the newest entries begin that together have at most so many tokens; they are at least those
// behind the last boundary.
func newest(kept []session.Stored, boundary []bool, most int64) (cut int) {
	var tokens int64
	for i := len(kept) - 1; i > 0; i-- {
		if tokens += entryTokens(kept[i]); tokens > most && cut > 0 {
			break
		}
		if boundary[i] {
			cut = i
		}
	}
	return cut
}

// lastSaid is where the user has said something last: that is what stays of a short conversation that the
// user wants to be summed up. Where it begins with that, only the end stays.
func lastSaid(kept []session.Stored, boundary []bool) (cut int) {
	for i := len(kept) - 1; i > 0; i-- {
		if !boundary[i] {
			continue
		}
		if m, _ := messageOf(kept[i].Value); m.Role == conversation.User && spoken(kept[:i]) > 0 {
			return i
		}
		cut = max(cut, i)
	}
	return cut
}

// spoken counts the entries that say something to a model.
func spoken(entries []session.Stored) (n int) {
	for _, e := range entries {
		if _, ok := messageOf(e.Value); ok {
			n++
		}
	}
	return n
}

// boundaries tells which entries may be the first one that stays: those of which no call before them waits
// for its result, and that say something.
func boundaries(kept []session.Stored) []bool {
	may := make([]bool, len(kept))
	open := map[string]bool{}
	for i, stored := range kept {
		m, says := messageOf(stored.Value)
		may[i] = says && len(open) == 0 && m.Role != conversation.Tool
		for _, part := range m.Parts {
			switch part.Kind {
			case conversation.ToolCall:
				open[part.CallID] = true
			case conversation.ToolResult:
				delete(open, part.CallID)
			}
		}
	}
	return may
}
