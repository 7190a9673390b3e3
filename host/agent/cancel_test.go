package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

func TestCancel_answer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached := make(chan struct{})
		d := sit(t, hangs(reached), says("fine"))
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-reached; cancel() }()
		o := d.run(ctx, "go")
		d.wantStatus(o, Cancelled, CodeCancelled)
		d.wantSaid("user: go")
		if !o.Uncertain || len(d.journal.doubts) != 1 || len(find[UsageUncertain](d)) != 1 {
			t.Errorf("what was used is not counted, and nobody says so: %+v %+v", o, d.journal.doubts)
		}
		if len(find[AnswerDiscarded](d)) != 1 {
			t.Errorf("events: %s", d.types())
		}
		d.wantStatus(d.run(context.Background(), "again"), Completed, "")
		d.wantSaid("user: go", "user: again", "assistant: fine")
	})
}

func TestCancel_before(t *testing.T) {
	d := sit(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := d.run(ctx, "go")
	d.wantStatus(o, Cancelled, CodeCancelled)
	if o.Run != "" || len(d.journal.entries) != 0 || d.types() != "run_settled" {
		t.Errorf("%+v; %s", o, d.types())
	}
}

// The call that runs is stopped, those behind it never run, and all have results.
func TestCancel_tools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached, started := make(chan struct{}), make(chan struct{})
		slow := gadgetOf("slow", tool.Read, true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-started
			close(reached)
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		// It has its result when the cancellation comes, and keeps it.
		quick := gadgetOf("quick", tool.Read, true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			close(started)
			<-ctx.Done()
			return tool.Said("in time"), nil
		})
		never := gadgetOf("never", tool.Write, false, func(context.Context, tool.Call) (tool.Result, error) {
			t.Error("a call behind a cancellation runs")
			return tool.Result{}, nil
		})
		d := sit(t, calls("quick", `{}`, "slow", `{}`, "never", `{}`)).tools(quick, slow, never)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-reached; cancel() }()
		d.wantStatus(d.run(ctx, "go"), Cancelled, CodeCancelled)
		d.wantSaid("user: go", "assistant: quick#c1 | slow#c2 | never#c3", "tool: c1=in time", "tool: c2!"+wasStopped, "tool: c3!"+neverRan)
		if got := d.types(); strings.Contains(got, "turn_finished") {
			t.Errorf("a cancelled turn is told as finished: %s", got)
		}
		status := map[string]ToolStatus{}
		for _, f := range find[ToolFinished](d) {
			status[f.CallID] = f.Status
		}
		if len(status) != 3 || status["c1"] != ToolCompleted || status["c2"] != ToolCancelled || status["c3"] != ToolCancelled {
			t.Errorf("told: %v", status)
		}
	})
}

func TestCancel_toolThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached, release := make(chan struct{}), make(chan struct{})
		deaf := gadgetOf("deaf", tool.Command, false, func(_ context.Context, c tool.Call) (tool.Result, error) {
			close(reached)
			<-release
			c.Progress(tool.Progress{Message: "late"})
			return tool.Said("late"), nil
		})
		d := sit(t, calls("deaf", `{}`)).tools(deaf)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-reached; cancel() }()
		began := time.Now()
		d.wantStatus(d.run(ctx, "go"), Cancelled, CodeCancelled)
		if took := time.Since(began); took != abandonAfter {
			t.Errorf("waited %s", took)
		}
		d.wantSaid("user: go", "assistant: deaf#c1", "tool: c1!"+notStopped)
		told := d.types()
		close(release)
		synctest.Wait()
		if d.types() != told {
			t.Errorf("told behind the end: %s", d.types())
		}
	})
}

func TestCancel_question(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, calls("change", `{}`)).tools(echo("change", tool.Write, false))
		ctx, cancel := context.WithCancel(context.Background())
		d.options.Permission = gate(func(ctx context.Context, _ permission.Request) permission.Ruling {
			cancel()
			<-ctx.Done()
			return permission.Ruling{Decision: permission.Deny, Reason: "withdrawn"}
		})
		d.wantStatus(d.run(ctx, "go"), Cancelled, CodeCancelled)
		d.wantSaid("user: go", "assistant: change#c1", "tool: c1!"+neverRan)
	})
}

func TestCancel_waits(t *testing.T) {
	for _, fault := range []model.Error{
		{Phase: model.BeforeGeneration, Retry: true, Message: "busy"},
		{Phase: model.WaitingForNetwork, Message: "no route"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := sit(t, fails(fault, ""), fails(fault, ""))
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			began := time.Now()
			d.wantStatus(d.run(ctx, "go"), Cancelled, CodeCancelled)
			if took := time.Since(began); took != 1500*time.Millisecond {
				t.Errorf("%s: ended after %s", fault.Message, took)
			}
			if len(d.journal.doubts) > 0 {
				t.Errorf("%s: nothing was used, but doubted: %+v", fault.Message, d.journal.doubts)
			}
		})
	}
}

func TestCancel_causes(t *testing.T) {
	for _, c := range []struct {
		cause  error
		status Status
		stored session.Outcome
	}{
		{ErrInterrupted, Interrupted, session.Interrupted},
		{ErrDisconnected, Disconnected, session.Interrupted},
		{ErrShutdown, Shutdown, session.Interrupted},
		{errors.New("enough"), Cancelled, session.Cancelled},
		{nil, Cancelled, session.Cancelled},
	} {
		synctest.Test(t, func(t *testing.T) {
			reached := make(chan struct{})
			d := sit(t, hangs(reached))
			ctx, cancel := context.WithCancelCause(context.Background())
			go func() { <-reached; cancel(c.cause) }()
			o := d.run(ctx, "go")
			if o.Status != c.status || d.journal.settled[0].Outcome != c.stored || o.Reason == "" {
				t.Errorf("%v: %+v, stored %+v", c.cause, o, d.journal.settled)
			}
			if c.status == Cancelled && c.cause != nil && o.Reason != "enough" {
				t.Errorf("reason: %q", o.Reason)
			}
		})
	}
}

// A result that was there when the cancellation came is stored: what is paid for is kept.
func TestCancel_answerThatWon(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d := sit(t, func(c context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
		cancel()
		return calls("echo", `{}`)(c, r, emit)
	}).tools(echo("echo", tool.None, true))
	d.wantStatus(d.run(ctx, "go"), Cancelled, CodeCancelled)
	d.wantSaid("user: go", "assistant: echo#c1", "tool: c1!"+neverRan)
}

func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, calls("talk", `{}`), says("done"), says("one more"), says("really"))
		d.tools(gadgetOf("talk", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) {
			for _, err := range []error{d.agent.FollowUp("and then"), d.agent.Steer("left"), d.agent.Steer("no, right")} {
				if err != nil {
					t.Error(err)
				}
			}
			return tool.Said("x"), nil
		}))
		agent := d.start()
		if err := agent.Steer("early"); !errors.Is(err, ErrIdle) {
			t.Errorf("steering nobody: %v", err)
		}
		d.watch = func(e Event) {
			if m, ok := e.(Message); ok && m.Message.PlainText() == "one more" {
				if err := agent.Steer("last"); err != nil {
					t.Error(err)
				}
			}
		}
		o := d.run(context.Background(), "go")
		d.wantStatus(o, Completed, "")
		d.wantSaid("user: go", "assistant: talk#c1", "tool: c1=x", "user: left", "user: no, right", "assistant: done",
			"user: and then", "assistant: one more", "user: last", "assistant: really")
		if got := find[InputDelivered](d); len(got) != 4 || got[0].Kind != "steer" || got[2].Kind != "follow_up" || o.Undelivered != nil {
			t.Errorf("delivered: %+v, undelivered %v", got, o.Undelivered)
		}
		if err := agent.FollowUp("late"); !errors.Is(err, ErrIdle) {
			t.Errorf("following nobody: %v", err)
		}
	})
}

// Nothing is taken any more once the run is ending: what is said then belongs to the next one.
func TestSteering_tooLate(t *testing.T) {
	d := sit(t, says("done"))
	asked := false
	d.watch = func(e Event) {
		if _, ok := e.(Notified); ok {
			asked = true
			if err := d.agent.Steer("late"); !errors.Is(err, ErrIdle) {
				t.Errorf("steering a run that is ending: %v", err)
			}
		}
	}
	d.options.Hooks = &recorder{}
	if o := d.run(context.Background(), "go"); !asked || o.Undelivered != nil {
		t.Errorf("asked: %v, %+v", asked, o)
	}
}

func TestSteering_undelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached := make(chan struct{})
		d := sit(t, hangs(reached))
		ctx, cancel := context.WithCancel(context.Background())
		agent := d.start()
		go func() {
			<-reached
			if err := errors.Join(agent.Steer("a"), agent.FollowUp("b")); err != nil {
				t.Error(err)
			}
			cancel()
		}()
		if o := d.run(ctx, "go"); len(o.Undelivered) != 2 || o.Undelivered[0] != "a" {
			t.Errorf("%+v", o)
		}
		d.wantSaid("user: go")
	})
}

// gate asks about everything that changes something.
type gate func(context.Context, permission.Request) permission.Ruling

func (g gate) Judge(r permission.Request) permission.Ruling {
	if r.Tool.Effect == tool.None || r.Tool.Effect == tool.Read {
		return permission.Ruling{Decision: permission.Allow}
	}
	return permission.Ruling{Decision: permission.Ask, Reason: "it changes something", Scopes: []permission.Scope{permission.Once}}
}

func (g gate) Ask(ctx context.Context, r permission.Request) permission.Ruling { return g(ctx, r) }
func (g gate) Settled(string)                                                  {}

func TestStore_fails(t *testing.T) {
	for name, when := range map[string]func(session.Batch) bool{
		"prompt":     func(b session.Batch) bool { return b.Start != "" },
		"answer":     func(b session.Batch) bool { return len(b.Usage) > 0 },
		"result":     func(b session.Batch) bool { return b.Start == "" && len(b.Usage) == 0 && b.Settle == nil },
		"settlement": func(b session.Batch) bool { return b.Settle != nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			stopped, slow := false, make(chan struct{})
			d := sit(t, calls("quick", `{}`, "slow", `{}`), says("done")).tools(
				gadgetOf("quick", tool.None, true, func(context.Context, tool.Call) (tool.Result, error) {
					<-slow
					return tool.Said("x"), nil
				}),
				gadgetOf("slow", tool.None, true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
					close(slow)
					if name == "result" {
						<-ctx.Done()
						stopped = true
					}
					return tool.Said("x"), nil
				}))
			full := errors.New("the disk is full")
			d.journal.fail = func(b session.Batch) error {
				if when(b) {
					return full
				}
				return nil
			}
			o, err := d.start().Run(context.Background(), Prompt{Text: "go"})
			if o.Status != Failed || o.Code != CodeStore || (err != nil) != (name == "settlement") {
				t.Errorf("%s: %+v %v", name, o, err)
			}
			if len(find[RunSettled](d)) != 1 || find[RunSettled](d)[0].Status != Failed {
				t.Errorf("%s: %s", name, d.types())
			}
			if name == "result" && !stopped {
				t.Error("calls run on though nothing can be stored")
			}
			// Whatever is missing is mended once the store works again.
			d.journal.fail = nil
			d.journal.running = ""
			d.provider.steps = []step{says("fine")}
			d.wantStatus(d.run(context.Background(), "again"), Completed, "")
		})
	}
}

func TestMend(t *testing.T) {
	d := sit(t, says("fine"))
	d.provider.steps = append([]step{calls("echo", `{}`, "echo", `{}`)}, d.provider.steps...)
	d.tools(echo("echo", tool.None, false))
	d.journal.fail = func(b session.Batch) error {
		if len(d.journal.entries) == 3 {
			return errors.New("killed")
		}
		return nil
	}
	if o, _ := d.start().Run(context.Background(), Prompt{Text: "go"}); o.Status != Failed {
		t.Fatalf("%+v", o)
	}
	d.journal.fail, d.journal.running = nil, ""
	d.wantStatus(d.run(context.Background(), "again"), Completed, "")
	d.wantSaid("user: go", "assistant: echo#c1 | echo#c2", "tool: c1=echo {}", "tool: c2!"+lostResult, "user: again", "assistant: fine")
}
