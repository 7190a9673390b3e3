// Package infile opens the files that a command line names: lists, profiles, reports, transcripts. What is no
// regular file, or is larger than such a file ever is, is refused at once and never waited for.
package infile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrTooLarge is wrapped by the error about a file that is larger than such a file ever is.
var ErrTooLarge = errors.New("too large")

type tooLargeError string

func (e tooLargeError) Error() string { return string(e) }

func (tooLargeError) Is(target error) bool { return target == ErrTooLarge }

// Open opens a regular file of at most limit bytes. What names its kind in messages, "a profile".
func Open(path, what string, limit int64) (*os.File, error) {
	// A pipe without a writer would keep an ordinary open waiting.
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = fits(info, path, what, limit)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func fits(info fs.FileInfo, path, what string, limit int64) error {
	if kind := kindOf(info.Mode()); kind != "" {
		return fmt.Errorf("%s is %s; name a file that holds %s", path, kind, what)
	}
	if info.Size() > limit {
		return tooLarge(path, what, limit)
	}
	return nil
}

func tooLarge(path, what string, limit int64) error {
	return tooLargeError(fmt.Sprintf("%s has more than %d bytes; %s is shorter", path, limit, what))
}

// kindOf names what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "no regular file"
	}
}

// Read reads such a file whole.
func Read(path, what string, limit int64) ([]byte, error) {
	f, err := Open(path, what, limit)
	if err != nil {
		return nil, err
	}
	// A file may grow while it is read.
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(path, what, limit)
	}
	return data, nil
}
