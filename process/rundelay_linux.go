package process

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// runDelay adds up how long the threads of a process were ready to run while other work had the processors. A
// kernel that keeps no such account gives 0.
func runDelay(pid int) time.Duration {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, thread := range threads {
		account, err := os.ReadFile(tasks + "/" + thread.Name() + "/schedstat")
		if err != nil {
			continue
		}
		// Nanoseconds on a processor, nanoseconds in line for one, and the number of turns.
		if fields := strings.Fields(string(account)); len(fields) == 3 {
			waited, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += time.Duration(waited)
		}
	}
	return sum
}

func (g *group) runDelay(leader int) time.Duration {
	sum := runDelay(leader)
	for _, pid := range g.pids(leader) {
		sum += runDelay(pid)
	}
	return sum
}
