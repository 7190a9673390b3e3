// Package differential asks several codecs the same made-up questions and tells where they disagree.
//
// No answer is known to be right: questions are vectors with small changes, and what is held against the codecs is
// that all of them say the same about each: verdict, violation, pointer, error and re-encoding.
package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/vectors"
)

// Options say what a run asks, and whom.
type Options struct {
	Testees []subject.Starter // at least two that know the same wires
	Vectors []vectors.Vector  // what questions are made from
	Seed    uint64            // the same seed makes the same questions
	Runs    int               // how many questions at most; 0 means any number
	For     time.Duration     // how long, once the codecs have started; 0 means until the context is done
	Most    int               // end behind so many different findings; 0 means 10
	Limit   time.Duration     // for one answer
	Told    func(asked int)   // called behind every batch; may be nil
}

// Finding is a question that codecs answer differently, as small as it could be made.
type Finding struct {
	Question vectors.Question
	Answers  []Said
}

// Said is what one codec answers. A codec that ends at a question has a fault instead of an answer.
type Said struct {
	Name   string
	Answer vectors.Answer
	Fault  string
}

// String shows a finding with one line per codec.
func (f Finding) String() string {
	var text strings.Builder
	line, err := json.Marshal(f.Question)
	if err != nil {
		return err.Error()
	}
	text.Write(line[:min(len(line), mostShown)])
	for _, s := range f.Answers {
		if s.Fault != "" {
			fmt.Fprintf(&text, "\n  %s: %s", s.Name, s.Fault)
		} else {
			fmt.Fprintf(&text, "\n  %s: %s", s.Name, s.Answer)
		}
	}
	return text.String()
}

// mostShown bounds how much of a question is shown.
const mostShown = 8 << 10

// Report is the outcome of a run.
type Report struct {
	Asked    int // questions; each went to every codec that knows its wire
	Findings []Finding
}

// batch is how many questions are on their way at once.
const batch = 256

// Run asks until it has asked enough, has found enough or the context is done, which is no error.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.Most == 0 {
		o.Most = 10
	}
	var report Report
	p := panel{ctx: ctx, limit: o.Limit}
	defer p.close()
	for _, start := range o.Testees {
		if err := p.open(start); err != nil {
			return report, err
		}
	}
	generator := NewGenerator(o.Seed, o.Vectors)
	seen := map[string]bool{}
	began := time.Now()
	for ctx.Err() == nil && (o.For == 0 || time.Since(began) < o.For) && (o.Runs == 0 || report.Asked < o.Runs) && len(report.Findings) < o.Most {
		size := batch
		if o.Runs > 0 {
			size = min(size, o.Runs-report.Asked)
		}
		questions := make([]vectors.Question, size)
		for i := range questions {
			questions[i] = generator.Next()
		}
		findings, err := p.ask(questions)
		if err != nil {
			return report, ended(ctx, err)
		}
		report.Asked += len(questions)
		for _, f := range findings {
			if kind := f.kind(); !seen[kind] && len(report.Findings) < o.Most {
				seen[kind] = true
				small, err := p.shrink(f)
				report.Findings = append(report.Findings, small)
				if err != nil {
					return report, ended(ctx, err)
				}
			}
		}
		if o.Told != nil {
			o.Told(report.Asked)
		}
	}
	return report, nil
}

// Ask puts questions to the testees and returns those that are answered differently, as they are.
func Ask(ctx context.Context, testees []subject.Starter, questions []vectors.Question, limit time.Duration) ([]Finding, error) {
	p := panel{ctx: ctx, limit: limit}
	defer p.close()
	for _, start := range testees {
		if err := p.open(start); err != nil {
			return nil, err
		}
	}
	return p.ask(questions)
}

// ended hides an error that only says that the context is done.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// kind tells findings apart that have different causes, as far as the answers show.
func (f Finding) kind() string {
	var text strings.Builder
	text.WriteString(f.Question.Op + " " + f.Question.Wire)
	for _, s := range f.Answers {
		fmt.Fprintf(&text, "|%s %s %s %t", s.Answer.Verdict, s.Answer.Violation, s.Answer.Error, s.Fault != "")
	}
	return text.String()
}

// panel is the started codecs.
type panel struct {
	ctx     context.Context
	limit   time.Duration
	members []*codec
}

type codec struct {
	start subject.Starter
	talk  *vectors.Conversation
}

func (p *panel) open(start subject.Starter) error {
	talk, err := vectors.Converse(p.ctx, start, p.limit)
	if err != nil {
		return err
	}
	p.members = append(p.members, &codec{start, talk})
	return nil
}

func (p *panel) close() {
	for _, m := range p.members {
		m.talk.Close()
	}
}

// wireOf is the wire of a question: one about a negotiation names an API instead.
func wireOf(q vectors.Question) string {
	if q.Wire != "" {
		return q.Wire
	}
	return apiWires[q.API]
}

// ask puts questions to every codec that knows their wire and returns those that are answered differently.
func (p *panel) ask(questions []vectors.Question) ([]Finding, error) {
	answers := make([][]*Said, len(p.members))
	faults := make([]error, len(p.members))
	var work sync.WaitGroup
	for i, m := range p.members {
		work.Go(func() { answers[i], faults[i] = p.answers(m, questions) })
	}
	work.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	var findings []Finding
	for n, q := range questions {
		f := Finding{Question: q}
		differ := false
		for i := range p.members {
			if s := answers[i][n]; s != nil {
				f.Answers = append(f.Answers, *s)
				differ = differ || s.Fault != "" || !oneZero(s.Answer).Equal(oneZero(f.Answers[0].Answer))
			}
		}
		if differ && !open(f) {
			findings = append(findings, f)
		}
	}
	return findings, nil
}

// mostEnds is how often a codec may end in one batch: starting takes much longer than answering.
const mostEnds = 3

// answers returns what one codec says to each question, nil where it does not know the wire. A codec that ends is
// started again behind the question it ended at; where it ends too often, the rest of the questions are left out.
func (p *panel) answers(m *codec, questions []vectors.Question) ([]*Said, error) {
	said := make([]*Said, len(questions))
	var known []int
	for i, q := range questions {
		if m.talk.Knows(wireOf(q)) {
			known = append(known, i)
		}
	}
	for ends := 0; len(known) > 0 && ends < mostEnds; ends++ {
		asked := make([]vectors.Question, len(known))
		for i, n := range known {
			asked[i] = questions[n]
		}
		got, err := m.talk.Ask(asked)
		for i, a := range got {
			said[known[i]] = &Said{Name: m.talk.Testee.Name, Answer: a}
		}
		known = known[len(got):]
		if err == nil {
			break
		}
		if p.ctx.Err() != nil {
			return nil, p.ctx.Err()
		}
		said[known[0]] = &Said{Name: m.talk.Testee.Name, Fault: fmt.Sprintf("%v; standard error: %.600q", err, m.talk.Stderr())}
		known = known[1:]
		m.talk.Close()
		next, err := vectors.Converse(p.ctx, m.start, p.limit)
		if err != nil {
			return nil, err
		}
		m.talk = next
	}
	return said, nil
}
