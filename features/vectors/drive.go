package vectors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// protocol is the version of the conversation with a testee.
const protocol = 1

// maxAnswer bounds one line of a testee.
const maxAnswer = 4 << 20

// Result is what a testee made of one vector.
type Result struct {
	Vector
	Class  verdict.Class // pass, fail, errored, no_answer or not_applicable
	Reason string        // why, for every class but pass
	Got    string        // the answer as it came; empty if none came
}

// Testee is what the program says of itself.
type Testee struct {
	Name  string
	Ops   []string
	Wires []string // the wires whose vectors it is asked; none where it does not say, which means every one
}

// knows reports whether the testee is asked the vectors of a wire.
func (t Testee) knows(wire string) bool { return len(t.Wires) == 0 || slices.Contains(t.Wires, wire) }

// Drive starts a testee and asks it every vector of the wires it knows. It waits at most the limit for one
// answer. An error means that there is no testee to judge; everything else is in the results, one per vector
// in order. A context that is done ends the testee: its error comes back with the results until then.
func Drive(ctx context.Context, start subject.Starter, all []Vector, limit time.Duration) (Testee, []Result, error) {
	d, testee, err := open(ctx, start, limit)
	if err != nil {
		return Testee{}, nil, err
	}
	defer d.close()
	if !slices.ContainsFunc(all, func(v Vector) bool { return testee.knows(v.Wire) }) {
		return Testee{}, nil, fmt.Errorf("the testee knows %q alone, and no vector is of such a wire", testee.Wires)
	}
	d.questions <- questionsFor(testee, all)
	results := make([]Result, len(all))
	for i, v := range all {
		if !testee.knows(v.Wire) {
			results[i] = Result{Vector: v, Class: verdict.NotApplicable, Reason: "the testee does not know the wire " + v.Wire}
			continue
		}
		if results[i] = d.judge(v, i+1); ctx.Err() != nil {
			return testee, results[:i], ctx.Err()
		}
	}
	return testee, results, nil
}

// open starts a testee that has introduced itself.
func open(ctx context.Context, start subject.Starter, limit time.Duration) (*driver, Testee, error) {
	run, err := subject.Bounded(ctx, start).Start(subject.Start{})
	if err != nil {
		return nil, Testee{}, err
	}
	d := &driver{run: run, limit: limit, lines: make(chan []byte), stop: make(chan struct{}), read: make(chan struct{}), questions: make(chan []Question, 2), wrote: make(chan struct{})}
	go d.reading()
	go d.writing()
	d.questions <- []Question{{Seq: 0, Op: "hello", Protocol: protocol}}
	testee, err := d.hello()
	if err == nil && ctx.Err() == nil {
		return d, testee, nil
	}
	ended := d.close()
	if ctx.Err() != nil {
		return nil, Testee{}, ctx.Err()
	}
	return nil, Testee{}, &StrangerError{Err: err, Stderr: run.Stderr(), Ended: ended.String()}
}

// StrangerError is a testee that does not introduce itself, and what it left to be seen.
type StrangerError struct {
	Err    error
	Stderr string // the newest of it
	Ended  string // how it ended
}

func (e *StrangerError) Error() string {
	return "the testee does not introduce itself: " + e.Err.Error()
}

// Unwrap is why.
func (e *StrangerError) Unwrap() error { return e.Err }

type driver struct {
	run       subject.Running
	limit     time.Duration
	lines     chan []byte     // what the testee writes; closed at its end
	questions chan []Question // what to ask; closed at the end
	stop      chan struct{}   // closed when nobody takes lines any more
	read      chan struct{}   // closed when reading has ended
	wrote     chan struct{}   // closed when writing has ended
	fault     error           // why no further answer can come
}

func (d *driver) reading() {
	defer close(d.read)
	defer close(d.lines)
	s := wire.NewSplitter(d.run.Stdout(), maxAnswer)
	for {
		line, _, err := s.Next()
		if err != nil {
			return
		}
		select {
		case d.lines <- line:
		case <-d.stop:
			return
		}
	}
}

// questionsFor returns what a testee is asked.
func questionsFor(testee Testee, all []Vector) []Question {
	var questions []Question
	for i, v := range all {
		if testee.knows(v.Wire) {
			q := v.question
			q.Seq = i + 1
			questions = append(questions, q)
		}
	}
	return questions
}

// writing sends questions without waiting for answers, so that a run takes as long as the testee computes and
// no longer.
func (d *driver) writing() {
	defer close(d.wrote)
	for questions := range d.questions {
		for _, q := range questions {
			line, err := json.Marshal(q)
			if err != nil {
				return
			}
			if _, err := d.run.Stdin().Write(append(line, '\n')); err != nil {
				return
			}
		}
	}
}

func (d *driver) close() subject.Ended {
	close(d.stop)
	close(d.questions)
	ended := d.run.End()
	<-d.read
	<-d.wrote
	return ended
}

var (
	errSilent = errors.New("no answer within the deadline")
	errEnded  = errors.New("its output ended")
)

// next takes the next line of the testee. Once one is missing, all later ones are: answers come in order.
func (d *driver) next() ([]byte, error) {
	if d.fault != nil {
		return nil, d.fault
	}
	timer := time.NewTimer(d.limit)
	defer timer.Stop()
	select {
	case line, ok := <-d.lines:
		if ok {
			return line, nil
		}
		d.fault = errEnded
	case <-timer.C:
		d.fault = errSilent
	}
	return nil, d.fault
}

func (d *driver) hello() (Testee, error) {
	line, err := d.next()
	if err != nil {
		return Testee{}, err
	}
	var a struct {
		OK       bool     `json:"ok"`
		Name     string   `json:"name"`
		Protocol int      `json:"protocol"`
		Ops      []string `json:"ops"`
		Wires    []string `json:"wires"`
	}
	switch err := json.Unmarshal(line, &a); {
	case err != nil:
		return Testee{}, fmt.Errorf("%q is no answer: %w", excerpt(line), err)
	case !a.OK || a.Protocol != protocol:
		return Testee{}, fmt.Errorf("it answers %s, want ok and protocol %d", excerpt(line), protocol)
	}
	return Testee{Name: a.Name, Ops: a.Ops, Wires: a.Wires}, nil
}

func (d *driver) judge(v Vector, seq int) Result {
	v.question.Seq = seq
	r := Result{Vector: v, Class: verdict.NoAnswer}
	line, err := d.next()
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	r.Got = excerpt(line)
	r.Class, r.Reason = compare(v.Want, seq, line)
	return r
}

// answer is one line of a testee, its members told apart from absent ones.
type answer struct {
	Seq *int `json:"seq"`
	Answer
}

// readAnswer reads the line that answers the request with a seq.
func readAnswer(line []byte, seq int) (Answer, error) {
	var got answer
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		return Answer{}, fmt.Errorf("no answer of the protocol: %w", err)
	}
	if got.Seq == nil || *got.Seq != seq {
		return Answer{}, fmt.Errorf("the answer has another seq than the request, %d", seq)
	}
	return got.Answer, nil
}

func compare(want Answer, seq int, line []byte) (verdict.Class, string) {
	got, err := readAnswer(line, seq)
	switch {
	case err != nil:
		return verdict.Errored, err.Error()
	case got.Verdict == "unsupported":
		return verdict.Errored, "the testee says it does not support this"
	case got.Verdict != want.Verdict:
		return verdict.Fail, fmt.Sprintf("verdict %q, want %q", got.Verdict, want.Verdict)
	}
	for _, m := range []struct {
		name      string
		got, want string
	}{
		{"violation", got.Violation, want.Violation},
		{"error", got.Error, want.Error},
		{"pointer", deref(got.Pointer), deref(want.Pointer)},
		{"encoded", deref(got.Encoded), deref(want.Encoded)},
	} {
		if m.got != m.want {
			return verdict.Fail, fmt.Sprintf("%s %s, want %s", m.name, excerpt([]byte(m.got)), excerpt([]byte(m.want)))
		}
	}
	return verdict.Pass, ""
}

// deref tells an absent member from an empty one.
func deref(s *string) string {
	if s == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", *s)
}

const maxExcerpt = 300

func excerpt(b []byte) string {
	text := wire.Printable(b, maxExcerpt)
	if len(b) > maxExcerpt {
		text += fmt.Sprintf("... (%d bytes)", len(b))
	}
	return text
}

// Question is the request that the vector is.
func (v Vector) Question() Question { return v.question }

// Asked is the request as the testee saw it, cut to a readable length.
func (v Vector) Asked() string { return v.question.String() }
