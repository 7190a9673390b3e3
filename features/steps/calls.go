package steps

import (
	"encoding/json"
	"errors"

	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/verdict"
)

// sample is a call that is safe to make and expected to end well.
func (w *World) sample() (profile.Call, error) {
	if p := w.setup.Profile; p != nil {
		for _, c := range p.Call {
			if c.Expect == profile.OK {
				return c, nil
			}
		}
	}
	if w.setup.NoCalls != "" {
		return profile.Call{}, notApplicable("%s", w.setup.NoCalls)
	}
	tools, err := w.tools()
	if err != nil {
		return profile.Call{}, err
	}
	if len(tools) == 0 {
		return profile.Call{}, notApplicable("the extension announces no tool")
	}
	why := ""
	for _, t := range tools {
		args, err := profile.Arguments(t.Parameters)
		if text, bad := json.Marshal(args); err == nil && (bad != nil || !w.setup.Dialect.Spellable(string(text))) {
			err = errors.New("its arguments have no canonical spelling")
		}
		if err == nil {
			return profile.Call{Tool: t.Name, Arguments: args}, nil
		}
		if why == "" {
			why = t.Name + ": " + err.Error()
		}
	}
	return profile.Call{}, notApplicable("no arguments can be made from the tools' schemas (%s); add a [[call]] to %s", why, profile.FileName)
}

// slow is a call that runs until it is cancelled.
func (w *World) slow() (profile.Call, error) {
	if p := w.setup.Profile; p != nil && p.Slow != nil {
		return *p.Slow, nil
	}
	return profile.Call{}, notApplicable("no slow call is known; add [slow] to %s", profile.FileName)
}

// failing is a call that fails without harm.
func (w *World) failing() (profile.Call, error) {
	if p := w.setup.Profile; p != nil && p.Failing != nil {
		return *p.Failing, nil
	}
	return profile.Call{}, notApplicable("no failing call is known; add [failing] to %s", profile.FileName)
}

// large is a call whose result is larger than a small frame.
func (w *World) large() (profile.Call, error) {
	if p := w.setup.Profile; p != nil && p.Large != nil {
		return *p.Large, nil
	}
	return profile.Call{}, notApplicable("no call with a large result is known; add [large] to %s", profile.FileName)
}

// misfit is the sample call with arguments that its tool's schema forbids.
func (w *World) misfit() (profile.Call, error) {
	call, err := w.sample()
	if err != nil {
		return call, err
	}
	tools, err := w.tools()
	if err != nil {
		return call, err
	}
	for _, t := range tools {
		if t.Name == call.Tool {
			if args, ok := profile.Misfit(t.Parameters); ok {
				return profile.Call{Tool: call.Tool, Arguments: args}, nil
			}
		}
	}
	return call, notApplicable("the schema of tool %q forbids nothing", call.Tool)
}

// known are the calls that a session makes: all that the profile names, or one that is made up, if any.
func (w *World) known() ([]profile.Call, error) {
	var calls []profile.Call
	if p := w.setup.Profile; p != nil {
		calls = append(calls, p.Call...)
		if p.Failing != nil {
			calls = append(calls, *p.Failing)
		}
	}
	if len(calls) > 0 {
		return calls, nil
	}
	call, err := w.sample()
	if skip(err) {
		return nil, nil
	}
	return []profile.Call{call}, err
}

// outcome says how the call whose answer was taken last has ended.
func (w *World) outcome() profile.Expect {
	if w.answer.IsError() {
		return profile.Error
	}
	if failed, ok := lookup(w.answer.Fields["result"], "/is_error"); ok && string(failed) == "true" {
		return profile.ToolError
	}
	return profile.OK
}

// call finds a call by the word that features use for it.
func (w *World) call(kind string) (profile.Call, error) {
	switch kind {
	case "slow":
		return w.slow()
	case "failing":
		return w.failing()
	case "large":
		return w.large()
	case "misfit":
		return w.misfit()
	default:
		return w.sample()
	}
}

// tools are those the extension announced.
func (w *World) tools() ([]profile.Tool, error) {
	var r struct {
		Tools []profile.Tool `json:"tools"`
	}
	if err := json.Unmarshal(w.result, &r); err != nil {
		return nil, missing(fail("the initialize result cannot be read: %v", err))
	}
	return r.Tools, nil
}

// Unready is a subject that did not get as far as announcing its tools, and what it left to be seen.
type Unready struct {
	Err    error
	Said   int    // complete frames that it has written
	Stderr string // the newest of it
	Ended  string // how it ended; empty if it was not started
}

func (u *Unready) Error() string { return u.Err.Error() }

func (u *Unready) Unwrap() error { return u.Err }

// Tools starts the subject, initializes it, and returns the tools it announces. The error is an *Unready.
func Tools(setup *Setup) ([]profile.Tool, error) {
	w := NewWorld(setup, "", nil)
	var tools []profile.Tool
	err := w.ready()
	if err == nil {
		tools, err = w.tools()
	}
	w.Stop()
	if err == nil {
		return tools, nil
	}
	var left verdict.Scenario
	w.Evidence(&left)
	return nil, &Unready{Err: err, Said: w.Said(), Stderr: left.Stderr, Ended: left.Ended}
}
