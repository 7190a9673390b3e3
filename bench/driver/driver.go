// Package driver starts measuring programs one at a time, in a seeded order that interleaves what is compared, and
// collects their samples.
package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/octet-dev/octet/bench/sample"
)

// Program is a command that knows list and run, as bench/SAMPLES.md says.
type Program struct {
	Name    string
	Command []string
	// Environment is added to that of the driver: lines of NAME=VALUE.
	Environment []string
}

// Subject is one subject of one row of a program.
type Subject struct {
	Row     string `json:"row"`
	Subject string `json:"subject"`
	// Rounds is the most rounds that it is worth; 0: as many as there are.
	Rounds  int `json:"rounds,omitempty"`
	program Program
}

// Plan says what to measure.
type Plan struct {
	Programs []Program
	Rows     *regexp.Regexp // nil: every row
	Rounds   int
	Seconds  float64 // of one run of one subject
	Seed     uint64
	Told     func(Progress)
}

// Progress tells how far a plan is.
type Progress struct {
	Done, Total int
	Now         string
}

// Found is one sample with its round.
type Found struct {
	Round int `json:"round"`
	sample.Sample
}

// Failure is a subject that could not be measured.
type Failure struct {
	Row     string `json:"row"`
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
}

// Result is what a plan has found.
type Result struct {
	Samples  []Found   `json:"samples"`
	Failures []Failure `json:"failures"`
}

// Run measures. A subject that fails is left out from then on; the error is that of the context.
func (p Plan) Run(ctx context.Context) (Result, error) {
	var result Result
	var subjects []Subject
	for _, program := range p.Programs {
		listed, err := program.list(ctx)
		if err != nil {
			result.Failures = append(result.Failures, Failure{program.Name, program.Name, err.Error()})
			continue
		}
		for _, s := range listed {
			if p.Rows == nil || p.Rows.MatchString(s.Row) {
				subjects = append(subjects, s)
			}
		}
	}
	steps := p.steps(subjects)
	failed := map[int]bool{}
	for done, step := range steps {
		s := subjects[step.subject]
		if p.Told != nil {
			p.Told(Progress{done, len(steps), s.Row + ": " + s.Subject})
		}
		if failed[step.subject] {
			continue
		}
		samples, err := s.measure(ctx, p.Seconds)
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		if err != nil {
			failed[step.subject] = true
			result.Failures = append(result.Failures, Failure{s.Row, s.Subject, err.Error()})
			continue
		}
		for _, one := range samples {
			result.Samples = append(result.Samples, Found{step.round, one})
		}
	}
	if p.Told != nil {
		p.Told(Progress{len(steps), len(steps), "done"})
	}
	return result, nil
}

type step struct{ round, subject int }

// steps is the order: round after round, in each a new order of everything.
func (p Plan) steps(subjects []Subject) []step {
	var all []step
	for round := range p.Rounds {
		order := rand.New(rand.NewPCG(p.Seed, uint64(round))).Perm(len(subjects))
		for _, n := range order {
			if most := subjects[n].Rounds; most == 0 || round < most {
				all = append(all, step{round, n})
			}
		}
	}
	return all
}

func (p Program) list(ctx context.Context) ([]Subject, error) {
	output, err := p.run(ctx, "list")
	if err != nil {
		return nil, err
	}
	var subjects []Subject
	for lines := json.NewDecoder(bytes.NewReader(output)); ; {
		s := Subject{program: p}
		if err := lines.Decode(&s); err == io.EOF {
			return subjects, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s list: %w", p.Name, err)
		}
		subjects = append(subjects, s)
	}
}

// mostOfARun bounds a run that hangs.
const mostOfARun = 10 * time.Minute

func (s Subject) measure(ctx context.Context, seconds float64) ([]sample.Sample, error) {
	ctx, stop := context.WithTimeout(ctx, mostOfARun)
	defer stop()
	output, err := s.program.run(ctx, "run", "--row", s.Row, "--subject", s.Subject, "--seconds", fmt.Sprint(seconds))
	if err != nil {
		return nil, err
	}
	return sample.Read(bytes.NewReader(output))
}

// run returns what a program prints. The error of one that fails is its last line of standard error.
func (p Program) run(ctx context.Context, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, p.Command[0], append(p.Command[1:len(p.Command):len(p.Command)], arguments...)...)
	command.Env = append(os.Environ(), p.Environment...)
	command.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err == nil {
		return output, nil
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return nil, fmt.Errorf("%w: %s", err, last)
	}
	return nil, err
}
