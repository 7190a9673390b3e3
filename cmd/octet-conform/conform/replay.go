package conform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/replay"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// replay plays the host of a transcript to an extension and judges what comes.
func (inv *invocation) replay() int {
	var flags runFlags
	f := inv.flags()
	f.Float64Var(&flags.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	whole := f.Bool("whole", false, "show every frame, and every byte of it")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	before, argv := split(f)
	if len(before) == 0 {
		return inv.wrong("replay wants a transcript and an extension, as in 'octet-conform replay talk.jsonl DIR' or 'octet-conform replay talk.jsonl -- CMD'")
	}
	header, frames, err := transcript.Read(before[0])
	if err != nil {
		return inv.unable(err)
	}
	if argv != nil {
		flags.api = header.API
	}
	target, err := inv.target(before[1:], argv, &flags)
	if err != nil {
		return inv.refuse(err)
	}
	defer target.remove()
	wait := steps.DefaultPatience.Scale(flags.scale * calibrate(inv.ctx)).Answer
	r, err := replay.Run(inv.ctx, replay.Options{Starter: target.setup.Starter, Frames: frames, Wait: wait})
	if err != nil && !errors.Is(err, subject.ErrStuck) {
		return inv.unable(err)
	}
	// The host is the transcript's: what it breaks is not for the extension to mend.
	found := slices.DeleteFunc(r.Found, func(f tap.Finding) bool { return f.By == wire.ToSubject })
	opts := wire.RenderOptions{Mark: -1}
	if *whole {
		opts.Frames, opts.Bytes = len(r.Frames)+1, 1<<30
	}
	if len(found) > 0 {
		opts.Mark = found[0].Frame
	}
	if err := inv.show(transcript.Header{API: header.API, Command: target.subject.Command}, r.Frames, found, opts); err != nil {
		return inv.unable(err)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(inv.stdout, "missing: %s\n", wire.Line(m, 120, false))
	}
	fmt.Fprintf(inv.stdout, "ended: %s\n", r.Ended)
	if len(found)+len(r.Missing) > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}

// unsafeName is what a file name for a scenario does not keep.
var unsafeName = regexp.MustCompile(`[^a-z0-9]+`)

// keepTranscripts writes the frames of every scenario that is red, and says how each is played again.
func (inv *invocation) keepTranscripts(dir string, target report.Subject, scenarios []verdict.Scenario) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	subject := "-- " + strings.Join(target.Command, " ")
	if target.Directory != "" {
		subject = target.Directory
	}
	for _, s := range scenarios {
		if s.Class != verdict.Fail && s.Class != verdict.NoAnswer || len(s.Frames) == 0 {
			continue
		}
		name := strings.Trim(unsafeName.ReplaceAllString(strings.ToLower(s.Name), "-"), "-") + ".jsonl"
		path := filepath.Join(dir, name)
		if err := keep(path, transcript.Header{API: target.API, Command: target.Command}, s.Frames); err != nil {
			return err
		}
		fmt.Fprintf(inv.stderr, "octet-conform replay %s %s\n", path, subject)
	}
	return nil
}

func keep(path string, h transcript.Header, frames []wire.Frame) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := transcript.NewWriter(file, h)
	for _, f := range frames {
		w.Add(f)
	}
	return errors.Join(w.Err(), file.Close())
}
