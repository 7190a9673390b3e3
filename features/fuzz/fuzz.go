package fuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/minimise"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/features/verdict"
)

// Options say how conversations are made up. Setup and Runs are required.
type Options struct {
	Setup *steps.Setup
	// Vectors hold values of the models; those that are params of what a host sends are sent.
	Vectors []vectors.Vector
	Seed    int64
	First   int // the number of the first run, from 0
	Runs    int
	// Time bounds the search; 0: nothing but Runs does. What is found is made smaller behind it.
	Time time.Duration
	// Shrink bounds the time for making one finding smaller; 0 leaves it as it was found.
	Shrink time.Duration
	// Length is about how many lines a conversation has at most; 0 means the default.
	Length int
	Jobs   int
	// Most is how many different failures are looked for; 0 means one.
	Most int
	// Strict counts rules of the level should.
	Strict bool
	// Progress is called behind every run, never twice at a time; nil for none.
	Progress func(done, total int)
}

const defaultLength = 20

// Failure is a conversation in which a rule was broken.
type Failure struct {
	Run     int
	Finding verdict.Finding
	Result  *Result // of the smallest conversation
	Lines   int     // of the host in it
	Of      int     // that it had when it was found
	Tries   int
	Least   bool   // without any one of them, but for initialize, the failure is lost
	Note    string // why they are not the least; empty if they are
}

// Report is what came of a search.
type Report struct {
	Runs     int // conversations that were had
	Lines    int // that were written in them
	Failures []Failure
}

// Run makes conversations up and has each with a fresh start of the subject, until enough has been found.
func Run(ctx context.Context, o Options) (*Report, error) {
	s := &search{o: o, report: &Report{}}
	if s.o.Length == 0 {
		s.o.Length = defaultLength
	}
	first, err := s.first(ctx)
	if err != nil || first == nil {
		return s.report, err
	}
	s.material = Gather(o.Setup, first.result, o.Vectors)
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Time > 0 {
		limited, cancel = context.WithTimeout(ctx, o.Time)
		defer cancel()
	}
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range max(o.Jobs, 1) {
		workers.Go(func() {
			for n := range numbers {
				s.run(limited, n)
			}
		})
	}
	for n := o.First; n < o.First+o.Runs && limited.Err() == nil && !s.enough(); n++ {
		select {
		case numbers <- n:
		case <-limited.Done():
		}
	}
	close(numbers)
	workers.Wait()
	if s.err != nil || ctx.Err() != nil {
		return nil, errors.Join(s.err, ctx.Err())
	}
	s.report.Failures = s.choose()
	for i := range s.report.Failures {
		if err := s.shrink(ctx, &s.report.Failures[i]); err != nil {
			return nil, err
		}
	}
	return s.report, nil
}

type search struct {
	o        Options
	material *Material

	mu     sync.Mutex // guards the fields below
	red    []red      // by their numbers, first to last
	report *Report
	err    error
}

// first has the shortest conversation there is, to learn what the extension has. One that breaks a rule is the
// finding, and nil is returned.
func (s *search) first(ctx context.Context) (*Result, error) {
	items := []Item{opening(s.o.Setup)}
	result, err := s.have(ctx, items)
	if err != nil {
		return nil, err
	}
	if result.result != nil {
		return result, nil
	}
	s.report.Runs, s.report.Lines = 1, 1
	s.take(-1, items, result)
	if s.report.Failures = s.choose(); len(s.report.Failures) == 0 {
		refused := verdict.Finding{Message: "initialize is answered with an error", Frame: -1, Offset: -1}
		s.report.Failures = []Failure{{Run: -1, Finding: refused, Result: result, Lines: 1, Of: 1}}
	}
	return nil, nil
}

func (s *search) enough() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil || len(s.choose()) >= max(s.o.Most, 1)
}

// run has one conversation.
func (s *search) run(ctx context.Context, n int) {
	items := s.material.Generate(s.o.Seed, n, s.o.Length)
	result, err := s.have(ctx, items)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		// What was cut off owes nothing more; what it has written stands.
		if result = s.written(result); result == nil {
			return
		}
		err = nil
	}
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	s.report.Runs++
	s.report.Lines += len(items)
	s.take(n, items, result)
	if s.o.Progress != nil {
		s.o.Progress(s.report.Runs, s.o.Runs)
	}
}

// sure multiplies the waits of a conversation that has failed for a wait alone: the machine may have been busy.
const sure = 8

// have has a conversation, and once more with longer waits if something has only come too late.
func (s *search) have(ctx context.Context, items []Item) (*Result, error) {
	result, err := Play(ctx, s.o.Setup, items)
	if err != nil || !s.late(result) {
		return result, err
	}
	longer := *s.o.Setup
	longer.Patience = longer.Patience.Scale(sure)
	return Play(ctx, &longer, items)
}

// late reports whether the rules that count are broken by waits alone.
func (s *search) late(r *Result) bool {
	waits := false
	for _, f := range r.Findings {
		if s.counts(f.Rule) && !f.Silent {
			return false
		}
		waits = waits || f.Silent
	}
	return waits
}

// written returns a conversation that was cut off with the findings about frames alone, or nil where none of them counts.
// An answer to nobody is none: it may be to the line that was cut.
func (s *search) written(r *Result) *Result {
	if r == nil {
		return nil
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f verdict.Finding) bool {
		return f.Frame < 0 || f.Silent || f.Frame < len(r.Frames) && bytes.Contains(r.Frames[f.Frame].Bytes, []byte(`"id":null`))
	})
	if !slices.ContainsFunc(r.Findings, func(f verdict.Finding) bool { return s.counts(f.Rule) }) {
		return nil
	}
	return r
}

// red is a conversation in which a rule is broken.
type red struct {
	run, lines int
	result     *Result
}

// take keeps a conversation if it is one of those that are chosen.
func (s *search) take(n int, items []Item, result *Result) {
	at, _ := slices.BinarySearchFunc(s.red, n, func(r red, n int) int { return r.run - n })
	s.red = slices.Insert(s.red, at, red{run: n, lines: len(items), result: result})
	chosen := s.each()
	s.red = slices.DeleteFunc(s.red, func(r red) bool {
		return !slices.ContainsFunc(chosen, func(f Failure) bool { return f.Run == r.run })
	})
}

// choose are as many failures as are asked for, the first ones: which they are does not depend on how many
// conversations are had at a time, because all in front of one that was had were had.
func (s *search) choose() []Failure {
	all := s.each()
	return all[:min(len(all), max(s.o.Most, 1))]
}

// each takes from every conversation the first rule that none in front of it has broken: the others may come of it.
func (s *search) each() []Failure {
	var out []Failure
	taken := map[string]bool{}
	for _, r := range s.red {
		at := slices.IndexFunc(r.result.Findings, func(f verdict.Finding) bool { return !taken[f.Rule] && s.counts(f.Rule) })
		if at >= 0 {
			f := r.result.Findings[at]
			taken[f.Rule] = true
			out = append(out, Failure{Run: r.run, Finding: f, Result: r.result, Lines: r.lines, Of: r.lines})
		}
	}
	return out
}

// counts reports whether a rule is worth a failure.
func (s *search) counts(id string) bool {
	rule, known := rulebook.Find(id)
	return s.o.Strict || !known || rule.Level == "must"
}

// shows reports whether a conversation breaks a rule.
func shows(r *Result, rule string) (verdict.Finding, bool) {
	at := slices.IndexFunc(r.Findings, func(f verdict.Finding) bool { return f.Rule == rule })
	if at < 0 {
		return verdict.Finding{}, false
	}
	return r.Findings[at], true
}

// maxTries bounds the starts for one finding.
const maxTries = 300

// shrink leaves lines out of a conversation as long as it breaks the rule.
func (s *search) shrink(ctx context.Context, f *Failure) error {
	if s.o.Shrink == 0 || f.Run < 0 {
		return nil
	}
	items := s.material.Generate(s.o.Seed, f.Run, s.o.Length)
	limited, cancel := context.WithTimeout(ctx, s.o.Shrink)
	defer cancel()
	whole := *f
	attempt := func(ctx context.Context, keep []int) (bool, error) {
		some := keptOf(items, keep)
		result, err := Play(ctx, s.o.Setup, some)
		if err != nil {
			return false, unlessOver(ctx, err)
		}
		found, again := shows(result, f.Finding.Rule)
		if again {
			f.Result, f.Finding, f.Lines = result, found, len(some)
		}
		return again, nil
	}
	all := make([]int, len(items))
	for i := range all {
		all[i] = i
	}
	again, err := attempt(limited, all)
	if err != nil {
		return err
	}
	if !again {
		f.Note = "it did not show in a second start"
		return nil
	}
	r, err := minimise.Reduce(limited, len(items), func(i int) bool { return i == 0 }, maxTries, attempt)
	if err != nil {
		return err
	}
	if f.Finding.Silent {
		// Each try waited as long as any conversation does, on a machine that may be busy.
		small := keptOf(items, r.Keep)
		result, err := s.have(ctx, small)
		if err != nil {
			return err
		}
		found, again := shows(result, f.Finding.Rule)
		if !again {
			*f = whole
			f.Note = "what was left of it did not show with longer waits"
			return nil
		}
		f.Result, f.Finding = result, found
	}
	f.Tries, f.Least = r.Tries, r.Least
	switch {
	case r.Least:
	case limited.Err() != nil:
		f.Note = fmt.Sprintf("the %v for making it smaller were over", s.o.Shrink)
	default:
		f.Note = fmt.Sprintf("%d tries were made", r.Tries)
	}
	return ctx.Err()
}

func keptOf(items []Item, keep []int) []Item {
	var out []Item
	for _, i := range keep {
		out = append(out, items[i])
	}
	return out
}

// unlessOver drops an error that is nothing but the end of a context.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, subject.ErrStuck) {
		return nil
	}
	return err
}
