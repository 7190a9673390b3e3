package house_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/permission"
)

// commanding lets the model run one command after the other, and then say what came of the last one.
func (b *brain) commanding(commands ...string) {
	var next atomic.Int64
	b.does(func(_ context.Context, r model.Request, say func(string)) (*model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		n := int(next.Add(1))
		if last.Role == conversation.User {
			n = 1
			next.Store(1)
		}
		if n <= len(commands) {
			return calls("call-"+commands[n-1]+"-"+r.Messages[0].PlainText()+string(rune('0'+len(r.Messages)%10)), "shell", `{"command":"echo `+commands[n-1]+`"}`), nil
		}
		text := last.Parts[0].PlainText()
		say(text)
		return said(text), nil
	})
}

// asked waits for the n-th request for approval, from 1.
func (f *follower) asked(n int) oupwire.ApprovalRequestedEvent {
	f.t.Helper()
	count := 0
	s := f.until("a request for approval", func(s ledger.Stored) bool {
		if s.Method == oupwire.MethodApprovalRequested {
			count++
		}
		return count == n && s.Method == oupwire.MethodApprovalRequested
	})
	told, err := oupwire.DecodeApprovalRequestedEvent(s.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return told
}

func TestApproval_letsACommandRun(t *testing.T) {
	r := newPlace(t).open(nil)
	r.brain.commanding("one")
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), "go")
	asked := f.asked(1)
	details, _ := asked.TypedDetails.Get()
	command, _ := details.Command.Get()
	if asked.ToolName != "shell" || asked.Body != "echo one" || asked.TurnID != turn(1) || asked.Risk.Or("") != "unspecified" ||
		command.CommandLine.Or("") != "echo one" || command.Cwd.Or("") != r.workspace {
		t.Errorf("asked was %s", asked.AppendJSON(nil))
	}
	if list := s.Pending().Approvals(); len(list) != 1 || list[0].ApprovalID != asked.ApprovalID {
		t.Errorf("pending are %+v", list)
	}
	decided, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: asked.ApprovalID, Decision: "approve", Note: "fine", By: "_main"})
	if err != nil || !decided.Resumed || decided.Event.Seq == 0 {
		t.Fatalf("%+v, %v", decided, err)
	}
	f.ended(turn(1))
	waitIdle(t, s)
	const want = `turn/started
user go
progress/updated
approval/requested
approval/decided approve
tool_start shell {"command":"echo one"}
oupwire.ToolProgressPayload
tool_end complete
delta one
[exit code 0]
persisted one
[exit code 0]
progress/updated
terminal completed
`
	if got := f.told(); squeeze(got) != squeeze(want) {
		t.Errorf("told was\n%s", got)
	}
	var before *pending.NotPendingError
	_, err = s.Pending().Decide(t.Context(), pending.Decision{Approval: asked.ApprovalID, Decision: "deny"})
	if !errors.As(err, &before) || before.Decision != "approve" || before.Title != asked.Title || before.Turn != turn(1) {
		t.Errorf("a second decision: %v", err)
	}
	var unknown *pending.UnknownError
	if _, err = s.Pending().Decide(t.Context(), pending.Decision{Approval: turn(9), Decision: "deny"}); !errors.As(err, &unknown) {
		t.Errorf("a decision about nothing: %v", err)
	}
	other := r.session("other")
	if _, err = other.Pending().Decide(t.Context(), pending.Decision{Approval: asked.ApprovalID, Decision: "deny"}); !errors.As(err, &unknown) {
		t.Errorf("a decision from another session: %v", err)
	}
}

// squeeze leaves out empty lines and spaces at ends.
func squeeze(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// TestApproval_showsTheWholeCommand: what is asked about is what would run, also where lines end.
func TestApproval_showsTheWholeCommand(t *testing.T) {
	r := newPlace(t).open(nil)
	r.brain.calling("shell", `{"command":"echo a\nrm -rf b"}`)
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), "go")
	asked := f.asked(1)
	details, _ := asked.TypedDetails.Get()
	command, _ := details.Command.Get()
	if want := "echo a\nrm -rf b"; asked.Body != want || command.CommandLine.Or("") != want {
		t.Errorf("asked was %s", asked.AppendJSON(nil))
	}
	if _, err := s.Interrupt(t.Context(), turn(1)); err != nil {
		t.Fatal(err)
	}
}

func TestApproval_denies(t *testing.T) {
	for _, decision := range []oupwire.ApprovalDecision{"deny", "maybe"} {
		r := newPlace(t).open(nil)
		r.brain.commanding("one")
		s := r.session(chat)
		f := r.follow(chat)
		begin(t, s, turn(1), "go")
		if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: f.asked(1).ApprovalID, Decision: decision, Note: "not this"}); err != nil {
			t.Fatal(err)
		}
		f.ended(turn(1))
		told := f.told()
		for _, want := range []string{"approval/decided " + string(decision) + "\n", "tool_start shell \n", "tool_end skipped\n", "not this", "terminal completed\n"} {
			if !strings.Contains(told, want) {
				t.Errorf("%s: %q is missing in\n%s", decision, want, told)
			}
		}
	}
}

func TestApproval_isRemembered(t *testing.T) {
	for _, c := range []struct {
		scope, match string
		second       bool // another turn asks again
	}{
		{"approve_for_turn", turn(1), true}, {"approve_for_session", "*", false}, {"tool", "shell", false}, {"once", "", true}, {"for ever", "", true},
	} {
		r := newPlace(t).open(nil)
		r.brain.commanding("one", "two")
		s := r.session(chat)
		f := r.follow(chat)
		begin(t, s, turn(1), "go")
		if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: f.asked(1).ApprovalID, Decision: "approve", Scope: c.scope}); err != nil {
			t.Fatal(err)
		}
		if c.match == "" {
			if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: f.asked(2).ApprovalID, Decision: "approve"}); err != nil {
				t.Fatal(err)
			}
		} else if list := s.Pending().Remembered(); s.Running() != "" && (len(list) != 1 || list[0].ScopeMatch != c.match) {
			t.Errorf("%s: remembered are %+v", c.scope, list)
		}
		f.ended(turn(1))
		waitIdle(t, s)
		if got, want := strings.Count(f.told(), "approval/auto_resolved\napproval/decided approve\n"), map[bool]int{true: 1}[c.match != ""]; got != want {
			t.Errorf("%s: %d resolved by themselves in\n%s", c.scope, got, f.told())
		}
		begin(t, s, turn(2), "again")
		if c.second {
			f.until("another request", func(stored ledger.Stored) bool {
				asked, err := oupwire.DecodeApprovalRequestedEvent(stored.Body)
				return err == nil && stored.Method == oupwire.MethodApprovalRequested && asked.TurnID == turn(2)
			})
			if _, err := s.Interrupt(t.Context(), turn(2)); err != nil {
				t.Fatal(err)
			}
		}
		f.ended(turn(2))
		waitIdle(t, s)
	}
}

func TestApproval_isTakenBackByAnInterrupt(t *testing.T) {
	r := newPlace(t).open(nil)
	r.brain.commanding("one")
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), "go")
	asked := f.asked(1)
	if _, err := s.Interrupt(t.Context(), turn(1)); err != nil {
		t.Fatal(err)
	}
	f.ended(turn(1))
	told := f.told()
	if !strings.Contains(told, "approval/cancelled turn_interrupted\n") || !strings.HasSuffix(told, "terminal interrupted interrupted\n") {
		t.Errorf("told was\n%s", told)
	}
	var cancelled *pending.CancelledError
	if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: asked.ApprovalID, Decision: "approve"}); !errors.As(err, &cancelled) ||
		cancelled.Reason != oupwire.ApprovalCancelReasonTurnInterrupted || cancelled.Turn != turn(1) {
		t.Errorf("a decision behind the end: %v", err)
	}
	if list := s.Pending().Approvals(); len(list) != 0 {
		t.Errorf("pending are %+v", list)
	}
}

// TestApproval_isDecidedOnce: many decide at once and one interrupts; one of them wins, and all others are told what
// it was.
func TestApproval_isDecidedOnce(t *testing.T) {
	for round := range 10 {
		r := newPlace(t).open(nil)
		r.brain.commanding("one")
		s := r.session(chat)
		f := r.follow(chat)
		begin(t, s, turn(1), "go")
		asked := f.asked(1)
		var won, lost, cancelled atomic.Int64
		var tasks sync.WaitGroup
		for i := range 8 {
			tasks.Go(func() {
				decision := oupwire.ApprovalDecision("approve")
				if i%2 == 1 {
					decision = "deny"
				}
				_, err := s.Pending().Decide(context.Background(), pending.Decision{Approval: asked.ApprovalID, Decision: decision})
				switch {
				case err == nil:
					won.Add(1)
				case errors.As(err, new(*pending.NotPendingError)):
					lost.Add(1)
				case errors.As(err, new(*pending.CancelledError)):
					cancelled.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		if round%2 == 0 {
			tasks.Go(func() { _, _ = s.Interrupt(context.Background(), turn(1)) })
		}
		tasks.Wait()
		f.ended(turn(1))
		told := f.told()
		decided, taken := strings.Count(told, "approval/decided"), strings.Count(told, "approval/cancelled")
		if decided+taken != 1 || int(won.Load()) != decided || decided == 1 && lost.Load() != 7 || taken == 1 && cancelled.Load() != 8 {
			t.Fatalf("won %d, lost %d, cancelled %d:\n%s", won.Load(), lost.Load(), cancelled.Load(), told)
		}
		r.close()
	}
}

func TestProfile(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	f := r.follow(chat)
	write := func(_ context.Context, q model.Request, say func(string)) (*model.Response, error) {
		last := q.Messages[len(q.Messages)-1]
		if last.Role == conversation.User {
			return calls("write-"+last.PlainText(), "write", `{"path":"`+last.PlainText()+`","content":"hello\n"}`), nil
		}
		return said(last.Parts[0].PlainText()), nil
	}
	r.brain.does(write)
	begin(t, s, turn(1), "free.txt") // a file of the workspace: nobody is asked
	f.ended(turn(1))
	waitIdle(t, s)
	if !s.SetProfile(permission.Profile{Mode: permission.ReadOnly}) || s.SetProfile(permission.Profile{Mode: permission.ReadOnly}) {
		t.Error("a change is not told from none")
	}
	begin(t, s, turn(2), "asked.txt")
	asked := f.asked(1)
	if asked.ToolName != "write" || asked.Body != "asked.txt" {
		t.Errorf("asked was %+v", asked)
	}
	if _, err := s.Pending().Decide(t.Context(), pending.Decision{Approval: asked.ApprovalID, Decision: "deny"}); err != nil {
		t.Fatal(err)
	}
	f.ended(turn(2))
	waitIdle(t, s)
	s.SetProfile(permission.Profile{Mode: permission.WorkspaceWrite, Never: true})
	r.brain.commanding("three")
	begin(t, s, turn(3), "go")
	f.ended(turn(3))
	told := f.told()
	if strings.Count(told, "approval/requested") != 1 || strings.Count(told, "tool_end skipped") != 2 {
		t.Errorf("told was\n%s", told)
	}
	for name, want := range map[string]bool{"free.txt": true, "asked.txt": false} {
		if _, err := os.Stat(filepath.Join(r.workspace, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
