package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/supervise"
)

// Show shows one event.
func (f *Front) Show(event agent.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.options.Sink != nil {
		f.options.Sink(event)
	}
	switch e := event.(type) {
	case agent.TurnStarted:
		f.streamed = false
		f.statusLocked("waiting for the model")
	case agent.TextDelta:
		f.deltaLocked(e.Text)
	case agent.ReasoningDelta:
		f.statusLocked("the model is reasoning")
	case agent.ToolCallDelta:
		f.statusLocked("the model is calling " + e.Name)
	case agent.AnswerDiscarded:
		f.settleLocked()
		if f.streamed {
			f.noteLocked(f.paint(yellow, "  that answer is void: "+line(e.Reason)))
		}
		f.streamed = false
	case agent.Message:
		f.messageLocked(e)
	case agent.ToolStarted, agent.ToolProgress, agent.ToolFinished, engine.Rendered:
		f.toolLocked(event)
	case agent.PermissionDecided:
		if e.Decision == permission.Deny {
			f.told["denied "+e.CallID] = true
			f.noteLocked(f.paint(yellow, fmt.Sprintf("  %s may not run: %s", line(e.Name), line(e.Reason))))
		}
	case agent.Notified:
		f.notifiedLocked(e.Notification)
	case agent.RunSettled:
		f.settleLocked()
		f.unshownLocked()
	default:
		f.troubleLocked(event)
	}
}

// deltaLocked shows a piece of an answer as it grows.
func (f *Front) deltaLocked(text string) {
	if f.options.Quiet || text == "" {
		return
	}
	f.clearLocked()
	f.streamed = true
	f.sayLocked(f.foreign(text))
	f.inText = !strings.HasSuffix(text, "\n")
}

// foreign is a text of the model: a terminal gets it without anything that could steer it, a file gets the
// bytes as they are.
func (f *Front) foreign(text string) string {
	if f.options.Terminal {
		return Plain(text)
	}
	return text
}

// messageLocked ends an answer. One that came without deltas is shown as a whole.
func (f *Front) messageLocked(e agent.Message) {
	if e.Message.Role != conversation.Assistant {
		return
	}
	if text := e.Message.PlainText(); !f.streamed && !f.options.Quiet && text != "" {
		f.clearLocked()
		f.sayLocked(f.foreign(text))
		f.inText = !strings.HasSuffix(text, "\n")
	}
	f.streamed = false
	f.settleLocked()
}

// toolLocked shows a call of a tool.
func (f *Front) toolLocked(event agent.Event) {
	switch e := event.(type) {
	case agent.ToolStarted:
		subject := e.Summary.Subject
		if subject == "" && len(e.Arguments) > 2 {
			subject = string(e.Arguments)
		}
		f.noteLocked(f.paint(dim, cut("* "+line(e.Name+" "+subject), maxStatus)))
		f.statusLocked(e.Name + " is running")
	case agent.ToolProgress:
		f.progressLocked(e)
	case agent.ToolFinished:
		f.clearLocked()
		for _, change := range e.Changes {
			f.noteLocked(f.paint(dim, fmt.Sprintf("  %s %s +%d -%d", change.Kind, line(change.Path), change.Added, change.Removed)))
		}
		why := cut(line(textOf(e.Result.Content)), 2*maxStatus)
		switch {
		case e.Status == agent.ToolFailed:
			f.noteLocked(f.paint(red, "  "+line(e.Name)+" failed: "+why))
		case e.Status == agent.ToolDenied && f.onceLocked("denied "+e.CallID):
			f.noteLocked(f.paint(yellow, "  "+line(e.Name)+" may not run: "+why))
		}
	case engine.Rendered:
		f.noteLocked(indent(Plain(e.Text)))
	}
}

func textOf(parts []conversation.Part) string {
	return conversation.Message{Parts: parts}.PlainText()
}

// progressLocked shows news of a call: output as lines, all else as the status.
func (f *Front) progressLocked(e agent.ToolProgress) {
	switch {
	case e.Stream != "":
		for part := range strings.SplitSeq(strings.TrimSuffix(e.Data, "\n"), "\n") {
			f.noteLocked(f.paint(dim, "  | "+cut(Plain(strings.TrimSuffix(part, "\r")), 2*maxStatus)))
		}
	case e.Label != "":
		f.statusLocked(e.Label + " " + e.Detail)
	default:
		f.statusLocked(strings.TrimSpace(count(e.Current, e.Total, e.Unit) + " " + e.Message))
	}
}

func count(current, total *int64, unit string) string {
	var text string
	switch {
	case current != nil && total != nil:
		text = fmt.Sprintf("%d/%d", *current, *total)
	case current != nil:
		text = fmt.Sprint(*current)
	default:
		return ""
	}
	return strings.TrimSpace(text + " " + unit)
}

// maxNotified is how many notifications of one extension are shown between two prompts.
const maxNotified = 20

// notifiedLocked shows a notification. What exceeds the bound is counted, and told of at the end of the run.
func (f *Front) notifiedLocked(n agent.Notification) {
	f.notified[n.Source]++
	switch count := f.notified[n.Source]; {
	case count == maxNotified+1:
		f.noteLocked(f.paint(dim, fmt.Sprintf("  %d notifications of %s are shown; further ones are counted", maxNotified, line(n.Source))))
		return
	case count > maxNotified:
		return
	}
	k, known := map[string]colour{"success": green, "warning": yellow, "error": red}[n.Level]
	text := n.Level
	if n.Source != "" {
		text += " from " + n.Source
	}
	if n.Title != "" {
		text += ": " + n.Title
	}
	text = Plain(text + ": " + n.Message)
	if known {
		text = f.paint(k, text)
	}
	f.noteLocked(text)
}

// troubleLocked shows retries, waits, compaction and news of extensions.
func (f *Front) troubleLocked(event agent.Event) {
	switch e := event.(type) {
	case agent.RetryScheduled:
		f.noteLocked(f.paint(yellow, fmt.Sprintf("  the model failed: %s; attempt %d comes in %s", line(e.Reason), e.Attempt, round(e.Millis))))
	case agent.WaitingForNetwork:
		if f.options.Terminal {
			f.statusLocked(fmt.Sprintf("no network for %s; octet goes on when it is back", round(e.Waited)))
		} else if f.onceLocked("network " + e.Run) {
			f.noteLocked("waiting for the network")
		}
	case agent.NetworkBack:
		f.clearLocked()
	case agent.UsageUncertain:
		if f.onceLocked("uncertain") {
			f.noteLocked(f.paint(yellow, "  some usage was not counted ("+line(e.Reason)+"): figures are known subtotals from here on"))
		}
	case agent.CompactionStarted:
		f.statusLocked(fmt.Sprintf("summing up %d entries", e.Entries))
	case agent.CompactionSettled:
		f.noteLocked(f.paint(dim, fmt.Sprintf("  the conversation was summed up (%d tokens before)", e.TokensBefore)))
	case agent.CompactionFailed:
		f.noteLocked(f.paint(yellow, "  the conversation was not summed up: "+line(e.Reason)))
	case engine.Diagnosed:
		f.diagnosedLocked(e.Diagnostic)
	case engine.SessionOpened:
		if e.ByExtension {
			f.noteLocked(fmt.Sprintf("an extension has put another conversation in front: session %s, %s %s", line(e.Session), line(e.Provider), line(e.Model)))
		}
	case engine.ExtensionChanged:
		f.changedLocked(e)
	case engine.StatusShown:
		key := e.Extension + "/" + e.Surface
		if e.Text == "" {
			delete(f.statuses, key)
		} else {
			f.statuses[key] = cut(line(e.Text), 40)
		}
	}
}

// changedLocked tells of extensions that fail, with the reason once it is known; the rest is shown where everything
// is. One that is gone because octet ends is never started again, and nothing is said.
func (f *Front) changedLocked(e engine.ExtensionChanged) {
	text := fmt.Sprintf("extension %s: %s", line(e.Name), e.State)
	if e.State == supervise.Backoff {
		text = fmt.Sprintf("extension %s has gone and is started again", line(e.Name))
	}
	if e.Reason != "" && e.Generation > 0 { // what never started is told of as a diagnostic
		text += ": " + cut(line(e.Reason), maxReason)
	}
	switch e.State {
	case supervise.Backoff, supervise.Parked, supervise.Degraded:
		f.noteLocked(f.paint(yellow, text))
	default:
		if f.options.Verbose {
			f.noteLocked(f.paint(dim, text))
		}
	}
}

// maxReason bounds what is shown of a reason.
const maxReason = 400

// unshownLocked tells how many notifications were not shown, and begins to count anew.
func (f *Front) unshownLocked() {
	for _, source := range slices.Sorted(maps.Keys(f.notified)) {
		if more := f.notified[source] - maxNotified; more > 0 {
			f.noteLocked(f.paint(yellow, fmt.Sprintf("  %d more notifications of %s were not shown", more, line(source))))
		}
	}
	clear(f.notified)
}

func round(millis int64) time.Duration {
	return (time.Duration(millis) * time.Millisecond).Round(100 * time.Millisecond)
}
