//go:build !linux

package load

import "time"

// cpuOf knows nothing here: the report then has no processor time.
func cpuOf(int) (time.Duration, bool) { return 0, false }
