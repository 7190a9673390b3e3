package oupreferee

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/oupwire"
)

// silence is why nobody was judged: nothing comes from the subject that a rule is about.
type silence struct {
	why  string
	said string // to its standard error
}

// leaveOut lists scenarios as not run because of a silence.
func (s *silence) leaveOut(plan []features.Scenario) []verdict.Scenario {
	var out []verdict.Scenario
	for _, sc := range plan {
		result := verdict.Scenario{
			Name: sc.Name, File: sc.File, Line: sc.Line, Rules: sc.Rules, Class: verdict.NoAnswer, Reason: s.why, Unrun: true, Stderr: s.said,
		}
		for _, rule := range sc.Rules {
			result.Findings = append(result.Findings, verdict.Finding{Rule: rule, Message: s.why, Frame: -1, Offset: -1, Silent: true, Missing: true, Unrun: true})
		}
		out = append(out, result)
	}
	return out
}

// knock starts a server and asks it something. The silence is nil for one that answers, refuses to be connected to, or
// goes on and says something of its own: each of these is for the rules. An error is of one that does not start.
func knock(ctx context.Context, setup *Setup) (*silence, error) {
	w, err := newWorld(ctx, setup)
	if err != nil {
		return nil, err
	}
	why, err := "", w.begin()
	if err == nil {
		why, err = w.answersNothing()
	}
	w.close()
	if err != nil || why == "" {
		return nil, err
	}
	_, said := w.server.Ended()
	return &silence{why: "nothing is served: " + why, said: said}, nil
}

// answersNothing says in which way a server answers nothing; empty if it does something else.
func (w *world) answersNothing() (string, error) {
	ctx, cancel := w.bounded()
	defer cancel()
	line, err := w.server.Connect(ctx, nil)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return "", nil
	case w.ctx.Err() != nil:
		return "", w.ctx.Err()
	case ctx.Err() != nil:
		return fmt.Sprintf("there is no connection: %v", context.Cause(ctx)), nil
	case err != nil:
		return fmt.Sprintf("there is no connection: %v", err), nil
	}
	c := w.adopt("", line, nil)
	var asked [][]byte
	for _, method := range []string{oupwire.MethodConfigCapabilitiesList, "conform/probe"} {
		asked = append(asked, encode(object{"jsonrpc": protocol("jsonrpc"), "id": w.newRequestID(), "method": method, "params": object{}}))
	}
	// One that does not take it has ended, which shows.
	_ = w.send(c, asked...)
	if w.until(c, func() bool { return answered(c.frames) }) == nil {
		return "", nil
	}
	why := w.why(c)
	w.mu.Lock()
	defer w.mu.Unlock()
	wrote := wrote(w.rec, asked)
	switch {
	case w.ctx.Err() != nil:
		return "", w.ctx.Err()
	case c.flood, !c.ended && wrote != nil:
		return "", nil
	case !c.ended:
		return fmt.Sprintf("two requests get no answer within %s", w.setup.Wait), nil
	case wrote != nil:
		return fmt.Sprintf("two requests get no answer%s; what it wrote begins with %.80q", why, wrote), nil
	}
	return "two requests get no answer" + why, nil
}

// wrote is the first frame of a server that is no echo; nil if there is none.
func wrote(rec *wire.Recorder, asked [][]byte) []byte {
	frames, _ := rec.Frames()
	for _, f := range frames {
		echo := slices.ContainsFunc(asked, func(a []byte) bool { return bytes.Equal(a, f.Bytes) })
		if f.Lane == wire.FromSubject && !echo {
			return append([]byte{}, f.Bytes...)
		}
	}
	return nil
}

func answered(frames []frame) bool {
	for _, f := range frames {
		_, result := f.root["result"]
		_, fault := f.root["error"]
		if result || fault {
			return true
		}
	}
	return false
}

// knockClient has a client run one turn. The silence is nil for one that says something to its server or tries to.
func knockClient(ctx context.Context, setup *ClientSetup) (*silence, error) {
	s, err := newStage(ctx, setup)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := errors.Join(s.plays(""), s.runTurn("says something", "")); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	frames, _ := s.rec.Frames()
	for _, f := range frames {
		if f.Lane == wire.FromSubject {
			return nil, nil
		}
	}
	if len(s.offers) > 0 {
		return nil, nil
	}
	how := fmt.Sprintf("ended with code %d", s.code)
	if s.hung {
		how = fmt.Sprintf("did not end within %s", setup.Wait)
	}
	return &silence{why: "the client said nothing to its server, and " + how, said: s.output}, nil
}
