package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/host/diagnostic"
)

// MaxFileBytes bounds a configuration file.
const MaxFileBytes = 256 * 1024

// directory and fileName are where a home or a workspace keeps its configuration.
const (
	directory = ".octet"
	fileName  = "config.toml"
)

// UserFile is the configuration file of a home directory.
func UserFile(home string) string { return filepath.Join(home, directory, fileName) }

// ReadUser reads the configuration of the user. The home counts as given: links on the way are followed,
// as people arrange their homes with them. A missing file is an empty layer; a home that is not absolute
// leaves the layer out.
func ReadUser(home string) (Layer, []diagnostic.Diagnostic) {
	if !filepath.IsAbs(home) {
		return Layer{}, []diagnostic.Diagnostic{{
			Level: diagnostic.Info, Path: filepath.Join("~", directory, fileName),
			Message: "the configuration of the user is left out because the home directory is unknown",
			Remedy:  "set the variable that names your home directory to an absolute path",
		}}
	}
	path := UserFile(home)
	file, err := openRegular(os.Stat, os.Open, path)
	return layerOf(path, User, file, err)
}

// ReadProject reads the configuration of a trusted workspace, which comes from outside: no link below the
// workspace is followed. A missing file is an empty layer.
func ReadProject(workspace string) (Layer, []diagnostic.Diagnostic) {
	path := UserFile(workspace)
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return layerOf(path, Project, nil, err)
	}
	defer func() { _ = root.Close() }()
	inner, err := enter(root)
	if err != nil {
		return layerOf(path, Project, nil, err)
	}
	defer func() { _ = inner.Close() }()
	file, err := openRegular(inner.Lstat, inner.Open, fileName)
	return layerOf(path, Project, file, err)
}

// enter opens the directory of the configuration, which must be no link.
func enter(root *os.Root) (*os.Root, error) {
	before, err := root.Lstat(directory)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !before.IsDir():
		return nil, fs.ErrNotExist
	}
	inner, err := root.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	if after, err := inner.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = inner.Close()
		return nil, errLink
	}
	return inner, nil
}

var (
	errLink    = errors.New("it is a symbolic link, or lies behind one")
	errSpecial = errors.New("it is no regular file")
	// errRestless is for a file that was replaced behind every look at it.
	errRestless = errors.New("it changes all the time; try again")
)

// maxTries bounds how often a file is opened that is another one each time.
const maxTries = 16

// openRegular opens a regular file. A writer that replaces the file between the look and the opening
// makes it try again, so that no link and no pipe is opened in its place.
func openRegular(stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error), path string) (*os.File, error) {
	for range maxTries {
		before, err := stat(path)
		switch {
		case err != nil:
			return nil, err
		case before.Mode()&fs.ModeSymlink != 0:
			return nil, errLink
		case !before.Mode().IsRegular():
			return nil, errSpecial
		}
		file, err := open(path)
		if err != nil {
			return nil, err
		}
		if after, err := file.Stat(); err == nil && os.SameFile(before, after) {
			return file, nil
		}
		_ = file.Close()
	}
	return nil, errRestless
}

// layerOf reads an opened file in one go, so that it is either the text before or behind a change that
// replaces it, and at most one byte more than the bound.
func layerOf(path string, origin Origin, file *os.File, err error) (Layer, []diagnostic.Diagnostic) {
	d := diagnostic.Diagnostic{Level: diagnostic.Error, Path: path, Remedy: "make it a readable file, or remove it"}
	var data []byte
	if err == nil {
		defer func() { _ = file.Close() }()
		data, err = io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Layer{}, nil
	case err != nil:
		d.Message = fmt.Sprintf("cannot read the configuration: %v", cause(err))
		return Layer{}, []diagnostic.Diagnostic{d}
	case len(data) > MaxFileBytes:
		d.Message, d.Remedy = fmt.Sprintf("the configuration is longer than %d bytes", MaxFileBytes), "shorten it"
		return Layer{}, []diagnostic.Diagnostic{d}
	}
	return Parse(path, origin, data)
}

// cause takes operation and path off an error of the system: the diagnostic has them already.
func cause(err error) error {
	var located *fs.PathError
	if errors.As(err, &located) {
		return located.Err
	}
	return err
}
