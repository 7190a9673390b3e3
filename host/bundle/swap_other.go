//go:build !linux && !darwin

package bundle

import "errors"

// swap exchanges two directories in one step; this system cannot.
func swap(_, _ string) error { return errors.ErrUnsupported }

// renameNew gives a directory a name that nothing has.
func renameNew(from, to string) error { return renameFree(from, to) }
