package agents

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/service/clip"
)

// Why a run of a child is ended.
var (
	errInterrupted = errors.New("interrupted")
	errTimedOut    = errors.New("the time of the agent is over")
	errShutDown    = errors.New("shut down")
)

// child is one agent. Its fields are under the lock of the service, but for those that never change.
type child struct {
	service *Service
	tree    *tree
	id      string
	path    string
	asked   featurewire.AgentSpawnParams // without what ties it to a request
	answer  featurewire.AgentSpawnResult // as it was given first
	policy  featurewire.AgentEffectivePolicy
	output  int // bytes that its output may have

	opened  Opened
	status  featurewire.AgentStatus
	created time.Time
	started time.Time               // zero: not yet
	ended   time.Time               // of its last run; zero while it runs
	until   time.Time               // zero: unlimited
	cancel  context.CancelCauseFunc // ends the run, nil if there is none
	cause   error                   // why it is being ended
	waiting []string                // messages for a run that has not begun
	queued  int                     // follow-ups that were handed over in this run

	turns, calls int64
	phase        string
	tool         string
	recent       []*featurewire.AgentToolRun
	open         map[string]*featurewire.AgentToolRun // by call
	usage        conversation.Usage
	uncertain    bool
	booked       bool
	gone         bool // its session is closed
	log          eventLog
}

// activeLocked reports whether a run is due or goes on.
func (c *child) activeLocked() bool {
	switch c.status.(type) {
	case featurewire.AgentPending, featurewire.AgentRunning:
		return true
	}
	return false
}

// interruptLocked asks a run to end, and reports whether there is one. The first reason counts.
func (c *child) interruptLocked(why error) bool {
	if !c.activeLocked() {
		return false
	}
	if c.cause == nil {
		c.cause = why
	}
	if c.cancel != nil {
		c.cancel(why)
	}
	return true
}

// shutDownLocked ends a child for good: now, or when its run has ended.
func (c *child) shutDownLocked() {
	if c.activeLocked() {
		c.cause = errShutDown
		if c.cancel != nil {
			c.cancel(errShutDown)
		}
		return
	}
	c.becomeLocked(featurewire.AgentShutdown{})
	c.closeLocked()
}

func (c *child) closeLocked() {
	if !c.gone && c.opened.Close != nil {
		c.gone = true
		// It may wait for the disk.
		c.service.running.Add(1)
		go func() {
			defer c.service.running.Done()
			c.opened.Close()
		}()
	}
}

// becomeLocked changes the state and tells whoever waits.
func (c *child) becomeLocked(status featurewire.AgentStatus) {
	c.status = status
	c.tree.changedLocked()
	c.service.telemetry(Telemetry{
		Schema: TelemetrySchema, Principal: c.tree.key.principal, Owner: c.tree.key.owner, Agent: c.id, Session: c.opened.Session,
		Task: c.asked.TaskName, State: stateOf(status), Millis: time.Now().UnixMilli(),
	})
}

// stateOf is the tag of a status.
func stateOf(status featurewire.AgentStatus) string {
	var tagged struct {
		State string `json:"state"`
	}
	if json.Unmarshal(status.AppendJSON(nil), &tagged) != nil {
		return ""
	}
	return tagged.State
}

// startLocked begins a run.
func (c *child) startLocked(prompt string) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c.cancel, c.cause, c.ended, c.queued = cancel, nil, time.Time{}, 0
	var timer *time.Timer
	if !c.until.IsZero() {
		timer = time.AfterFunc(time.Until(c.until), func() {
			c.service.mu.Lock()
			defer c.service.mu.Unlock()
			c.interruptLocked(errTimedOut)
		})
	}
	c.becomeLocked(featurewire.AgentPending{})
	c.service.running.Add(1)
	go func() {
		defer c.service.running.Done()
		defer cancel(nil)
		if timer != nil {
			defer timer.Stop()
		}
		c.run(ctx, prompt)
	}()
}

// run makes one run and notes its end.
func (c *child) run(ctx context.Context, prompt string) {
	s := c.service
	s.mu.Lock()
	c.phase = "starting"
	if c.started.IsZero() {
		c.started = time.Now()
	}
	for _, text := range c.waiting {
		prompt += "\n\n" + text
	}
	c.waiting = nil
	c.becomeLocked(featurewire.AgentRunning{})
	s.mu.Unlock()

	outcome, err := runGuarded(ctx, c.opened.Kernel, agent.Prompt{Text: prompt})

	s.mu.Lock()
	defer s.mu.Unlock()
	c.cancel, c.phase, c.tool, c.ended = nil, "idle", "", time.Now()
	c.usage = c.usage.Add(outcome.Usage)
	c.uncertain = c.uncertain || outcome.Uncertain || err != nil
	c.becomeLocked(c.settledAs(outcome, err))
	if errors.Is(c.cause, errShutDown) {
		c.closeLocked()
	}
	c.cause = nil
}

// runGuarded makes a panic of a child its own affair.
func runGuarded(ctx context.Context, k Kernel, p agent.Prompt) (outcome agent.Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("the agent broke down")
		}
	}()
	return k.Run(ctx, p)
}

// settledAs is the state that a run leaves behind.
func (c *child) settledAs(outcome agent.Outcome, err error) featurewire.AgentStatus {
	switch {
	case errors.Is(c.cause, errShutDown):
		return featurewire.AgentShutdown{}
	case err == nil && outcome.Status == agent.Completed:
		return featurewire.AgentCompleted{Output: clip.Text(outcome.Text, c.output)}
	case errors.Is(c.cause, errTimedOut):
		return featurewire.AgentTimedOut{}
	case c.cause != nil, err == nil && outcome.Status == agent.Interrupted, err == nil && outcome.Status == agent.Cancelled:
		return featurewire.AgentInterrupted{}
	case err != nil:
		return featurewire.AgentFailed{Error: clip.Text(err.Error(), c.output)}
	}
	return featurewire.AgentFailed{Error: clip.Text(outcome.Reason, c.output)}
}

// faultMost bounds the text of a failure, in bytes.
const faultMost = 4096

// observe takes an event of the child.
func (c *child) observe(e agent.Event) {
	s := c.service
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case agent.TurnStarted:
		c.phase = "model"
		c.noteLocked(fact{"type": "model_turn_started", "turn": e.Turn})
	case agent.TurnFinished:
		c.turns++
		c.noteLocked(fact{"type": "model_turn_finished", "turn": e.Turn, "calls": e.Calls})
	case agent.TextDelta:
		c.noteLocked(fact{"type": "output_delta", "turn": e.Turn, "text": e.Text})
	case agent.AnswerDiscarded:
		c.noteLocked(fact{"type": "output_discarded", "turn": e.Turn})
	case agent.ToolStarted:
		c.toolStartedLocked(e)
	case agent.ToolFinished:
		c.toolFinishedLocked(e)
	case agent.RunSettled:
		c.noteLocked(fact{"type": "run_finished", "status": string(e.Status)})
	}
}

func (c *child) toolStartedLocked(e agent.ToolStarted) {
	c.calls++
	c.phase, c.tool = "tool", clip.Text(e.Name, featurewire.MaxToolNameBytes)
	r := &featurewire.AgentToolRun{Name: c.tool, Args: oneLine(string(e.Arguments)), StartedAtMs: time.Now().UnixMilli()}
	c.open[e.CallID] = r
	c.recent = append(c.recent, r)
	if extra := len(c.recent) - featurewire.MaxAgentRecentTools; extra > 0 {
		c.recent = c.recent[extra:]
	}
	c.noteLocked(fact{"type": "tool_started", "turn": e.Turn, "call_id": e.CallID, "name": e.Name})
}

func (c *child) toolFinishedLocked(e agent.ToolFinished) {
	if r := c.open[e.CallID]; r != nil {
		delete(c.open, e.CallID)
		r.FinishedAtMs, r.Error = wirejson.Some(time.Now().UnixMilli()), e.Status != agent.ToolCompleted
	}
	if len(c.open) == 0 {
		c.phase, c.tool = "model", ""
	}
	c.noteLocked(fact{"type": "tool_finished", "turn": e.Turn, "call_id": e.CallID, "name": e.Name, "status": string(e.Status)})
}

// oneLine shows arguments in one short line.
func oneLine(text string) string {
	line := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
	return clip.Text(line, featurewire.MaxAgentToolArgsBytes)
}

func (c *child) noteLocked(f fact) {
	c.log.add(f)
	c.tree.changedLocked()
}
