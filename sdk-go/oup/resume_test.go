package oup

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

func TestReceive_dropsWhatWasHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		made := s.start(p, s.open(p, 1, OpenOptions{}))
		events := s.read(made.Events(t.Context()))
		p.started()
		p.envelope(3, 1, "user_message", `{"text":"hello"}`)
		p.delta(4, 2, "a")
		p.delta(4, 2, "a")                               // the same once more
		p.delta(9, 2, "a")                               // a number that was here, at another position
		p.envelope(3, 1, "user_message", `{"text":"x"}`) // an old position
		p.delta(10, 3, "b")
		p.terminal(11, 4)
		p.delta(12, 5, "behind the end")
		p.terminal(13, 6)
		<-events.done
		if want := "started; user hello; +a; +b; end completed"; events.text() != want {
			t.Errorf("got  %s\nwant %s", events.text(), want)
		}
	})
}

// TestReceive_nothingBehindTheEnd: what comes on a closed stream creates nothing, also for who listens.
func TestReceive_nothingBehindTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		session := s.open(p, 1, OpenOptions{Listen: true})
		events := s.read(session.Events(t.Context()))
		p.started()
		p.envelope(3, 1, "user_message", `{"text":"hello"}`)
		p.terminal(4, 2)
		p.delta(5, 3, "behind the end")
		p.terminal(6, 4)
		synctest.Wait()
		if want := "opened 1; started; user hello; end completed"; events.text() != want {
			t.Errorf("got  %s\nwant %s", events.text(), want)
		}
	})
}

func TestReceive_passesOnWhatItDoesNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var other []string
		s, p := play(t, Options{OnEvent: func(ev Event) { other = append(other, told(ev)) }})
		made := s.start(p, s.open(p, 1, OpenOptions{}))
		events := s.read(made.Events(t.Context()))
		p.tell("brand/new", `{"session_id":"`+key+`","turn_id":"`+turn+`","x":1}`)
		p.tell("brand/new", `{"far":"away"}`)
		p.tell("server/heartbeat", `{}`)
		p.send(`{"jsonrpc":"2.0","method":"brand/bare","more":[],"params":null}`)
		p.envelope(3, 1, "user_message", `{"text":"hello","more":{}}`)
		p.envelope(4, 2, "hologram", `{"text":"hello"}`)
		p.envelope(5, 3, "tool_end", `{"tool_call_id":"c","status":"exploded"}`)
		p.tell(oupwire.MethodApprovalCancelled, `{"session_id":"`+key+`","approval_id":"5f4b0000-0000-4000-8000-000000000001","turn_id":"`+turn+`","reason":"whim"}`)
		p.envelope(6, 4, "turn_terminal", `{"outcome":"evaporated","more":1}`)
		<-events.done
		want := "unknown brand/new ; user hello; unknown projection/envelope hologram; unknown projection/envelope tool_end; " +
			"oupwire.ApprovalCancelledEvent; end evaporated"
		if events.text() != want || events.err != nil {
			t.Errorf("got  %s, %v\nwant %s", events.text(), events.err, want)
		}
		if got := strings.Join(other, "; "); got != "unknown brand/new ; oupwire.EmptyParams; unknown brand/bare " {
			t.Errorf("of no session: %s", got)
		}
	})
}

// TestResume_goesOnWhereItWas: a lost connection is made again, the session is opened behind what has come, and what
// comes a second time is dropped, also where it shows no position.
func TestResume_goesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		made := s.start(p, s.open(p, 1, OpenOptions{}))
		events := s.read(made.Events(t.Context()))
		status := func(kind string) {
			p.tell(oupwire.MethodProgressUpdated, `{"session_id":"`+key+`","turn_id":"`+turn+`","metadata":{"kind":"`+kind+`"}}`)
		}
		p.started()
		p.envelope(3, 1, "user_message", `{"text":"hello"}`)
		status("one")
		status("two")
		p.end(errCut)
		before := time.Now()
		p = s.accept()
		if waited := time.Since(before); waited != time.Second/2 {
			t.Errorf("it came again after %s, want half of the first wait", waited)
		}
		opening := p.opened(9, func() {
			status("one")
			status("two")
			status("three")
			p.delta(7, 2, "a")
			p.delta(7, 2, "a")
		})
		if at := opening.Params.After; at == nil || at.Seq != 3 || at.Stream != key {
			t.Errorf("opened again behind %+v, want 3", at)
		}
		p.terminal(10, 3)
		<-events.done
		want := "started; user hello; progress one; progress two; progress three; +a; end completed"
		if events.text() != want || events.err != nil {
			t.Errorf("got  %s, %v\nwant %s", events.text(), events.err, want)
		}
	})
}

func TestResume_atOnceWhenTheServerStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		s.open(p, 1, OpenOptions{})
		time.Sleep(20 * time.Second) // nothing happens meanwhile
		before := time.Now()
		p.end(errRestart)
		p = s.accept()
		if waited := time.Since(before); waited != 0 {
			t.Errorf("it came again after %s, want at once", waited)
		}
		p.opened(2)
		before = time.Now()
		p.end(errRestart)
		s.accept().opened(3)
		if waited := time.Since(before); waited == 0 {
			t.Error("a server that starts anew all the time is not waited for")
		}
	})
}

func TestResume_waitsLongerAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{Reconnect: Backoff{First: time.Second, Longest: 5 * time.Second, Attempts: 5}})
		session := s.open(p, 1, OpenOptions{})
		events := s.read(session.Events(t.Context()))
		s.refusing(errCut)
		var asked []time.Duration
		s.client.draw = func(longest time.Duration) time.Duration {
			asked = append(asked, longest)
			return longest
		}
		before := time.Now()
		p.end(errCut)
		<-s.client.Done()
		if waited := time.Since(before); waited != 17*time.Second || len(asked) != 5 || asked[4] != 5*time.Second {
			t.Errorf("it gave up after %s, waits %v; want 1, 2, 4, 5 and 5 s", waited, asked)
		}
		<-events.done
		if !errors.Is(events.err, errCut) || !strings.Contains(events.err.Error(), "5 tries") {
			t.Errorf("the end: %v", events.err)
		}
		if _, err := session.Hydrate(t.Context()); !errors.Is(err, errCut) || !errors.Is(s.client.Err(), errCut) {
			t.Errorf("behind the end: %v, %v", err, s.client.Err())
		}
	})
}

func TestResume_givesUpWhereItIsNotLetIn(t *testing.T) {
	for name, lock := range map[string]func(*stage, *peer){
		"a new connection": func(s *stage, p *peer) { s.refusing(&AuthError{Status: 401}); p.end(errCut) },
		"this connection":  func(_ *stage, p *peer) { p.end(&AuthError{Status: 1008, Reason: "auth_expired"}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := play(t, Options{})
				events := s.read(s.open(p, 1, OpenOptions{}).Events(t.Context()))
				lock(s, p)
				<-events.done
				var locked *AuthError
				if !errors.As(events.err, &locked) || !errors.As(s.client.Err(), &locked) {
					t.Errorf("%v, %v: want an AuthError", events.err, s.client.Err())
				}
			})
		})
	}
}

// TestResume_startsTheSameTurnAgain: the start of a turn whose answer was lost goes out again by the same id; other
// requests fail, since nobody knows what became of them.
func TestResume_startsTheSameTurnAgain(t *testing.T) {
	for name, answer := range map[string]func(*peer, request){
		"taken": func(p *peer, r request) { p.answer(r, `{"accepted":true}`) },
		"ended": func(p *peer, r request) { p.refuse(r, oupwire.CodeInvalidRequest, `{"kind":"turn_id_in_use"}`) },
		"running": func(p *peer, r request) {
			p.refuse(r, oupwire.CodeInvalidRequest, `{"kind":"turn_in_progress","turn_id":"`+r.Params.TurnID+`"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := play(t, Options{})
				session := s.open(p, 1, OpenOptions{})
				started, titled := make(chan error, 1), make(chan error, 1)
				go func() {
					_, err := session.Turn(t.Context(), "hello")
					started <- err
				}()
				first := p.request(oupwire.MethodTurnStart)
				go func() {
					_, err := session.Hydrate(t.Context())
					titled <- err
				}()
				p.request(oupwire.MethodSessionHydrate)
				p.end(errCut)
				var lost *Disconnected
				if err := <-titled; !errors.As(err, &lost) || lost.Method != oupwire.MethodSessionHydrate || !errors.Is(err, errCut) {
					t.Errorf("a request in flight: %v", err)
				}
				p = s.accept()
				p.opened(2)
				second := p.request(oupwire.MethodTurnStart)
				if second.Params.TurnID != first.Params.TurnID || first.Params.TurnID == "" {
					t.Errorf("started as %q and again as %q", first.Params.TurnID, second.Params.TurnID)
				}
				answer(p, second)
				if err := <-started; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestResume_aRefusedStartIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		session := s.open(p, 1, OpenOptions{})
		started := make(chan error, 1)
		go func() {
			_, err := session.Turn(t.Context(), "hello")
			started <- err
		}()
		p.refuse(p.request(oupwire.MethodTurnStart), oupwire.CodeInvalidRequest, `{"kind":"turn_id_in_use"}`)
		if err := <-started; kind(err) != kindInUse {
			t.Errorf("a used id of a turn that was not started before: %v", err)
		}
	})
}

func TestGap_replaysWhatTheServerLost(t *testing.T) {
	for name, lose := range map[string]func(*peer){
		"said by the server": func(p *peer) {
			p.tell(oupwire.MethodProtocolReplayLossy, `{"session_id":"`+key+`","dropped_count":2,"last_durable_cursor":{"stream":"`+key+`","seq":4}}`)
			p.delta(7, 5, "d")
		},
		"seen by a number": func(p *peer) { p.delta(7, 5, "d") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := play(t, Options{})
				session := s.open(p, 1, OpenOptions{Listen: true})
				events := s.read(session.Events(t.Context()))
				p.started()
				p.envelope(3, 1, "user_message", `{"text":"hello"}`)
				p.delta(4, 2, "a")
				lose(p)
				opening := p.opened(8, func() {
					p.delta(5, 3, "b")
					p.delta(6, 4, "c")
					p.delta(7, 5, "d")
				})
				if at := opening.Params.After; at == nil || at.Seq != 4 {
					t.Errorf("opened again behind %+v, want 4", at)
				}
				p.terminal(9, 6)
				synctest.Wait()
				got := events.text()
				if !strings.HasPrefix(got, "opened 1; started; user hello; +a; gap ") ||
					!strings.HasSuffix(got, " replayed=true hydrated=false; +b; +c; +d; opened 8; end completed") {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

const hydrated = `{"session_id":"` + key + `","cursor":{"stream":"` + key + `","seq":90},"turns":[{"turn_id":"` + turn + `","state":"STATE"}],` +
	`"projection_envelopes":[{"thread_id":"` + turn + `","turn_id":"` + turn + `","seq":1,"cursor":{"stream":"` + key + `","seq":3},` +
	`"payload":{"type":"user_message","data":{"text":"was here"}}},{"thread_id":"` + turn + `","turn_id":"` + turn + `","seq":9,"cursor":{"stream":"` + key + `","seq":80},` +
	`"payload":{"type":"assistant_delta","data":{"text":"late","assistant_segment_id":"s1"}}}]}`

// expire answers session/open as a server that does not keep the cursor, and what the client reads then.
func expire(t *testing.T, p *peer, state string) {
	t.Helper()
	r := p.request(oupwire.MethodSessionOpen)
	p.refuse(r, oupwire.CodeCursorOutOfRange, `{"kind":"cursor_expired","cursor":{"stream":"`+key+`","seq":3},"ledger_head":{"stream":"`+key+`","seq":90}}`)
	p.answer(p.request(oupwire.MethodSessionHydrate), strings.Replace(hydrated, "STATE", state, 1))
	opening := p.opened(91)
	if at := opening.Params.After; at == nil || at.Seq != 90 {
		t.Errorf("opened behind %+v, want 90", at)
	}
}

func TestGap_readsAnewWhatIsNotKept(t *testing.T) {
	for state, want := range map[string]string{
		"completed": "gap cursor_expired replayed=false hydrated=true; +late; end completed; opened 91",
		"active":    "gap cursor_expired replayed=false hydrated=true; +late; opened 91; +more; end completed",
	} {
		t.Run(state, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := play(t, Options{})
				session := s.open(p, 1, OpenOptions{Listen: true})
				events := s.read(session.Events(t.Context()))
				made := s.start(p, session)
				results := make(chan Result, 1)
				go func() {
					result, err := made.Result(t.Context())
					if err != nil {
						t.Error(err)
					}
					results <- result
				}()
				p.started()
				p.envelope(3, 1, "user_message", `{"text":"hello"}`)
				p.end(errCut)
				p = s.accept()
				expire(t, p, state)
				if state == "active" {
					p.delta(92, 10, "more")
					p.terminal(93, 11)
				}
				result := <-results
				synctest.Wait()
				if got := events.text(); got != "opened 1; started; user hello; "+want || result.Outcome != oupwire.TurnOutcomeCompleted {
					t.Errorf("got  %s (%+v)\nwant %s", got, result, want)
				}
			})
		})
	}
}

func TestGap_atTheFirstOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		opened := make(chan *Session, 1)
		go func() {
			session, err := s.client.Open(t.Context(), key, OpenOptions{Listen: true, After: &Cursor{Stream: key, Seq: 3}})
			if err != nil {
				t.Error(err)
			}
			opened <- session
		}()
		expire(t, p, "completed")
		session := <-opened
		events := s.read(session.Events(t.Context()))
		synctest.Wait()
		if want := "gap cursor_expired replayed=false hydrated=true; +late; opened 91"; events.text() != want || session.Cursor().Seq != 91 {
			t.Errorf("got %s, cursor %+v", events.text(), session.Cursor())
		}
	})
}

// TestGap_ofANumberThatIsNowhere: where opening anew does not bring it, the session is read anew, and goes on.
func TestGap_ofANumberThatIsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		session := s.open(p, 1, OpenOptions{Listen: true})
		events := s.read(session.Events(t.Context()))
		p.started()
		p.envelope(3, 1, "user_message", `{"text":"hello"}`)
		p.delta(5, 3, "b")
		p.opened(6, func() { p.delta(5, 3, "b") })
		p.answer(p.request(oupwire.MethodSessionHydrate), `{"session_id":"`+key+`","cursor":{"stream":"`+key+`","seq":6},"projection_thread_sequences":{"`+turn+`":3}}`)
		p.opened(7)
		p.terminal(8, 4)
		synctest.Wait()
		want := "opened 1; started; user hello; gap number replayed=true hydrated=false; gap number replayed=false hydrated=true; opened 7; end completed"
		if events.text() != want {
			t.Errorf("got  %s\nwant %s", events.text(), want)
		}
	})
}

func TestGap_aTurnThatIsNowhereEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{})
		made := s.start(p, s.open(p, 9, OpenOptions{}))
		results := make(chan error, 1)
		go func() {
			_, err := made.Result(t.Context())
			results <- err
		}()
		p.end(errCut)
		p = s.accept()
		p.refuse(p.request(oupwire.MethodSessionOpen), oupwire.CodeCursorOutOfRange, `{"kind":"cursor_expired","cursor":{"stream":"x","seq":8},"ledger_head":{"stream":"x","seq":0}}`)
		p.answer(p.request(oupwire.MethodSessionHydrate), `{"session_id":"`+key+`","cursor":{"stream":"`+key+`","seq":0},"turns":[]}`)
		p.opened(1)
		if err := <-results; !errors.Is(err, errLost) {
			t.Errorf("a turn of another ledger: %v", err)
		}
	})
}

// TestOpen_waitsWhereNothingIsRead: an answer behind events that nobody reads is not late.
func TestOpen_waitsWhereNothingIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{Queue: 1})
		full := s.open(p, 1, OpenOptions{Listen: true})
		const other = "local:other"
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		opened := asking(func() error {
			_, err := s.client.Open(ctx, other, OpenOptions{})
			return err
		})
		r := p.request(oupwire.MethodSessionOpen)
		go func() {
			for n := range int64(4) {
				p.delta(2+n, 1+n, "x")
			}
			p.answer(r, `{"opened":{"session_id":"`+other+`","cursor":{"stream":"`+other+`","seq":1},"capabilities":`+caps+`}}`)
		}()
		time.Sleep(10 * time.Minute)
		events := s.read(full.Events(t.Context()))
		if err := <-opened; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !strings.HasSuffix(events.text(), "+x; +x; +x; +x") {
			t.Errorf("got %s", events.text())
		}
	})
}

// TestSilence_endsAConnection: a server that says nothing is left after a while; one that is only not read is not.
func TestSilence_endsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := play(t, Options{Queue: 1})
		session := s.open(p, 1, OpenOptions{Listen: true})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := session.Hydrate(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), oupwire.MethodSessionHydrate) {
			t.Errorf("a server that does not answer: %v", err)
		}
		before := time.Now()
		p = s.accept()
		if waited := time.Since(before); waited < 40*time.Second || waited > 90*time.Second {
			t.Errorf("left after %s of silence", waited)
		}
		go p.opened(2, func() { // nobody reads: the queue is full, and nothing more is read
			for n := range int64(4) {
				p.delta(3+n, 1+n, "x")
			}
		})
		time.Sleep(10 * time.Minute)
		select {
		case <-p.closed:
			t.Error("a connection that is not read counts as silent")
		default:
		}
		events := s.read(session.Events(t.Context()))
		synctest.Wait()
		if !strings.HasSuffix(events.text(), "+x; +x; +x; +x") {
			t.Errorf("what waited did not come: %s", events.text())
		}
	})
}
