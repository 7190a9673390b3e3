package product

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/octet-dev/octet/bench/call"
	"github.com/octet-dev/octet/bench/sample"
)

// The words that make the program play a part.
const (
	nothingWord = "nothing"
	hostWord    = "host-child"
)

// Child plays a part and does not return, if the program was started for one.
func Child() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case nothingWord:
		os.Exit(0)
	case hostWord:
		if err := playHost(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// manyExtensions starts hosts with 1, 10 and 100 extensions.
func manyExtensions(ctx context.Context, _ time.Duration, emit func(sample.Sample)) error {
	for _, count := range []int{1, 10, 100} {
		shape := fmt.Sprint(count, " extensions")
		if count == 1 {
			shape = "1 extension"
		}
		dir, err := extensions(count)
		if err != nil {
			return err
		}
		took, memory, err := startHost(ctx, dir, count)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
		emit(sample.Sample{Case: shape, Metric: sample.Wall, Value: millis(took), Count: 1})
		emit(sample.Sample{Case: shape, Metric: sample.Memory, Value: memory, Count: 1})
	}
	return nil
}

// extensions lays out so many of them.
func extensions(count int) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "octet-bench-"); err != nil {
		return "", err
	}
	for n := range count {
		if err := call.Manifest(dir, extensionName(n), os.DevNull); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func extensionName(n int) string { return fmt.Sprintf("say-%03d", n) }

// startHost returns how long it took from the start of a host to the first result, and what the host then holds.
func startHost(ctx context.Context, dir string, count int) (time.Duration, float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	host := exec.CommandContext(ctx, self, hostWord, dir, strconv.Itoa(count))
	host.Stderr = os.Stderr
	in, err := host.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := host.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := host.Start(); err != nil {
		return 0, 0, err
	}
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n')
	took := time.Since(began)
	var memory float64
	if err == nil {
		err = json.NewDecoder(lines).Decode(&memory)
	}
	return took, memory, errors.Join(err, in.Close(), host.Wait())
}

// playHost is a host that makes one call, says so, then says what it holds, and ends with its input.
func playHost(arguments []string) error {
	count, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	names := make([]string, count)
	for n := range names {
		names[n] = extensionName(n)
	}
	ctx := context.Background()
	host, err := call.OpenHost(ctx, filepath.Clean(arguments[0]), names...)
	if err != nil {
		return err
	}
	err = host.CallOn(ctx, names[count-1], "one two three")
	fmt.Println("called")
	runtime.GC()
	debug.FreeOSMemory()
	memory, unknown := resident(os.Getpid())
	fmt.Println(memory)
	_, _ = os.Stdin.Read(make([]byte, 1)) // the end of the input
	return errors.Join(err, unknown, host.Close())
}
