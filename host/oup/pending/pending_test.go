package pending

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

const (
	key  = "k#t"
	turn = "00000000-0000-4000-8000-000000000001"
	next = "00000000-0000-4000-8000-000000000002"
)

func open(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// asked is an Ask that goes on.
type asked struct {
	id      string
	verdict chan Verdict
	failed  chan error
	cancel  context.CancelFunc
}

// ask asks, and returns once the request is told.
func ask(t *testing.T, b *Book, a Approval) asked {
	t.Helper()
	reader, err := b.ledger.Follow(t.Context(), b.session, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := asked{verdict: make(chan Verdict, 1), failed: make(chan error, 1), cancel: cancel}
	go func() {
		v, err := b.Ask(ctx, a)
		out.failed <- err
		out.verdict <- v
	}()
	page, err := reader.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out.id = page[0].Subject.ID
	if told, err := event.Params(page[0]); err != nil || told.Validate() != nil {
		t.Errorf("told is %v, %v", told, err)
	}
	return out
}

func (a asked) settled(t *testing.T) (Verdict, error) {
	t.Helper()
	select {
	case err := <-a.failed:
		return <-a.verdict, err
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is decided")
		return Verdict{}, nil
	}
}

// TestRemembered: turn, tool and session in this order, deny too, and never for what is asked once.
//
// Rules: OUP-APPROVAL-004, OUP-APPROVAL-011, OUP-APPROVAL-013, OUP-APPROVAL-015.
func TestRemembered(t *testing.T) {
	b := New(key, open(t), nil)
	decide := func(a Approval, decision oupwire.ApprovalDecision, scope string) {
		t.Helper()
		request := ask(t, b, a)
		if _, err := b.Decide(t.Context(), Decision{Approval: request.id, Decision: decision, Scope: scope}); err != nil {
			t.Fatal(err)
		}
		if v, err := request.settled(t); err != nil || v.Allow != (decision == "approve") {
			t.Errorf("%+v, %v", v, err)
		}
	}
	resolved := func(a Approval) bool {
		t.Helper()
		v, err := b.Ask(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return v.Allow
	}
	shell := Approval{Turn: turn, Tool: "shell", Title: "t", Body: "b"}
	decide(shell, "deny", "approve_for_session")
	if resolved(Approval{Turn: turn, Tool: "write"}) {
		t.Error("a denial for the session is not remembered")
	}
	once := shell
	once.Once = true
	decide(once, "approve", "session") // is asked, and remembers nothing
	b.remember(Approval{Tool: "shell"}, oupwire.ApprovalScopeTool, "approve")
	if !resolved(shell) || resolved(Approval{Turn: turn, Tool: "write"}) {
		t.Error("the tool does not go before the session")
	}
	b.remember(Approval{Turn: turn}, oupwire.ApprovalScopeTurn, "deny")
	if resolved(shell) || !resolved(Approval{Turn: next, Tool: "shell"}) {
		t.Error("the turn does not go before the tool")
	}
	var words string
	for _, e := range b.Remembered() {
		words += string(e.Scope) + ":" + e.ScopeMatch + ":" + string(e.Decision) + " "
		if e.Validate() != nil {
			t.Errorf("%+v", e)
		}
	}
	if want := "session:*:deny tool:shell:approve turn:" + turn + ":deny "; words != want {
		t.Errorf("remembered are %s", words)
	}
	b.TurnEnded(turn)
	if len(b.Remembered()) != 2 || !resolved(shell) {
		t.Error("what was decided for a turn outlives it")
	}
}

// TestCancelTurn takes back what a turn asks for, and nothing else.
func TestCancelTurn(t *testing.T) {
	b := New(key, open(t), nil)
	mine, other := ask(t, b, Approval{Turn: turn, Tool: "a"}), ask(t, b, Approval{Turn: next, Tool: "a"})
	if list := b.Approvals(); len(list) != 2 || list[0].ApprovalID != mine.id || list[1].ApprovalID != other.id {
		t.Errorf("pending are %+v", list)
	}
	if err := b.CancelTurn(turn); err != nil {
		t.Fatal(err)
	}
	var cancelled *CancelledError
	if _, err := b.Decide(t.Context(), Decision{Approval: mine.id, Decision: "approve"}); !errors.As(err, &cancelled) || cancelled.Turn != turn {
		t.Errorf("a decision of what was taken back: %v", err)
	}
	mine.cancel()
	if v, err := mine.settled(t); err == nil || v.Allow {
		t.Errorf("%+v, %v", v, err)
	}
	if d, err := b.Decide(t.Context(), Decision{Approval: other.id, Decision: "approve"}); err != nil || !d.Resumed {
		t.Errorf("%+v, %v", d, err)
	}
	if v, err := other.settled(t); err != nil || !v.Allow {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestAsk_withoutALedger: what cannot be told is not allowed.
func TestAsk_withoutALedger(t *testing.T) {
	l := open(t)
	b := New(key, l, nil)
	waiting := ask(t, b, Approval{Turn: turn, Tool: "a"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Ask(t.Context(), Approval{Turn: turn, Tool: "a"}); err == nil || v.Allow {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := b.Decide(t.Context(), Decision{Approval: waiting.id, Decision: "approve"}); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("a decision that is not stored: %v", err)
	}
	select {
	case <-waiting.failed:
		t.Error("a tool runs on a decision that nobody has on disk")
	default:
	}
	if list := b.Approvals(); len(list) != 1 || list[0].ApprovalID != waiting.id {
		t.Errorf("pending are %+v", list)
	}
	waiting.cancel()
	if v, err := waiting.settled(t); err == nil || v.Allow {
		t.Errorf("%+v, %v", v, err)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if _, err := b.Ask(done, Approval{Turn: turn}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestDecide_ofWhatIsNoLongerKept: the ledger knows that there was a request, and not what became of it.
func TestDecide_ofWhatIsNoLongerKept(t *testing.T) {
	l := open(t)
	b := New(key, l, nil)
	request := ask(t, b, Approval{Turn: turn, Tool: "a"})
	if _, err := b.Decide(t.Context(), Decision{Approval: request.id, Decision: "deny"}); err != nil {
		t.Fatal(err)
	}
	if _, err := request.settled(t); err != nil {
		t.Fatal(err)
	}
	b.TurnEnded(turn)
	var before *NotPendingError
	if _, err := b.Decide(t.Context(), Decision{Approval: request.id, Decision: "approve"}); !errors.As(err, &before) || before.Decision != "deny" {
		t.Errorf("%v", err)
	}
	if err := l.Forget(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	var unknown *UnknownError
	if _, err := b.Decide(t.Context(), Decision{Approval: request.id, Decision: "approve"}); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}

// TestQuestions_areBounded: settled ones do not gather.
func TestQuestions_areBounded(t *testing.T) {
	b := New(key, open(t), nil)
	option := oupwire.UserQuestionOption{Label: "a"}
	ask := []oupwire.UserQuestion{{Header: "h", Question: "q", Options: []oupwire.UserQuestionOption{option, {Label: "b"}}}}
	for range keptQuestions + 20 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { _, _ = b.Question(ctx, turn, "t", "b", ask); close(done) }()
		for len(b.Questions()) == 0 {
			runtime.Gosched()
		}
		cancel()
		<-done
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.questions) > keptQuestions+1 || len(b.order) != 0 {
		t.Errorf("%d questions are kept, %d pending", len(b.questions), len(b.order))
	}
	for _, wrong := range [][]oupwire.UserQuestion{nil, make([]oupwire.UserQuestion, 5), {{Header: "h", Question: "q"}}} {
		b.mu.Unlock()
		_, err := b.Question(t.Context(), turn, "t", "b", wrong)
		b.mu.Lock()
		if err == nil {
			t.Errorf("%d questions are asked", len(wrong))
		}
	}
}
