//go:build !unix

package artifact

// noWait is nothing here: there are no pipes in the file system.
const noWait = 0
