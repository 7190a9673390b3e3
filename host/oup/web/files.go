package web

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

const indexName = "index.html"

// file serves the file of a path below the root. A path of the client's own pages, which has no file, gets the
// index; one that looks like a file does not. Nothing outside of the root is reached, not by links either, and
// names that begin with a full stop are not served.
func (s *Site) file(w http.ResponseWriter, r *http.Request) {
	if s.o.Root == nil {
		http.NotFound(w, r)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" {
		name = indexName
	}
	if strings.ContainsAny(name, "\\\x00") || hidden(name) {
		http.NotFound(w, r)
		return
	}
	switch err := s.send(w, r, name); {
	case err == nil:
		return
	case !errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(name, "api/") || path.Ext(name) != "":
	case s.send(w, r, indexName) == nil:
		return
	}
	http.NotFound(w, r)
}

func hidden(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

// send sends a regular file. An error means that nothing was sent.
func (s *Site) send(w http.ResponseWriter, r *http.Request, name string) error {
	info, err := s.o.Root.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fs.ErrNotExist
	}
	if !info.Mode().IsRegular() {
		return fs.ErrInvalid // to open it could wait for ever
	}
	file, err := s.o.Root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if name == indexName {
		w.Header().Set("Cache-Control", "no-cache")
	}
	http.ServeContent(w, r, path.Base(name), info.ModTime(), io.ReadSeeker(file))
	return nil
}
