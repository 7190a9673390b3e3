package oup

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

const (
	first  = "5f4b0000-0000-4000-8000-000000000001"
	second = "5f4b0000-0000-4000-8000-000000000002"
)

func (p *peer) decided(id string) {
	p.tell(oupwire.MethodApprovalDecided, fmt.Sprintf(`{"session_id":%q,"approval_id":%q,"turn_id":%q,"decision":"deny","decided_at":"2026-01-01T00:00:00Z","decided_by":""}`, key, id, turn))
}

func (p *peer) responded(r request) {
	p.answer(r, fmt.Sprintf(`{"approval_id":%q,"accepted":true,"status":"accepted","runtime_resumed":true}`, r.Params.ApprovalID))
}

// asked is a callback that counts its calls and waits for what to say.
type asked struct {
	calls chan Approval
	says  chan Decision
	ended chan string
}

func newAsked() *asked {
	return &asked{calls: make(chan Approval, 16), says: make(chan Decision), ended: make(chan string, 16)}
}

func (a *asked) decide(ctx context.Context, request Approval) (Decision, error) {
	a.calls <- request
	select {
	case decision := <-a.says:
		return decision, nil
	case <-ctx.Done():
		a.ended <- request.ApprovalID
		return Decision{}, ctx.Err()
	}
}

func (a *asked) count() int {
	synctest.Wait()
	return len(a.calls)
}

func TestApproval_isAskedAndAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsked()
		s, p := play(t, Options{OnApproval: a.decide})
		events := s.read(s.open(p, 1, OpenOptions{Listen: true}).Events(t.Context()))
		p.approval(first)
		p.approval(first) // sent twice, asked and told once
		if a.count() != 1 || events.text() != "opened 1; oupwire.ApprovalRequestedEvent" {
			t.Fatalf("asked %d times, told %s", a.count(), events.text())
		}
		a.says <- Decision{Approve: true, Scope: oupwire.ApprovalScopeTurn, Note: "fine"}
		r := p.request(oupwire.MethodApprovalRespond)
		if r.Params.Decision != "approve" || r.Params.ApprovalID != first || r.Params.ClientNote != "fine" {
			t.Errorf("answered %+v", r)
		}
		p.decided(first)
		p.responded(r)
		p.approval(second)
		if request := <-a.calls; request.ToolName != "shell" {
			t.Errorf("asked %+v", request)
		}
		if a.count() != 1 {
			t.Errorf("the second is asked %d times", a.count())
		}
	})
}

func TestApproval_failedCallbackDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{OnApproval: func(context.Context, Approval) (Decision, error) {
			return Decision{Approve: true}, errors.New("the rules are not readable")
		}})
		s.open(p, 1, OpenOptions{}, func() { p.approval(first) })
		if r := p.request(oupwire.MethodApprovalRespond); r.Params.Decision != "deny" || r.Params.ClientNote != "the rules are not readable" {
			t.Errorf("answered %+v", r)
		}
	})
}

// TestApproval_decidedElsewhere ends the callback; what it says then goes nowhere.
func TestApproval_decidedElsewhere(t *testing.T) {
	for name, over := range map[string]func(*peer){
		"decided": func(p *peer) { p.decided(first) },
		"cancelled": func(p *peer) {
			p.tell(oupwire.MethodApprovalCancelled, fmt.Sprintf(`{"session_id":%q,"approval_id":%q,"turn_id":%q,"reason":"turn_interrupted"}`, key, first, turn))
		},
		"turn ended": func(p *peer) { p.terminal(9, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAsked()
				s, p := play(t, Options{OnApproval: a.decide})
				s.open(p, 1, OpenOptions{})
				p.approval(first)
				<-a.calls
				over(p)
				if id := <-a.ended; id != first {
					t.Errorf("the context of %s ended", id)
				}
				synctest.Wait()
				if len(p.up) != 0 {
					t.Errorf("the client says %s", <-p.up)
				}
			})
		})
	}
}

// TestApproval_afterAReconnect: a request that is still pending is not asked again, and an answer that did not arrive
// is sent again; one that is not pending any more is let go.
func TestApproval_afterAReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsked()
		s, p := play(t, Options{OnApproval: a.decide})
		s.open(p, 1, OpenOptions{})
		p.approval(first)
		<-a.calls
		p.approval(second)
		<-a.calls
		p.end(errCut)
		p = s.accept()
		p.opened(5, func() { p.approval(first) }) // the second was answered meanwhile
		if id := <-a.ended; id != second {
			t.Errorf("the context of %s ended", id)
		}
		if a.count() != 0 {
			t.Error("a pending request is asked again")
		}
		a.says <- Decision{Approve: true}
		p.request(oupwire.MethodApprovalRespond)
		p.end(errCut) // before the answer to it
		p = s.accept()
		p.opened(6, func() { p.approval(first) })
		again := p.request(oupwire.MethodApprovalRespond)
		if again.Params.Decision != "approve" || again.Params.ApprovalID != first {
			t.Errorf("sent again %+v", again)
		}
		p.refuse(again, oupwire.CodeApprovalNotPending, `{"kind":"approval_not_pending","method":"approval/respond","session_id":"x","approval_id":"x","recorded_decision":"approve","request_title":null}`)
		p.end(errCut)
		p = s.accept()
		p.opened(7, func() { p.approval(first) })
		synctest.Wait()
		if len(p.up) != 0 || len(a.calls) != 0 {
			t.Error("an answered request is answered again")
		}
	})
}

// TestApproval_replayedAndDecided: what a replay tells to be decided is not asked.
func TestApproval_replayedAndDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsked()
		s, p := play(t, Options{OnApproval: a.decide})
		s.open(p, 9, OpenOptions{After: &Cursor{Stream: key, Seq: 1}}, func() {
			p.approval(first)
			p.decided(first)
			p.approval(second)
		})
		if request := <-a.calls; request.ApprovalID != second || a.count() != 0 {
			t.Errorf("asked for %s, and %d more", request.ApprovalID, len(a.calls))
		}
	})
}

func TestQuestion_isAnsweredOrLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{OnQuestion: func(_ context.Context, q Question) ([]Answer, error) {
			if q.QuestionID == second {
				return nil, errors.New("nobody is here")
			}
			return []Answer{Choose("Flat"), Say("or not")}, nil
		}})
		s.open(p, 1, OpenOptions{})
		for _, id := range []string{second, first} {
			p.tell(oupwire.MethodUserQuestionRequested, fmt.Sprintf(`{"session_id":%q,"question_id":%q,"turn_id":%q,"title":"t","body":"b","questions":[{"header":"h","question":"q","options":[{"label":"Flat","description":"d"},{"label":"b","description":"d"}],"multi_select":false,"allow_free_text":true}]}`, key, id, turn))
		}
		r := p.request(oupwire.MethodUserQuestionRespond)
		if r.Params.QuestionID != first {
			t.Errorf("answered %+v", r)
		}
		p.answer(r, fmt.Sprintf(`{"question_id":%q,"accepted":true,"runtime_resumed":true}`, first))
	})
}

func TestClose_endsCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsked()
		s, p := play(t, Options{OnApproval: func(ctx context.Context, request Approval) (Decision, error) {
			decision, err := a.decide(ctx, request)
			time.Sleep(time.Second / 2) // has to put things in order
			a.calls <- request
			return decision, err
		}})
		made := s.start(p, s.open(p, 1, OpenOptions{}))
		p.started()
		p.approval(first)
		<-a.calls
		before := time.Now()
		if err := s.client.Close(); err != nil {
			t.Error(err)
		}
		if err := s.client.Close(); err != nil || time.Since(before) > time.Second {
			t.Errorf("closed twice: %v, after %s", err, time.Since(before))
		}
		if len(a.ended) != 1 || len(a.calls) != 1 {
			t.Error("a callback runs on")
		}
		if _, err := made.Result(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a turn of a closed client: %v", err)
		}
		if _, err := s.client.Open(t.Context(), key, OpenOptions{}); !errors.Is(err, ErrClosed) {
			t.Errorf("open: %v", err)
		}
		if _, err := s.client.Call(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("call: %v", err)
		}
	})
}
