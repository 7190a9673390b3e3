//go:build !unix

package bulk

// nonblocking is nothing where directories hold no pipes.
const nonblocking = 0
