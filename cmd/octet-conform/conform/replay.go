package conform

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/hostreferee"
	"github.com/octet-dev/octet/features/minimise"
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
	flags.registerSubject(f)
	whole := f.Bool("whole", false, "show every frame, and every byte of it")
	host := f.Bool("host", false, "the subject is a host: play the extension of the transcript to it")
	adapter := f.String("adapter", "", "of a host, as octet-conform host takes it")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	before, argv := split(f)
	if len(before) == 0 {
		return inv.wrong("replay wants a transcript and an extension, as in 'octet-conform replay talk.jsonl DIR' or 'octet-conform replay talk.jsonl -- CMD'")
	}
	if err := checkScale(flags.scale); err != nil {
		return inv.wrong("%v", err)
	}
	header, frames, err := transcript.Read(before[0])
	if err != nil {
		return inv.unable(err)
	}
	if *host || *adapter != "" {
		return inv.replayHost(header, before[1:], argv, *adapter, flags.scale, *whole)
	}
	if ofHost(header) {
		return inv.wrong("the transcript is of a host; give --adapter, or --host and its command behind --")
	}
	if len(frames) == 0 {
		return inv.unable(fmt.Errorf("%s holds no frame behind its header; there is nothing to play", before[0]))
	}
	if argv != nil {
		if header.API == "" {
			return inv.unable(fmt.Errorf("%s:1: no api is named, so what the command speaks is not known; play it to a directory with a manifest", before[0]))
		}
		flags.api = header.API
	}
	target, err := inv.target(before[1:], argv, &flags)
	if err != nil {
		return inv.refuse(err)
	}
	defer target.remove()
	patience := steps.DefaultPatience.Scale(flags.scale * calibrate(inv.ctx))
	if of := header.Failure; of != nil && of.Scenario != "" {
		target.setup.Patience = patience
		return inv.replayScenario(target, header, frames, *whole)
	}
	if header.Fuzz != nil {
		target.setup.Patience = patience
		return inv.replayFuzz(target, header, frames, *whole)
	}
	r, err := replay.Run(inv.ctx, replay.Options{Starter: target.setup.Starter, Frames: frames, Wait: patience.Answer})
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

// ofHost reports whether a transcript is of a scenario for hosts.
func ofHost(header transcript.Header) bool {
	return header.Failure != nil && strings.HasPrefix(header.Failure.File, features.HostFolder+"/")
}

// replayScenario has the conversation of a scenario again, with the frames that the transcript has.
func (inv *invocation) replayScenario(target *target, header transcript.Header, frames []wire.Frame, whole bool) int {
	was := header.Failure
	all, err := features.Scenarios()
	if err != nil {
		return inv.unable(err)
	}
	s, err := scenarioOf(all, was)
	if err != nil {
		return inv.unable(err)
	}
	played, err := minimise.Play(inv.ctx, target.setup, minimise.Conversation{
		Scenario: s.Key(), Sent: was.Sent, Kept: transcript.Kept(frames), Steps: was.Steps, Seed: was.Seed,
		Finding: verdict.Finding{Rule: was.Rule, Message: was.Message, Step: was.Step, Missing: was.Missing},
	})
	if err != nil {
		return inv.unable(err)
	}
	if played.Void {
		return inv.unable(fmt.Errorf("without the frames that the transcript leaves out, an extension with no fault fails as well, so this says nothing; replay the transcript as it was written"))
	}
	if !played.Shows {
		// What steps expect may have been owed to frames that are left out.
		played.Result.Findings = slices.DeleteFunc(played.Result.Findings, func(f verdict.Finding) bool { return f.Step })
	}
	return inv.replayed(transcript.Header{API: header.API, Command: target.subject.Command}, was, played.Result, played.Shows, whole)
}

// scenarioOf finds the scenario of a transcript by its place, or by its name where files have changed since.
func scenarioOf(all []features.Scenario, was *transcript.Failure) (features.Scenario, error) {
	var found []features.Scenario
	for _, s := range all {
		switch {
		case s.File != was.File || s.Name != was.Scenario && !strings.HasPrefix(was.Scenario, s.Name+": "):
		case s.Line == was.Line:
			return s, nil
		default:
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return features.Scenario{}, fmt.Errorf("this octet-conform has no scenario %q at %s:%d; use the one that wrote the transcript", was.Scenario, was.File, was.Line)
	}
	return found[0], nil
}

// replayed shows what came of a scenario that was had again.
func (inv *invocation) replayed(header transcript.Header, was *transcript.Failure, now verdict.Scenario, shows, whole bool) int {
	opts := wire.RenderOptions{Mark: -1}
	if whole {
		opts.Frames, opts.Bytes = len(now.Frames)+1, 1<<30
	}
	by := wire.FromSubject
	if ofHost(transcript.Header{Failure: was}) {
		by = wire.ToSubject
	}
	var found []tap.Finding
	for _, f := range now.Findings {
		found = append(found, tap.Finding{By: by, Finding: f})
		if opts.Mark < 0 && f.Rule == was.Rule {
			opts.Mark = f.Frame
		}
	}
	if err := inv.show(header, now.Frames, found, opts); err != nil {
		return inv.unable(err)
	}
	if now.Ended != "" {
		fmt.Fprintf(inv.stdout, "ended: %s\n", now.Ended)
	}
	switch {
	case shows:
		fmt.Fprintf(inv.stdout, "the failure shows again: %s in %q (%s:%d)\n", oneLine(was.Rule), was.Scenario, oneLine(was.File), was.Line)
		return report.ExitFindings
	case now.Class == verdict.Errored:
		return inv.unable(errors.New(now.Reason))
	}
	fmt.Fprintf(inv.stdout, "the failure does not show: %s in %q is mended, or it cannot be repeated\n", oneLine(was.Rule), was.Scenario)
	if len(found) > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}

// replayHost has the scenario of a transcript again with a host.
func (inv *invocation) replayHost(header transcript.Header, rest, argv []string, adapter string, scale float64, whole bool) int {
	was := header.Failure
	if was == nil || was.Scenario == "" {
		return inv.wrong("the transcript is of no scenario for hosts; octet-conform host --transcripts writes those")
	}
	if !ofHost(header) {
		return inv.wrong("the transcript is of an extension; octet-conform host --transcripts writes those of hosts")
	}
	told, err := chooseAdapter(adapter, rest, argv)
	if err != nil {
		return inv.refuse(err)
	}
	all, err := features.HostScenarios()
	if err != nil {
		return inv.unable(err)
	}
	s, err := scenarioOf(all, was)
	if err != nil {
		return inv.unable(err)
	}
	d, err := dialect.For(header.API)
	if err != nil {
		return inv.unable(err)
	}
	self, err := os.Executable()
	if err != nil {
		return inv.unable(err)
	}
	out, err := hostreferee.Run(inv.ctx, hostreferee.Options{
		Setup:  hostSetup(d, self, told, steps.DefaultPatience.Scale(scale*calibrate(inv.ctx))),
		Select: func(each features.Scenario) bool { return each.Key() == s.Key() }, Jobs: 1, Seed: was.Seed,
	})
	if err != nil {
		return inv.unable(err)
	}
	shows := slices.ContainsFunc(out[0].Findings, func(f verdict.Finding) bool { return f.Rule == was.Rule })
	return inv.replayed(transcript.Header{API: header.API, Command: told.Call}, was, out[0], shows, whole)
}
