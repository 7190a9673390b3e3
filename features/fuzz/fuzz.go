package fuzz

import (
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
	s := &search{o: o, rules: map[string]bool{}, report: &Report{}}
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
	slices.SortFunc(s.report.Failures, func(a, b Failure) int { return a.Run - b.Run })
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
	rules  map[string]bool
	report *Report
	err    error
}

// first has the shortest conversation there is, to learn what the extension has. One that breaks a rule is the
// finding, and nil is returned.
func (s *search) first(ctx context.Context) (*Result, error) {
	items := []Item{opening(s.o.Setup)}
	result, err := Play(ctx, s.o.Setup, items)
	if err != nil {
		return nil, err
	}
	s.report.Runs, s.report.Lines = 1, 1
	if result.result == nil {
		s.take(-1, items, result)
		if len(s.report.Failures) == 0 {
			s.report.Failures = []Failure{{Run: -1, Finding: verdict.Finding{Message: "initialize is answered with an error", Frame: -1, Offset: -1}, Result: result, Lines: 1, Of: 1}}
		}
		return nil, nil
	}
	return result, nil
}

func (s *search) enough() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil || len(s.rules) >= max(s.o.Most, 1)
}

// run has one conversation.
func (s *search) run(ctx context.Context, n int) {
	items := s.material.Generate(s.o.Seed, n, s.o.Length)
	result, err := Play(ctx, s.o.Setup, items)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return // what was cut off says nothing
	}
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	s.report.Runs++
	s.report.Lines += len(items)
	s.take(n, items, result)
	if s.o.Progress != nil {
		s.o.Progress(s.report.Runs-1, s.o.Runs)
	}
}

// take keeps a conversation in which a rule is broken that was not broken before.
func (s *search) take(n int, items []Item, result *Result) {
	for _, f := range result.Findings {
		if s.rules[f.Rule] || !s.counts(f.Rule) {
			continue
		}
		s.rules[f.Rule] = true
		s.report.Failures = append(s.report.Failures, Failure{Run: n, Finding: f, Result: result, Lines: len(items), Of: len(items)})
		return // the others may come of this one
	}
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
	attempt := func(ctx context.Context, keep []int) (bool, error) {
		var some []Item
		for _, i := range keep {
			some = append(some, items[i])
		}
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

// unlessOver drops an error that is nothing but the end of a context.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, subject.ErrStuck) {
		return nil
	}
	return err
}
