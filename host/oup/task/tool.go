package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/tool"
)

// Place is where a model's calls come from.
type Place struct {
	Session   string
	Turn      func() string // that runs now
	Workspace string
}

// Tools are those with which a model starts tasks, looks after them and ends them.
func (s *Supervisor) Tools(p Place) []tool.Tool {
	return []tool.Tool{startTool{s, p}, outputTool{s, p}, cancelTool{s, p}}
}

// maxToolText is how much output one call shows.
const maxToolText = 16 << 10

// read reads arguments, which were checked against the parameters.
func read[T any](call tool.Call) (a T, err error) {
	err = json.Unmarshal(call.Arguments, &a)
	return a, err
}

type startTool struct {
	s *Supervisor
	p Place
}

type startArguments struct {
	Command string `json:"command"`
	Title   string `json:"title"`
}

// Definition describes the tool.
func (startTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "task_start", Effect: tool.Command,
		Description: "Start a command of the shell that runs in the background, beside the conversation, and return its task id at once: for servers, watchers and long builds. Files that it writes into the directory $" + artifactVariable + " are kept as results. Look after it with task_output, end it with task_cancel.",
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"command":{"type":"string","minLength":1,"description":"The command line."},
			"title":{"type":"string","description":"A few words for people."}},
			"required":["command"],"additionalProperties":false}`),
		Snippet: "run a command in the background",
	}
}

// Describe shows the command.
func (startTool) Describe(arguments json.RawMessage) tool.Summary {
	var a startArguments
	if json.Unmarshal(arguments, &a) != nil {
		return tool.Summary{}
	}
	return tool.Summary{Subject: a.Command}
}

// Run starts it.
func (t startTool) Run(_ context.Context, call tool.Call) (tool.Result, error) {
	a, err := read[startArguments](call)
	if err != nil {
		return tool.Failed(err.Error()), nil
	}
	r, err := t.s.Start(Spec{
		Session: t.p.Session, Turn: t.p.Turn(), Tool: call.Name, CallID: call.ID, Title: a.Title, Source: oupwire.TaskSourceModel,
		Command: a.Command, Workspace: t.p.Workspace,
	})
	if err != nil {
		return tool.Failed(err.Error()), nil
	}
	return tool.Said("task " + r.ID + " is started"), nil
}

type outputTool struct {
	s *Supervisor
	p Place
}

type outputArguments struct {
	Task   string `json:"task_id"`
	Offset *int64 `json:"offset"`
}

// Definition describes the tool.
func (outputTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "task_output", Effect: tool.None, Parallel: true,
		Description: fmt.Sprintf("Show how a background task stands and what it has written: the end of it, or up to %d KiB from an offset in bytes on.", maxToolText>>10),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"task_id":{"type":"string","minLength":1,"description":"The task."},
			"offset":{"type":"integer","minimum":0,"description":"Where to begin, in bytes."}},
			"required":["task_id"],"additionalProperties":false}`),
		Snippet: "look at a background task",
	}
}

// Run reads it.
func (t outputTool) Run(_ context.Context, call tool.Call) (tool.Result, error) {
	a, err := read[outputArguments](call)
	if err != nil {
		return tool.Failed(err.Error()), nil
	}
	from := int64(0)
	if a.Offset != nil {
		from = *a.Offset
	} else if end, _, err := t.s.Output(t.p.Session, a.Task, 0, 0); err == nil {
		from = end.Total - maxToolText
	}
	stretch, record, err := t.s.Output(t.p.Session, a.Task, from, maxToolText)
	if err != nil {
		return tool.Failed(err.Error()), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s", record.State)
	if record.Summary != "" {
		b.WriteString(": " + record.Summary)
	}
	fmt.Fprintf(&b, "; bytes %d to %d of %d", stretch.From, stretch.Next, stretch.Total)
	for _, handle := range record.Artifacts {
		b.WriteString("; " + handle)
	}
	b.WriteString("]\n" + stretch.Text)
	return tool.Said(b.String()), nil
}

type cancelTool struct {
	s *Supervisor
	p Place
}

// Definition describes the tool.
func (cancelTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "task_cancel", Effect: tool.None,
		Description: "End a background task with everything that it has started.",
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"task_id":{"type":"string","minLength":1,"description":"The task."}},
			"required":["task_id"],"additionalProperties":false}`),
	}
}

// Run ends it.
func (t cancelTool) Run(_ context.Context, call tool.Call) (tool.Result, error) {
	a, err := read[outputArguments](call)
	if err != nil {
		return tool.Failed(err.Error()), nil
	}
	switch _, err := t.s.Cancel(t.p.Session, a.Task); {
	case errors.Is(err, ErrEnded):
		return tool.Said("it has ended already"), nil
	case err != nil:
		return tool.Failed(err.Error()), nil
	}
	return tool.Said("it is cancelled"), nil
}
