package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/octet-dev/octet/host/campaign"
	"github.com/octet-dev/octet/host/fixture"
)

// Soak says what to do. Program, Dir, Repository, Length and Each are required.
type Soak struct {
	Program    string // this very program: it plays the host and the raw extensions through Main
	Dir        string // an empty directory
	Repository string // where the SDKs and their examples were built
	Length     time.Duration
	Each       int // extensions of each language
	Seed       uint64
	Languages  []string     // empty: all
	Leak       Leak         // empty: none
	Told       func(Sample) // of every sample
}

// settledSamples is how many settled samples a soak has if the host settles at once, looks how many others lie between two.
const (
	settledSamples = 60
	looks          = 4
)

// runner has one host.
type runner struct {
	Soak
	mark    string // that of no other soak
	began   time.Time
	process *exec.Cmd
	input   io.WriteCloser
	answers *bufio.Reader
	stderr  bytes.Buffer // written by the process alone, read behind its end
	report  Report
}

// Run soaks a host and judges it. An error means that nothing could be judged; what was found is in the report.
func (s Soak) Run(ctx context.Context) (_ *Report, err error) {
	if len(s.Languages) == 0 {
		s.Languages = languages
	}
	if s.Leak == "" {
		s.Leak = NoLeak
	}
	r := &runner{Soak: s, mark: s.Dir}
	r.report = Report{Length: s.Length, Seed: s.Seed, Extensions: len(s.Languages) * s.Each, Languages: s.Languages, Cores: runtime.NumCPU(), Memory: memoryOfMachine()}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if err := r.watch(ctx); err != nil {
		_ = r.process.Process.Kill()
		_ = r.process.Wait()
		return nil, fmt.Errorf("%w\nstandard error of the host: %s", err, r.stderr.String())
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	r.report.Findings = append(r.report.Findings, judge(r.report.Samples, r.report.Extensions)...)
	return &r.report, nil
}

// prepare writes the extensions.
func (r *runner) prepare() error {
	if err := os.MkdirAll(filepath.Join(r.Dir, workspaceName), 0o700); err != nil {
		return err
	}
	for _, language := range r.Languages {
		for n := range r.Each {
			if err := r.write(language, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes one extension: a manifest, and a script that starts the program of its language.
func (r *runner) write(language string, n int) error {
	name, api := extensionName(language, n), apiOf(language, n)
	example := "word-count"
	if n%2 == 1 {
		example += "-canonical"
	}
	sdk := map[string]string{"go": "sdk-go", "python": "sdk-py", "typescript": "sdk-ts"}[language]
	folder := filepath.Join(r.Repository, sdk, "examples", example)
	tools := []string{"count_words", "count_slowly"}
	var command string
	switch language {
	case "go":
		command = fmt.Sprintf("%q", filepath.Join(folder, "bin", example))
	case "python":
		command = fmt.Sprintf("%q %q", filepath.Join(r.Repository, ".venv", "bin", "python"), filepath.Join(folder, strings.ReplaceAll(example, "-", "_")+".py"))
	case "typescript":
		command = fmt.Sprintf("node %q", filepath.Join(folder, example+".mjs"))
	default:
		command = fmt.Sprintf("%q %s $words", r.Program, extensionWord)
		tools = append(append([]string(nil), fixture.Tools...), fixture.Wrecks...)
	}
	declared, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.Dir, extensionsName, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for file, text := range map[string]string{
		"extension.toml": fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = %q\n[entrypoint]\ncommand = \"run\"\nenv = { %s = %q, GORACE = \"atexit_sleep_ms=0\" }\n[contributes]\ntools = %s\n",
			name, api, markVariable, r.mark, declared),
		"run":     fmt.Sprintf("#!/bin/sh\nread -r words <\"$OCTET_EXTENSION_DIR/%s\"\nexec %s\n", wordsName, command),
		wordsName: "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// start starts the host and waits until all its extensions are in service.
func (r *runner) start(ctx context.Context) error {
	r.process = exec.CommandContext(ctx, r.Program, hostWord, r.Dir, strconv.FormatUint(r.Seed, 10), string(r.Leak))
	r.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.Dir, "TMPDIR=" + os.TempDir(), markVariable + "=" + r.mark, "GORACE=atexit_sleep_ms=0 halt_on_error=1"}
	r.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.process.Stderr = &r.stderr
	input, err := r.process.StdinPipe()
	if err != nil {
		return err
	}
	output, err := r.process.StdoutPipe()
	if err != nil {
		return err
	}
	r.input, r.answers = input, bufio.NewReader(output)
	if err := r.process.Start(); err != nil {
		return err
	}
	if _, err := r.hear(); err != nil {
		_ = r.process.Process.Kill()
		_ = r.process.Wait()
		return fmt.Errorf("start the host: %w: %s", err, r.stderr.String())
	}
	r.began = time.Now()
	return nil
}

func (r *runner) hear() (answer, error) {
	line, err := r.answers.ReadBytes('\n')
	if err != nil {
		return answer{}, fmt.Errorf("the host says nothing: %w", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, fmt.Errorf("the host says %q: %w", line, err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (r *runner) ask(op string) (answer, error) {
	if err := r.tell(op); err != nil {
		return answer{}, err
	}
	return r.hear()
}

func (r *runner) tell(op string) error {
	line, err := json.Marshal(order{Op: op})
	if err != nil {
		return err
	}
	_, err = r.input.Write(append(line, '\n'))
	return err
}

// watch takes the samples, a settled one behind some others, and as many as a judgement needs.
func (r *runner) watch(ctx context.Context) error {
	pace := time.NewTicker(r.Length / (settledSamples * (looks + 1)))
	defer pace.Stop()
	for n := 1; time.Since(r.began) < r.Length || len(settledOf(r.report.Samples)) < least; n++ {
		op := opLook
		if n%(looks+1) == 0 {
			op = opSettle
		}
		if err := r.sample(op); err != nil {
			return err
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (r *runner) sample(op string) error {
	said, err := r.ask(op)
	if err != nil {
		return err
	}
	sample := said.Sample
	sample.At, sample.Load = time.Since(r.began), loadOfMachine()
	pid := r.process.Process.Pid
	if sample.Descriptors, err = descriptors(pid); err != nil {
		return err
	}
	if sample.Resident, err = resident(pid); err != nil {
		return err
	}
	sample.Processes, sample.Strays = r.count(said.Living)
	if !sample.Settled {
		sample.Strays = 0 // under load they come and go while they are counted
	} else {
		// What broken extensions have left behind is ended, which takes the system a moment.
		for late := time.Now().Add(patience / 6); sample.Strays > 0 && time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
			sample.Processes, sample.Strays = r.count(said.Living)
		}
		if err := r.tell(opResume); err != nil {
			return err
		}
	}
	r.report.Samples = append(r.report.Samples, sample)
	if r.Told != nil {
		r.Told(sample)
	}
	return nil
}

// count counts what is there, and of it what belongs neither to the host nor to what lives of its extensions.
func (r *runner) count(living []string) (all, strays int64) {
	for _, found := range campaign.Relatives(markVariable + "=" + r.mark) {
		all++
		if found.PID != r.process.Process.Pid && !slices.Contains(living, found.Scratch) {
			strays++
		}
	}
	return all, strays
}

// finish closes the host and looks what it leaves.
func (r *runner) finish() error {
	if err := r.tell(opClose); err != nil {
		return err
	}
	// Whoever holds its output keeps us from going on: that is what the end of input is for.
	_, _ = io.Copy(io.Discard, r.answers)
	if err := r.process.Wait(); err != nil {
		r.report.Findings = append(r.report.Findings, fmt.Sprintf("the host ended with %v: %s", err, strings.TrimSpace(r.stderr.String())))
	}
	for late := time.Now().Add(patience / 4); ; time.Sleep(50 * time.Millisecond) {
		left := campaign.Relatives(markVariable + "=" + r.mark)
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(late) {
			r.report.Findings = append(r.report.Findings, fmt.Sprintf("processes that outlived the host: %v", left))
			return nil
		}
	}
}
