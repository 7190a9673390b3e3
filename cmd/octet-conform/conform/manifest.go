package conform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/octet-dev/octet/features/manifestreferee"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
)

// manifest judges a manifest and starts nothing.
func (inv *invocation) manifest() int {
	flags := runFlags{scale: 1, jobs: 1}
	f := inv.flags()
	flags.registerVerdict(f)
	flags.registerFix(f)
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := flags.check(); err != nil {
		return inv.wrong("%v", err)
	}
	if f.NArg() != 1 {
		return inv.wrong("manifest wants one directory or one file, and %d are given", f.NArg())
	}
	if err := flags.readLists(); err != nil {
		return inv.refuse(err)
	}
	target, err := manifestTarget(f.Arg(0))
	if err != nil {
		return inv.refuse(err)
	}
	began := time.Now()
	scenarios, err := target.reading.Run(referee.Matches(flags.run))
	switch {
	case err != nil:
		return inv.unable(err)
	case len(scenarios) == 0:
		return inv.wrong("no scenario for manifests matches --run %s; see 'octet-conform list --role manifest'", quoted(flags.run))
	}
	rep, err := flags.report(judgement{subject: target.subject, run: report.Run{Scale: 1, Jobs: 1}, scenarios: scenarios, took: time.Since(began)})
	if err != nil {
		return inv.refuse(err)
	}
	if flags.output == "text" {
		for _, w := range target.reading.Warnings {
			fmt.Fprintf(inv.stdout, "warning: %s:%d:%d: %s [%s]\n", target.subject.Manifest, w.Line, w.Column, w.Message, w.Rule)
		}
	}
	return inv.conclude(rep, scenarios, &flags)
}

// manifestTarget reads a directory's manifest, or a file alone.
func manifestTarget(path string) (*target, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usageError(fmt.Sprintf("%q does not exist; name a directory that holds a manifest, or a file", path))
	}
	if err != nil {
		return nil, err
	}
	read, directory := manifestreferee.File, ""
	if info.IsDir() {
		read, directory = readManifest, path
	}
	r, err := read(path)
	if err != nil {
		return nil, err
	}
	t := &target{reading: r, subject: describe(r)}
	t.subject.Role, t.subject.Directory = report.RoleManifest, directory
	if directory != "" {
		t.subject.Manifest = filepath.Join(path, filepath.Base(r.Path))
	}
	return t, nil
}
