package builtin

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/tool"
	"github.com/octet-dev/octet/process"
)

// Bounds of commands.
const (
	maxOutputBytes = 48 << 10 // of the end of the output, that is kept
	maxOutputLines = 2000
	maxLiveBytes   = 1 << 20 // that is shown while the command runs
	drainGrace     = 250 * time.Millisecond
	slowGrace      = 5 * time.Second
)

// stages are how a command that must stop comes down, with all that it has started.
var stages = process.Stages{Terminate: time.Second, Kill: 2 * time.Second}

// shellTool runs commands.
type shellTool struct{ options Options }

type shellArguments struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout_seconds"`
}

// Definition describes the tool.
func (t shellTool) Definition() tool.Definition {
	most := int(t.options.MaxTimeout / time.Second)
	return tool.Definition{
		Name: "shell", Effect: tool.Command,
		Description: fmt.Sprintf("Run a command with %s in the workspace. Standard output and standard error come back together, the last %d KiB of them, with the exit code. It gets no input. After %d seconds, unless timeout_seconds says otherwise, it is stopped; whatever it has left running in the background is stopped when it ends.",
			t.options.Shell, maxOutputBytes>>10, int(t.options.Timeout/time.Second)),
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{
			"command":{"type":"string","minLength":1,"description":"The command line."},
			"timeout_seconds":{"type":"integer","minimum":1,"maximum":%d}},
			"required":["command"],"additionalProperties":false}`, most)),
		Snippet: "run a command of the shell",
	}
}

// Describe shows the command.
func (t shellTool) Describe(arguments json.RawMessage) tool.Summary {
	var a shellArguments
	if json.Unmarshal(arguments, &a) != nil {
		return tool.Summary{}
	}
	return tool.Summary{Subject: a.Command}
}

// ran is what is kept of a command beside its output.
type ran struct {
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	Bytes    int64  `json:"output_bytes"`
	Left     int    `json:"stopped_in_background,omitempty"`
}

// Run runs the command until it ends, the time is over or the context ends. Nothing of it is left running.
func (t shellTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[shellArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	limit := t.options.Timeout
	if a.Timeout > 0 {
		limit = min(time.Duration(a.Timeout)*time.Second, t.options.MaxTimeout)
	}
	tag := "OCTET_COMMAND=" + rand.Text()
	p, err := process.Start(process.Options{
		Path: t.options.Shell, Args: ShellWords(a.Command), Dir: t.options.Workspace,
		Env: append(append([]string{}, t.options.Env...), tag), Tag: tag, After: t.options.After,
	})
	if err != nil {
		return answer(ctx, "", err)
	}
	_ = p.Stdin().Close() // there is no input
	out := &output{progress: call.Progress}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		// Its end is all that matters: EOF, or closed by End.
		_, _ = io.Copy(out, p.Stdout())
	}()
	var kept ran
	select {
	case <-p.Exited():
		kept.Left = t.settle(p, drained)
	case <-ctx.Done():
	case <-t.options.After(limit):
		kept.TimedOut = true
	}
	report := p.End(stages)
	<-drained
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	kept.ExitCode, kept.Signal, kept.Bytes = report.State.Code, report.State.Signal, out.total
	return t.result(out, kept, limit), nil
}

// settle waits for the last of the output once the command has ended: not for long where others hold the
// pipe, whom End will stop, and longer where only a slow reader keeps it. It returns how many others there
// are.
func (t shellTool) settle(p *process.Process, drained <-chan struct{}) int {
	left := p.Descendants()
	grace := drainGrace
	if left == 0 {
		grace = slowGrace
	}
	select {
	case <-drained:
	case <-t.options.After(grace):
	}
	return left
}

func (t shellTool) result(out *output, kept ran, limit time.Duration) tool.Result {
	var b strings.Builder
	b.WriteString(out.text())
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	switch {
	case kept.TimedOut:
		fmt.Fprintf(&b, "[stopped after %s; give timeout_seconds if it needs longer]", limit)
	case kept.Signal != "":
		fmt.Fprintf(&b, "[ended by signal %s]", kept.Signal)
	default:
		fmt.Fprintf(&b, "[exit code %d]", kept.ExitCode)
	}
	if kept.Left > 0 {
		fmt.Fprintf(&b, "\n[%d processes that it left in the background were stopped]", kept.Left)
	}
	result := tool.Said(b.String())
	result.IsError = kept.TimedOut || kept.Signal != "" || kept.ExitCode != 0
	if text, err := json.Marshal(kept); err == nil {
		result.Details = &conversation.Details{Metadata: text}
	}
	return result
}

// output keeps the end of what a command writes, and shows it as it comes.
type output struct {
	progress func(tool.Progress)
	tail     []byte
	total    int64
}

// Write takes what the command has written. It belongs to one goroutine.
func (o *output) Write(b []byte) (int, error) {
	if o.progress != nil && o.total < maxLiveBytes {
		o.progress(tool.Progress{Stream: "stdout", Data: bytes.Clone(b)})
	}
	o.total += int64(len(b))
	o.tail = append(o.tail, b...)
	if len(o.tail) > 2*maxOutputBytes {
		o.tail = append([]byte{}, o.tail[len(o.tail)-maxOutputBytes:]...)
	}
	return len(b), nil
}

// text is the end of the output, cut at a line where something is left out.
func (o *output) text() string {
	kept := o.tail
	if len(kept) > maxOutputBytes {
		kept = kept[len(kept)-maxOutputBytes:]
	}
	if at := lastLines(kept, maxOutputLines); at > 0 {
		kept = kept[at:]
	} else if int64(len(kept)) < o.total {
		if end := bytes.IndexByte(kept, '\n'); end >= 0 && end+1 < len(kept) {
			kept = kept[end+1:]
		}
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(string(kept), "\x00", "\uFFFD"), "\uFFFD")
	if left := o.total - int64(len(kept)); left > 0 {
		text = fmt.Sprintf("[%d bytes of output in front of this are left out]\n", left) + text
	}
	return text
}

// lastLines is where the last lines of a text begin; 0 if it has no more of them.
func lastLines(text []byte, most int) int {
	end := len(text)
	if end > 0 && text[end-1] == '\n' {
		end--
	}
	for range most {
		end = bytes.LastIndexByte(text[:end], '\n')
		if end < 0 {
			return 0
		}
	}
	return end + 1
}
