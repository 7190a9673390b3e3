package conform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// reportFile is a file that a run was asked for, and by which flag.
type reportFile struct{ flag, path string }

func (r *reportFiles) named() []reportFile {
	var out []reportFile
	for _, f := range []reportFile{
		{"report-junit", r.junit}, {"report-json", r.json}, {"report-html", r.html}, {"report-sarif", r.sarif}, {"report-markdown", r.markdown}, {"report-badge", r.badge},
	} {
		if f.path != "" {
			out = append(out, f)
		}
	}
	return out
}

// check finds out in front of a run what would keep its reports from being written behind it. It makes the directory
// of the transcripts, and leaves everything else as it was. Nothing but a regular file is opened: a pipe may have a
// reader who takes that for the report.
func (r *reportFiles) check() error {
	seen := map[string]string{}
	for _, f := range r.named() {
		info, err := os.Stat(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = creatable(f.path)
		case err == nil && info.IsDir():
			err = fmt.Errorf("--%s is %q, which is a directory; name a file", f.flag, f.path)
		case err == nil && info.Mode().IsRegular():
			err = writable(f.path)
		case err == nil:
			continue
		}
		if err != nil {
			return err
		}
		place, err := filepath.Abs(f.path)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = real
		}
		if other, taken := seen[place]; taken {
			return usageError(fmt.Sprintf("--%s and --%s are both %q; name a file for each", other, f.flag, f.path))
		}
		seen[place] = f.flag
	}
	if r.transcripts != "" {
		return os.MkdirAll(r.transcripts, 0o777)
	}
	return nil
}

func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func creatable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(path))
}
