package live

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/conversation"
)

// FileError says that a file of an input cannot be had.
type FileError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *FileError) Error() string {
	return fmt.Sprintf("file %q cannot be attached: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// maxMedia bounds one file that a model is shown.
const maxMedia = 16 << 20

// media reads the files that a model is shown, images and audio of the workspace, and mentions the others by their
// paths, so that the model can look at them with its tools.
//
// Rule: OUP-KEY-012.
func (s *Session) media(files []oupwire.FileRef) (parts []conversation.Part, mentions string, err error) {
	if len(files) == 0 {
		return nil, "", nil
	}
	root, err := os.OpenRoot(s.o.Workspace)
	if err != nil {
		return nil, "", &FileError{s.o.Workspace, err}
	}
	defer func() { _ = root.Close() }()
	for _, file := range files {
		inside, err := s.inside(file.Path)
		if err != nil {
			return nil, "", &FileError{file.Path, err}
		}
		kind := conversation.Kind(strings.SplitN(file.Mime, "/", 2)[0])
		if kind != conversation.Image && kind != conversation.Audio {
			if err := regular(root, inside); err != nil {
				return nil, "", &FileError{file.Path, err}
			}
			if mentions != "" {
				mentions += "\n"
			}
			mentions += "[attached file: " + filepath.ToSlash(inside) + "]"
			continue
		}
		data, err := read(root, inside)
		if err != nil {
			return nil, "", &FileError{file.Path, err}
		}
		parts = append(parts, conversation.Part{Kind: kind, MediaType: file.Mime, Data: data})
	}
	return parts, mentions, nil
}

// inside is a path relative to the workspace. The root itself keeps what follows links inside.
func (s *Session) inside(path string) (string, error) {
	if filepath.IsAbs(path) {
		relative, err := filepath.Rel(s.o.Workspace, path)
		if err != nil {
			return "", errOutside
		}
		path = relative
	}
	if !filepath.IsLocal(path) {
		return "", errOutside
	}
	return filepath.Clean(path), nil
}

var errOutside = errors.New("it lies outside of the workspace")

// plain leaves out the path that an error of the system repeats.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// regular refuses what is no regular file: a directory has nothing to show, and to open a pipe could wait for ever.
func regular(root *os.Root, name string) error {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return plain(err)
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	}
	return nil
}

func read(root *os.Root, name string) ([]byte, error) {
	if err := regular(root, name); err != nil {
		return nil, err
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxMedia+1))
	if err == nil && len(data) > maxMedia {
		err = fmt.Errorf("it has more than %d bytes", maxMedia)
	}
	return data, err
}

func audible(parts []conversation.Part) bool {
	return slices.ContainsFunc(parts, func(p conversation.Part) bool { return p.Kind == conversation.Audio })
}

// size is how many bytes a file of the workspace has, 0 where that cannot be told.
func (s *Session) size(path string) int64 {
	inside, err := s.inside(path)
	if err != nil {
		return 0
	}
	root, err := os.OpenRoot(s.o.Workspace)
	if err != nil {
		return 0
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(inside)
	if err != nil {
		return 0
	}
	return info.Size()
}
