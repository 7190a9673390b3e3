package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf is the user and system time of a process, 0 for this one, to the nanosecond: the clock that the kernel keeps
// for it. getrusage tells of children only when they have ended.
func cpuOf(pid int) (time.Duration, bool) {
	const schedClock = 2 // CPUCLOCK_SCHED, in the low bits of the id of a process clock
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		clock = int32(^pid)<<3 | schedClock
	}
	var at unix.Timespec
	if err := unix.ClockGettime(clock, &at); err != nil {
		return 0, false
	}
	return time.Duration(at.Nano()), true
}
