package house_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/pending"
)

// calling lets the model call a tool once a turn, and then repeat what it has answered.
func (b *brain) calling(name, arguments string) {
	b.does(func(_ context.Context, r model.Request, _ func(string)) (*model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == conversation.User {
			return calls("call-"+last.PlainText(), name, arguments), nil
		}
		return said("told: " + last.Parts[0].PlainText()), nil
	})
}

const twoQuestions = `{"title":"Choose","questions":[{"header":"a header that is long","question":"Which?","options":[{"label":"Flat"},{"label":"Nested","description":"by package"}]},
{"question":"What else?","multi_select":true,"options":[{"label":"A"},{"label":"B"}]}]}`

func chosen(labels ...string) oupwire.UserQuestionAnswer {
	return oupwire.UserQuestionAnswer{SelectedLabels: wirejson.Some(labels)}
}

func TestQuestion(t *testing.T) {
	r := newPlace(t).open(nil)
	r.brain.calling("ask_user", twoQuestions)
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), "one") // nobody takes questions: the turn goes on
	f.ended(turn(1))
	waitIdle(t, s)
	if told := f.told(); !strings.Contains(told, "persisted told: the user cannot be asked") || strings.Contains(told, "user_question/requested") {
		t.Errorf("told was\n%s", told)
	}
	leave := s.Attend(true)
	defer leave()
	begin(t, s, turn(2), "two")
	stored := f.until("the questions", func(s ledger.Stored) bool { return s.Method == oupwire.MethodUserQuestionRequested })
	asked, err := oupwire.DecodeUserQuestionRequestedEvent(stored.Body)
	if err != nil || asked.TurnID != turn(2) || len(asked.Questions) != 2 || asked.Questions[0].Header != "a header tha" || !asked.Questions[0].AllowFreeText {
		t.Fatalf("asked was %s, %v", stored.Body, err)
	}
	if list := s.Pending().Questions(); len(list) != 1 {
		t.Errorf("pending are %+v", list)
	}
	words := oupwire.UserQuestionAnswer{FreeText: wirejson.Some("neither")}
	for _, wrong := range [][]oupwire.UserQuestionAnswer{
		{},
		{chosen("Flat")},
		{chosen("Flat"), chosen("A"), chosen("B")},
		{chosen("Flat", "Nested"), chosen("A")},
		{chosen("Round"), chosen("A")},
		{chosen("Flat"), chosen("A", "A")},
		{chosen(), chosen("A")},
	} {
		var invalid *pending.InvalidError
		if _, err := s.Pending().Answer(asked.QuestionID, wrong); !errors.As(err, &invalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	var unknown *pending.UnknownError
	if _, err := r.session("other").Pending().Answer(asked.QuestionID, []oupwire.UserQuestionAnswer{words, words}); !errors.As(err, &unknown) {
		t.Errorf("an answer from another session: %v", err)
	}
	var tasks sync.WaitGroup
	var mu sync.Mutex
	won, stale := 0, 0
	for range 8 {
		tasks.Go(func() {
			resumed, err := s.Pending().Answer(asked.QuestionID, []oupwire.UserQuestionAnswer{words, chosen("A", "B")})
			mu.Lock()
			defer mu.Unlock()
			var old *pending.StaleError
			switch {
			case err == nil && resumed:
				won++
			case errors.As(err, &old) && old.Reason == "already_answered" && old.Turn == turn(2):
				stale++
			default:
				t.Error(resumed, err)
			}
		})
	}
	tasks.Wait()
	if won != 1 || stale != 7 {
		t.Errorf("%d won, %d were late", won, stale)
	}
	f.ended(turn(2))
	waitIdle(t, s)
	if told := f.told(); !strings.Contains(told, "persisted told: Which?\nneither\nWhat else?\nA, B\n") {
		t.Errorf("told was\n%s", told)
	}
	begin(t, s, turn(3), "three")
	third := f.until("the questions", func(s ledger.Stored) bool {
		return s.Method == oupwire.MethodUserQuestionRequested && s.Seq > stored.Seq
	})
	if _, err := s.Interrupt(t.Context(), turn(3)); err != nil {
		t.Fatal(err)
	}
	f.ended(turn(3))
	var old *pending.StaleError
	if _, err := s.Pending().Answer(third.Subject.ID, []oupwire.UserQuestionAnswer{words, words}); !errors.As(err, &old) || old.Reason != "turn_interrupted" {
		t.Errorf("an answer behind the end: %v", err)
	}
	r.close()
	r = r.place.open(nil)
	if _, err := r.session(chat).Pending().Answer(third.Subject.ID, []oupwire.UserQuestionAnswer{words, words}); !errors.As(err, &old) {
		t.Errorf("an answer behind a restart: %v", err)
	}
}

func TestPlan(t *testing.T) {
	var mu sync.Mutex
	var spread []wirejson.Encoder
	r := newPlace(t).open(func(o *house.Options) {
		o.Spread = func(session, method string, params wirejson.Encoder) {
			mu.Lock()
			defer mu.Unlock()
			if session == chat && method == oupwire.MethodPlanUpdated {
				spread = append(spread, params)
			}
		}
	})
	r.brain.calling("update_plan", `{"title":"Work","items":[{"title":"look","status":"completed"},{"id":"x","title":"do","status":"in_progress"}]}`)
	s := r.session(chat)
	if _, found := s.Plan(); found {
		t.Error("there is a plan at the beginning")
	}
	say(t, r, s, turn(1), "one")
	plan, found := s.Plan()
	if !found || plan.Validate() != nil || len(plan.Plan.Items) != 2 || plan.Plan.Items[1].ID != "x" || plan.TurnID.Or("") != turn(1) {
		t.Errorf("%v, %s", found, plan.AppendJSON(nil))
	}
	mu.Lock()
	defer mu.Unlock()
	if len(spread) != 1 || strings.Contains(r.follow(chat).everything(), "plan/updated") {
		t.Errorf("told were %d, or it is stored", len(spread))
	}
}

// TestAside: a question beside the conversation leaves nothing, and disturbs no turn.
func TestAside(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	say(t, r, s, turn(1), "one")
	gate := r.brain.gate()
	begin(t, s, turn(2), "two")
	<-r.brain.reached
	r.brain.does(func(_ context.Context, q model.Request, say func(string)) (*model.Response, error) {
		text := q.System + q.Messages[0].PlainText()
		if len(q.Messages) != 1 || len(q.Tools) != 0 || !strings.Contains(q.System, "heard one") || q.Messages[0].PlainText() != "and why?" {
			return nil, errors.New("the model was told " + text)
		}
		say("because")
		return said("because"), nil
	})
	answer, err := s.Aside(t.Context(), "and why?")
	if err != nil || answer.Text != "because" || answer.Model != "one" {
		t.Errorf("%+v, %v", answer, err)
	}
	close(gate)
	f := r.follow(chat)
	f.ended(turn(2))
	if got := texts(t, s); strings.Contains(got, "why") || strings.Contains(f.told(), "because") {
		t.Errorf("the conversation is %s; told was\n%s", got, f.told())
	}
}

func TestCompact_withoutAModel(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	if mode := s.SetCompaction("heuristic"); mode != oupwire.CompactionModeHeuristic {
		t.Error(mode)
	}
	for n := range 8 {
		say(t, r, s, turn(n+1), strings.Repeat("word ", 4000))
	}
	before := len(r.brain.requests())
	done, err := s.Compact(t.Context())
	if err != nil || !done.Done || len(r.brain.requests()) != before {
		t.Errorf("%+v, %v, %d requests", done, err, len(r.brain.requests())-before)
	}
	if mode := s.SetCompaction("llm"); mode != oupwire.CompactionModeLlm {
		t.Error(mode)
	}
}

// TestSteer_racesTheEnd: whatever is said while a turn ends is said to this turn, dropped by it, or begins the next
// one, and never two of these.
func TestSteer_racesTheEnd(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	f := r.follow(chat)
	next := 0
	for round := range 30 {
		next++
		id := turn(next)
		begin(t, s, id, "begin")
		words := map[string]bool{}
		var mu sync.Mutex
		var started []string
		var tasks sync.WaitGroup
		for n := range 4 {
			text := "steer-" + string(rune('a'+n)) + "-" + id
			tasks.Go(func() {
				steered, err := s.Steer(context.Background(), input(text), "")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				words[text] = true
				if steered.Started != nil {
					started = append(started, steered.Turn)
					steered.Started.Go()
				}
			})
		}
		if round%3 == 0 {
			tasks.Go(func() { _, _ = s.Interrupt(context.Background(), id) })
		}
		tasks.Wait()
		f.ended(id)
		for _, id := range started {
			f.ended(id)
		}
		waitIdle(t, s)
		told := f.told()
		for text := range words {
			taken := strings.Count(told, "user "+text+"\n")
			dropped := 0
			for line := range strings.Lines(told) {
				if strings.HasPrefix(line, "turn/steer_dropped") && strings.Contains(line, text) {
					dropped++
				}
			}
			if taken+dropped != 1 {
				t.Fatalf("%s was taken %d times and dropped %d times:\n%s", text, taken, dropped, told)
			}
		}
	}
}

// TestClose: what runs is ended and told before the house is closed, and what waits is taken back.
func TestClose(t *testing.T) {
	p := newPlace(t)
	r := p.open(nil)
	r.brain.commanding("one")
	s := r.session(chat)
	f := r.follow(chat)
	begin(t, s, turn(1), "go")
	f.asked(1)
	accepted, err := r.session("other").Start(t.Context(), live.Turn{ID: turn(1), Text: "never launched"})
	if err != nil {
		t.Fatal(err)
	}
	r.close()
	accepted.Go()
	if _, _, err := r.Make(t.Context(), parse(t, "late"), house.New{}); !errors.Is(err, house.ErrClosed) {
		t.Errorf("a session of a closed house: %v", err)
	}
	r = p.open(nil)
	if told := r.follow(chat).everything(); !strings.HasSuffix(told, "terminal interrupted interrupted\n") || !strings.Contains(told, "approval/cancelled turn_interrupted\n") {
		t.Errorf("told was\n%s", told)
	}
	if told := r.follow("other").everything(); !strings.HasSuffix(told, "terminal interrupted interrupted\n") {
		t.Errorf("told was\n%s", told)
	}
}

// TestRest: a session that nobody uses gives its conversation back, and works again when it is used.
func TestRest(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	say(t, r, s, turn(1), "one")
	if _, err := r.store.Begin(t.Context(), s.ID()); err == nil {
		t.Fatal("the conversation is not held")
	}
	gate := r.brain.gate()
	begin(t, s, turn(2), "two")
	if s.Rest(s.Used().Add(1)) {
		t.Error("it rests while a turn runs")
	}
	close(gate)
	r.follow(chat).ended(turn(2))
	for len(r.Engines()) != 0 || s.AtWork() { // a turn has its end told before it lets go of the conversation
		if t.Context().Err() != nil {
			t.Fatal("an engine that nobody uses runs")
		}
		r.Rest(s.Used().Add(1))
		runtime.Gosched()
	}
	held, err := r.store.Begin(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(t.Context(), live.Turn{ID: turn(3), Text: "three"}); !errors.As(err, new(*live.UnavailableError)) {
		t.Errorf("while somebody else has it: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	say(t, r, s, turn(3), "three")
	if raw, _ := json.Marshal(texts(t, s)); !strings.Contains(string(raw), "heard three") {
		t.Errorf("said was %s", raw)
	}
}

// TestDelete_besideCommands: what a command asks a model beside the conversation is broken off by a deletion, and tells
// that the session is gone.
func TestDelete_besideCommands(t *testing.T) {
	for name, do := range map[string]func(*live.Session) error{
		"aside":   func(s *live.Session) error { _, err := s.Aside(context.Background(), "what?"); return err },
		"compact": func(s *live.Session) error { _, err := s.Compact(context.Background()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			r := newPlace(t).open(nil)
			s := r.session(chat)
			for n := range 6 {
				say(t, r, s, turn(n+1), strings.Repeat("one ", 200))
				waitIdle(t, s)
			}
			asked := make(chan struct{}, 16)
			r.brain.does(func(ctx context.Context, _ model.Request, _ func(string)) (*model.Response, error) {
				asked <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			})
			told := make(chan error, 1)
			go func() { told <- do(s) }()
			select {
			case <-asked:
			case err := <-told:
				t.Fatal("the model is not asked:", err)
			}
			if err := r.Delete(t.Context(), parse(t, chat), house.Parting{}); err != nil {
				t.Fatal(err)
			}
			if err := <-told; !errors.Is(err, live.ErrRetired) {
				t.Errorf("told is %v", err)
			}
		})
	}
}
