//go:build unix

package house_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/live"
)

// A pipe that nobody writes to would be waited for without end, and with it the connection that named it.
func TestFiles_areRegular(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	if err := syscall.Mkfifo(filepath.Join(r.workspace, "pipe.png"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []oupwire.FileRef{
		{Path: "pipe.png", Mime: "image/png"}, {Path: "pipe.png", Mime: "text/plain"}, {Path: ".", Mime: "image/png"}, {Path: ".", Mime: "text/plain"},
	} {
		_, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "look", Files: []oupwire.FileRef{file}})
		if !errors.As(err, new(*live.FileError)) {
			t.Errorf("%+v is attached: %v", file, err)
		}
	}
}
