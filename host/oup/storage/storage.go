// Package storage tells trouble with the disk from faults of the server: what it keeps from being done can be done
// later, and whoever asked for it may know that. Where things lie is nobody's business but the operator's.
//
// Sheet: OUP core 5.3; settled S60.
package storage

import (
	"errors"
	"slices"
	"syscall"

	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/session"
)

// troubles are the kinds of errors by what a client is told of them.
var troubles = []struct {
	sentence string
	kinds    []error
}{
	{
		"the disk of the server is full, or a limit of it is reached; free some space there, then try again",
		[]error{ledger.ErrFull, session.ErrFull, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG},
	},
	{
		"what the server keeps cannot be written; make its data directory writable, then try again",
		[]error{ledger.ErrReadOnly, session.ErrReadOnly, syscall.EROFS},
	},
	{
		"another program has what the server keeps; let that one finish, then try again",
		[]error{ledger.ErrLocked, session.ErrLocked},
	},
	{
		"the server has as many files open as it may; try again later, or raise that limit",
		descriptors,
	},
	{
		"the disk of the server fails; look after it and its limits, then try again",
		[]error{ledger.ErrDisk, session.ErrDisk, syscall.EIO},
	},
}

// descriptors are the errors of a system that opens no more files.
var descriptors = []error{syscall.EMFILE, syscall.ENFILE}

// NoDescriptors reports whether an error says that no more files can be open: it passes once some are closed.
func NoDescriptors(err error) bool {
	return slices.ContainsFunc(descriptors, func(kind error) bool { return errors.Is(err, kind) })
}

// Trouble is a sentence for clients about an error that the disk is to blame for, and empty for others.
func Trouble(err error) string {
	for _, t := range troubles {
		for _, kind := range t.kinds {
			if errors.Is(err, kind) {
				return t.sentence
			}
		}
	}
	return ""
}
