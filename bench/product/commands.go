// Package product measures what a person or a program has of the whole: how long commands take, what waiting costs, a
// host with many extensions.
//
// It runs the built commands of the folder bin, from the root of the repository.
package product

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/bench/sample"
)

const ours = "octet"

// Runs are the subjects.
func Runs() []sample.Run {
	const few = 5
	return []sample.Run{
		{Row: "commands", Subject: "octet --help", Do: command(10, "bin/octet", "--help")},
		{Row: "commands", Subject: "octet --version", Do: command(10, "bin/octet", "--version")},
		{Row: "commands", Subject: "nothing", Do: nothing},
		{Row: "idle", Subject: "octet host", Rounds: few, Do: idle{[]string{"host"}, `{"protocol_version":1,"request_id":"1","command":"hello"}`}.measure},
		{Row: "idle", Subject: "octet serve", Rounds: few, Do: idle{[]string{"serve", "--stdio"}, `{"jsonrpc":"2.0","id":"1","method":"nothing","params":{}}`}.measure},
		{Row: "generator", Subject: ours, Rounds: few, Do: generate},
		{Row: "referee", Subject: "Go extension", Rounds: 3, Do: judge("sdk-go/examples/word-count")},
		{Row: "referee", Subject: "Python extension", Rounds: 3, Do: judge("sdk-py/examples/word-count")},
		{Row: "host", Subject: ours, Rounds: few, Do: manyExtensions},
		{Row: "load", Subject: ours, Rounds: few, Do: muchAtOnce},
	}
}

// command measures a program from its start to its end, so many times.
func command(times int, program string, arguments ...string) func(context.Context, time.Duration, func(sample.Sample)) error {
	return func(ctx context.Context, _ time.Duration, emit func(sample.Sample)) error {
		if err := once(ctx, nil, program, arguments...); err != nil {
			return err
		}
		var took []time.Duration
		for range times {
			began := time.Now()
			if err := once(ctx, nil, program, arguments...); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		emit(sample.Sample{Case: "start to end", Metric: sample.Wall, Value: millis(took[times/2]), Count: times})
		return nil
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// once runs a program to its end.
func once(ctx context.Context, environment []string, program string, arguments ...string) error {
	run := exec.CommandContext(ctx, program, arguments...)
	run.Env = environment
	if output, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, lastLine(output))
	}
	return nil
}

func lastLine(output []byte) []byte {
	output = bytes.TrimSpace(output)
	return output[bytes.LastIndexByte(output, '\n')+1:]
}

// nothing is the floor: this program, told to end.
func nothing(ctx context.Context, lasts time.Duration, emit func(sample.Sample)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return command(10, self, nothingWord)(ctx, lasts, emit)
}

// generate makes everything from nothing in a tree of its own, then again.
func generate(ctx context.Context, _ time.Duration, emit func(sample.Sample)) error {
	root, err := os.MkdirTemp("", "octet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := os.CopyFS(filepath.Join(root, "spec"), os.DirFS("spec")); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(root, "spec", "reference")); err != nil {
		return err
	}
	var before map[string]time.Time
	for _, shape := range []string{"everything", "no change"} {
		if before, err = written(root); err != nil {
			return err
		}
		began := time.Now()
		if err := once(ctx, nil, "bin/octet-gen", "generate", "--root", root); err != nil {
			return err
		}
		emit(sample.Sample{Case: shape, Metric: sample.Wall, Value: millis(time.Since(began)), Count: 1})
	}
	after, err := written(root)
	if err != nil {
		return err
	}
	changed := 0
	for name, at := range after {
		if !before[name].Equal(at) {
			changed++
		}
	}
	emit(sample.Sample{Case: "files", Metric: sample.Allocs, Value: float64(len(after)), Count: 1})
	emit(sample.Sample{Case: "files written without a change", Metric: sample.Allocs, Value: float64(changed), Count: 1})
	return nil
}

// written is when each file below a folder was written.
func written(root string) (map[string]time.Time, error) {
	list := map[string]time.Time{}
	return list, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			list[path] = info.ModTime()
		}
		return err
	})
}

// judge is a full run of the referee. Python examples start through the Python that has the SDK.
func judge(dir string) func(context.Context, time.Duration, func(sample.Sample)) error {
	return func(ctx context.Context, _ time.Duration, emit func(sample.Sample)) error {
		if strings.HasPrefix(dir, "sdk-go/") {
			program := filepath.Join(dir, "bin", filepath.Base(dir))
			if runtime.GOOS == "windows" {
				program += ".exe"
			}
			if _, err := os.Stat(program); err != nil {
				return fmt.Errorf("%s is not built: make build", program)
			}
		}
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		path := filepath.Join(here, ".venv", "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
		began := time.Now()
		if err := once(ctx, append(os.Environ(), "PATH="+path), "bin/octet-conform", "extension", dir); err != nil {
			return err
		}
		emit(sample.Sample{Case: "full run", Metric: sample.Wall, Value: millis(time.Since(began)), Count: 1})
		return nil
	}
}
