package conform

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/wire"
)

// tap passes a live conversation through and judges both sides. Its exit code is that of the command, so that
// the host sees what it would see without it.
func (inv *invocation) tap() int {
	f := inv.flags()
	path := f.String("transcript", "", "write the conversation to this file; octet-conform view reads it")
	quiet := f.Bool("quiet", false, "say nothing on standard error; the transcript has all")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	before, argv := split(f)
	if len(before) > 0 || len(argv) == 0 {
		return inv.wrong("tap wants the command of an extension behind --, as in 'octet-conform tap -- ./my-extension'")
	}
	o := tap.Options{Command: exec.Command(argv[0], argv[1:]...), Stdin: inv.stdin, Stdout: inv.stdout, Stderr: os.Stderr, Stop: inv.ctx.Done()}
	if *path != "" {
		file, err := os.Create(*path)
		if err != nil {
			return inv.unable(err)
		}
		defer func() { _ = file.Close() }()
		o.Transcript = file
	}
	if !*quiet {
		o.Found = func(found tap.Finding) { fmt.Fprintln(inv.stderr, "octet-conform: "+finding(found)) }
		o.Unjudged = func(reason string) { fmt.Fprintln(inv.stderr, "octet-conform: nothing was judged: "+reason) }
	}
	code, err := tap.Run(o)
	if err != nil {
		return inv.unable(err)
	}
	return code
}

// oneLine shows a text that a file or a peer has written: nothing of it ends the line or speaks to the terminal.
func oneLine(text string) string {
	return strings.Join(strings.Fields(wire.Printable([]byte(text), 400)), " ")
}

// finding is a finding on one line: who, which rule, what, and where.
func finding(f tap.Finding) string {
	rule := f.Rule
	if rule == "" {
		rule = "the models of the wire"
	}
	text := fmt.Sprintf("the %s breaks %s: %s", f.By, rule, oneLine(f.Message))
	if f.Frame >= 0 {
		text += fmt.Sprintf(" (frame %d)", f.Frame)
	}
	return text
}

// view shows a transcript and judges it again.
func (inv *invocation) view() int {
	f := inv.flags()
	whole := f.Bool("whole", false, "show every frame, and every byte of it")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 1 {
		return inv.wrong("view wants one transcript, and %d are given; octet-conform tap writes them", f.NArg())
	}
	header, frames, err := transcript.Read(f.Arg(0))
	if err != nil {
		return inv.unable(err)
	}
	found := rejudge(frames)
	if header.Failure != nil {
		// One side is the referee, which breaks rules on purpose.
		referee := wire.ToSubject
		if ofHost(header) {
			referee = wire.FromSubject
		}
		found = slices.DeleteFunc(found, func(f tap.Finding) bool { return f.By == referee })
	}
	opts := wire.RenderOptions{Mark: -1}
	if *whole {
		opts.Frames, opts.Bytes = len(frames)+1, 1<<30
	}
	if len(found) > 0 {
		opts.Mark = found[0].Frame
	}
	was := header.Failure
	if was != nil && was.Frame != nil {
		opts.Mark = *was.Frame
	}
	if err := inv.show(header, frames, found, opts); err != nil {
		return inv.unable(err)
	}
	if was != nil {
		fmt.Fprintf(inv.stdout, "it shows %s: %s\n", oneLine(was.Rule), oneLine(was.Message))
	}
	if len(found) > 0 || was != nil {
		return report.ExitFindings
	}
	return report.ExitClean
}

func rejudge(frames []wire.Frame) []tap.Finding {
	var judge tap.Judge
	var found []tap.Finding
	for _, f := range frames {
		found = append(found, judge.Observe(f)...)
	}
	return found
}

func (inv *invocation) show(h transcript.Header, frames []wire.Frame, found []tap.Finding, opts wire.RenderOptions) error {
	api := "no API version that can be judged"
	if h.API != "" {
		api = "API " + h.API
	}
	if _, err := fmt.Fprintf(inv.stdout, "%s on %s, %d frames\n", oneLine(strings.Join(h.Command, " ")), oneLine(api), len(frames)); err != nil {
		return err
	}
	if err := wire.Render(inv.stdout, frames, opts); err != nil {
		return err
	}
	for _, each := range found {
		if _, err := io.WriteString(inv.stdout, finding(each)+"\n"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(inv.stdout, "%d findings\n", len(found))
	return err
}
