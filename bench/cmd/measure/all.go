package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/octet-dev/octet/bench/driver"
	"github.com/octet-dev/octet/bench/report"
)

// programs are those of the three languages. A language whose stamp is missing is not measured.
func programs() ([]driver.Program, []driver.Failure, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	list := []driver.Program{{Name: "Go", Command: []string{self}}}
	var missing []driver.Failure
	for _, other := range []struct {
		driver.Program
		stamp string
	}{
		{driver.Program{Name: "Python", Command: []string{"build/bench-venv/bin/python", "bench/python/bench.py"}, Environment: []string{"PYTHONPATH=sdk-py"}}, "build/bench-venv/.ready"},
		{driver.Program{Name: "TypeScript", Command: []string{"node", "bench/typescript/dist/bench.js"}}, "bench/typescript/node_modules/.ready"},
	} {
		if _, err := os.Stat(other.stamp); err != nil {
			missing = append(missing, driver.Failure{Row: other.Name, Subject: "everything", Reason: "there is no " + other.stamp + ": make it first"})
			continue
		}
		list = append(list, other.Program)
	}
	return list, missing, nil
}

func all(ctx context.Context, arguments []string) error {
	flags := pflag.NewFlagSet("measure all", pflag.ContinueOnError)
	rows := flags.String("rows", "", "a regular expression: the rows to measure; empty: all")
	rounds := flags.Int("rounds", 15, "how often each subject is measured")
	seconds := flags.Float64("seconds", 2.5, "how long a run of a subject takes, about")
	seed := flags.Uint64("seed", 1, "the order")
	raw := flags.String("raw", "build/bench.json", "the file for all samples")
	directory := flags.String("report", "docs", "the folder for the report; empty: the tables go to standard output alone")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if _, err := regexp.Compile(*rows); err != nil {
		return fmt.Errorf("--rows %q: %w", *rows, err)
	}
	pattern := regexp.MustCompile("^(?:" + *rows + ")$")
	if *rows == "" {
		pattern = nil
	}
	list, missing, err := programs()
	if err != nil {
		return err
	}
	data := report.Data{Machine: machine(), Rounds: *rounds, Seconds: *seconds, Seed: *seed}
	if pattern == nil { // a look at one row is in a hurry
		if err := quiet(ctx, os.Stderr, load, float64(data.Machine.Cores)/2, time.After); err != nil {
			return err
		}
	}
	data.Machine.Load[0] = load()
	show := bar()
	data.Result, err = driver.Plan{Programs: list, Rows: pattern, Rounds: *rounds, Seconds: *seconds, Seed: *seed, Told: show}.Run(ctx)
	data.Failures = append(data.Failures, missing...)
	data.Machine.Load[1] = load()
	if err != nil { // what was measured until then is worth a look, and no report
		return errors.Join(err, keep(&data, *raw, ""))
	}
	if pattern != nil && len(data.Result.Samples) == 0 {
		return fmt.Errorf("no row matches %q as a whole; `measure list` names them", *rows)
	}
	return keep(&data, *raw, *directory)
}

// again writes the report from samples that were kept.
func again(arguments []string) error {
	flags := pflag.NewFlagSet("measure report", pflag.ContinueOnError)
	raw := flags.String("raw", "build/bench.json", "the file with the samples")
	directory := flags.String("report", "docs", "the folder for the report")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	text, err := os.ReadFile(*raw)
	if err != nil {
		return err
	}
	var data report.Data
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	return report.Write(&data, *directory)
}

func keep(data *report.Data, raw, directory string) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(raw), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(raw, append(text, '\n'), 0o644); err != nil {
		return err
	}
	report.Print(os.Stdout, data)
	if directory == "" {
		return nil
	}
	return report.Write(data, directory)
}

// bar shows progress on a terminal and nowhere else.
func bar() func(driver.Progress) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	began := time.Now()
	return func(p driver.Progress) {
		const width = 40
		done := p.Done * width / max(1, p.Total)
		fmt.Fprintf(os.Stderr, "\r\x1b[K[%s%s] %d of %d, %s  %s", strings.Repeat("#", done), strings.Repeat(".", width-done),
			p.Done, p.Total, time.Since(began).Round(time.Second), p.Now)
		if p.Done == p.Total {
			fmt.Fprintln(os.Stderr)
		}
	}
}

// machine names the machine by what a reader needs: cores and memory.
func machine() report.Machine {
	m := report.Machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m // only Linux has it; the report then says 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			m.Memory = kib / (1 << 20)
		}
	}
	return m
}

// load is the load average of one minute, or 0 where nobody knows it.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, _ := strconv.ParseFloat(first, 64)
	return value
}
