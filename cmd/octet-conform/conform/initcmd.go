package conform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/vectors"
)

// init writes a profile from the manifest and the tools that the extension announces.
func (inv *invocation) init() int {
	f := inv.flags()
	scale := f.Float64("timeout-scale", 1, "multiply every deadline, on top of the calibration")
	force := f.Bool("force", false, "write over a file that is there")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 1 {
		return inv.wrong("init needs one directory with a manifest")
	}
	if err := checkScale(*scale); err != nil {
		return inv.wrong("%v", err)
	}
	dir := f.Arg(0)
	path := filepath.Join(dir, profile.FileName)
	if _, err := os.Stat(path); err == nil && !*force {
		return inv.wrong("%s is there already; remove it or give --force", path)
	}
	target, err := inv.target([]string{dir}, nil, &runFlags{allowCalls: true})
	if err != nil {
		return inv.refuse(err)
	}
	defer target.remove()
	target.setup.Profile = nil
	target.setup.Patience = steps.DefaultPatience.Scale(*scale * calibrate(inv.ctx))
	target.setup.Starter = subject.Bounded(inv.ctx, target.setup.Starter)
	tools, err := steps.Tools(target.setup)
	if inv.ctx.Err() != nil {
		return inv.unable(errors.New("interrupted: nothing was written"))
	}
	if err != nil {
		return inv.unable(withLastWords(fmt.Errorf("%s does not announce its tools: %w", dir, err)))
	}
	text := profile.Draft(tools)
	if err := write(path, text, *force); err != nil {
		return inv.unable(err)
	}
	fmt.Fprintf(inv.stdout, "%s: %d tools; read it before you run 'octet-conform extension %s'\n", path, len(tools), dir)
	return report.ExitClean
}

// withLastWords adds to an error what the subject that was not ready has left, a line each.
func withLastWords(err error) error {
	var (
		unready  *steps.Unready
		stranger *vectors.StrangerError
		words    []string
	)
	switch {
	case errors.As(err, &unready):
		words = report.LastWords(unready.Stderr, unready.Ended)
	case errors.As(err, &stranger):
		words = report.LastWords(stranger.Stderr, stranger.Ended)
	}
	lines := []error{err}
	for _, line := range words {
		lines = append(lines, errors.New("  "+line))
	}
	return errors.Join(lines...)
}

// write makes a file, over one that is there only when forced.
func write(path string, text []byte, force bool) error {
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", path)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
