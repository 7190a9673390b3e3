//go:build unix

package house

import (
	"math"
	"syscall"
)

// descriptors is how many this process may have; 0 where the system does not say.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) // of another type on some systems
}
