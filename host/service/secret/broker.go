package secret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Map is a broker in memory: extension, then name, then value. Do not change it while it is in use.
type Map map[string]map[string]string

// Secret looks the value up.
func (m Map) Secret(_ context.Context, extension, name string) (value string, found bool, err error) {
	value, found = m[extension][name]
	return value, found, nil
}

// maxFileBytes bounds the file of a broker.
const maxFileBytes = 1 << 20

// The faults of a file of secrets. None of them holds anything of its content.
var (
	errNotRegular = errors.New("the file of secrets is a link or no regular file; put the file itself there")
	errOpen       = errors.New("the file of secrets can be read by others; take their rights away (mode 0600)")
	errTooLarge   = fmt.Errorf("the file of secrets has more than %d bytes", maxFileBytes)
	errForm       = errors.New("the file of secrets is no JSON object of extensions, each an object of names and texts")
)

// File is a broker that reads a file: a JSON object of extensions, each an object of names and values. The
// file is read for each look-up, so that a change counts at once, and must be readable by its owner alone.
type File struct{ Path string }

// Secret reads the file and looks the value up. A file that is not there holds nothing.
func (f File) Secret(ctx context.Context, extension, name string) (value string, found bool, err error) {
	secrets, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	return secrets.Secret(ctx, extension, name)
}

func (f File) read() (Map, error) {
	root, err := os.OpenRoot(filepath.Dir(f.Path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Base(f.Path)
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if runtime.GOOS != "windows" && before.Mode().Perm()&0o077 != 0 {
		return nil, errOpen
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFileBytes:
		return nil, errTooLarge
	}
	secrets := Map{}
	if json.Unmarshal(data, &secrets) != nil {
		return nil, errForm
	}
	return secrets, nil
}
