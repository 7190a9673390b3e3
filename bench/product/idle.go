package product

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/bench/sample"
)

// resident is the resident memory of a process in bytes. Linux alone says it in this way.
func resident(pid int) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib * 1024, err
		}
	}
	return 0, errors.New("the process has no resident memory")
}

// idle is a program that answers a line with a line once it is up, and then waits. It ends when its input does.
type idle struct {
	arguments []string
	greeting  string
}

func (i idle) measure(ctx context.Context, _ time.Duration, emit func(sample.Sample)) error {
	home, err := os.MkdirTemp("", "octet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	program, err := filepath.Abs("bin/octet")
	if err != nil {
		return err
	}
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	run := exec.CommandContext(ctx, program, i.arguments...)
	run.Dir = work // a workspace is apart from what is kept
	run.Env = append(os.Environ(), "HOME="+home, "OCTET_DATA_DIR="+filepath.Join(home, "data"))
	in, err := run.StdinPipe()
	if err != nil {
		return err
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return err
	}
	defer func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = run.Wait() // what it says of its end is not what is measured
	}()
	if _, err := io.WriteString(in, i.greeting+"\n"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("octet %s says nothing: %w", strings.Join(i.arguments, " "), err)
	}
	time.Sleep(300 * time.Millisecond) // what it still does behind its first word
	bytes, err := resident(run.Process.Pid)
	if err != nil {
		return err
	}
	emit(sample.Sample{Case: "idle", Metric: sample.Memory, Value: bytes, Count: 1})
	return nil
}
