// Package private keeps a small JSON document in a file that only its user can read: changed in one step, under a
// lock that other processes take too, so that a crash leaves the old text or the new one.
package private

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// maxBytes bounds what is read, and so what is written: these files hold a few lists.
const maxBytes = 4 << 20

// LargeError says that a document would be larger than what is read again. It is not written.
type LargeError struct{ Bytes, Limit int }

// Error names both sizes and the remedy.
func (e *LargeError) Error() string {
	return fmt.Sprintf("what is kept would have %d bytes, at most %d; take something away first", e.Bytes, e.Limit)
}

// File is one document. T is its form; its zero value stands for a file that is not there.
type File[T any] struct {
	Path string
}

// Read returns the document.
func (f File[T]) Read() (document T, err error) {
	info, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return document, nil
	}
	if err != nil {
		return document, err
	}
	if info.Size() > maxBytes {
		return document, fmt.Errorf("%q has %d bytes, at most %d; move it away", f.Path, info.Size(), maxBytes)
	}
	text, err := os.ReadFile(f.Path)
	if err != nil {
		return document, err
	}
	if err := json.Unmarshal(text, &document); err != nil {
		var none T
		return none, fmt.Errorf("%q is not as octet writes it: %w; move it away", f.Path, withoutText(err))
	}
	return document, nil
}

// withoutText keeps what the file holds out of an error.
func withoutText(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("a %s at byte %d", kind.Value, kind.Offset)
	}
	return errors.New("it cannot be read")
}

// Change replaces the document by what do makes of it. An error of do leaves it as it is and is returned, as does a
// *LargeError.
func (f File[T]) Change(do func(*T) error) (err error) {
	directory := filepath.Dir(f.Path)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(f.Path + ".lock"); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file, so it cannot be locked; move it away", f.Path+".lock")
	}
	lock := flock.New(f.Path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	document, err := f.Read()
	if err != nil {
		return err
	}
	if err := do(&document); err != nil {
		return err
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	if text = append(text, '\n'); len(text) > maxBytes {
		return &LargeError{Bytes: len(text), Limit: maxBytes}
	}
	return replace(f.Path, text)
}

// replace writes a file beside the old one and exchanges them. The file is made with mode 0600.
func replace(path string, text []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
