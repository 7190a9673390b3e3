package storage_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/storage"
	"github.com/octet-dev/octet/host/session"
)

func TestTrouble_saysWhatIsWrongAndNotWhere(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&ledger.Error{Path: "/secret/ledger.db", Kind: ledger.ErrFull, Cause: errors.New("full")}, "is full"},
		{&session.Error{Path: "/secret/sessions.db", Kind: session.ErrFull}, "is full"},
		{&fs.PathError{Op: "write", Path: "/secret/profiles.json", Err: syscall.EFBIG}, "is full"},
		{fmt.Errorf("made: %w", errors.Join(errors.New("a"), &fs.PathError{Op: "open", Path: "/secret", Err: syscall.ENOSPC})), "is full"},
		{&ledger.Error{Path: "/secret/ledger.db", Kind: ledger.ErrReadOnly}, "writable"},
		{&session.Error{Path: "/secret/sessions.db", Kind: session.ErrLocked}, "another program"},
		{&fs.PathError{Op: "open", Path: "/secret", Err: syscall.EMFILE}, "files open"},
		{&ledger.Error{Path: "/secret/ledger.db", Kind: ledger.ErrDisk, Cause: syscall.EFBIG}, "is full"},
		{&ledger.Error{Path: "/secret/ledger.db", Kind: ledger.ErrDisk}, "fails"},
		{ledger.ErrClosed, ""},
		{session.ErrNotFound, ""},
		{errors.New("the disk of a joke"), ""},
		{nil, ""},
	} {
		got := storage.Trouble(c.err)
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") || strings.Contains(got, "secret") {
			t.Errorf("%v is told as %q, want %q", c.err, got, c.want)
		}
	}
}
