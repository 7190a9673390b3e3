package soak

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

func descriptors(pid int) (int64, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return int64(len(entries)), err
}

// resident is the memory of a process, in bytes.
func resident(pid int) (int64, error) {
	return kibibytes(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
}

// memoryOfMachine is all there is, in bytes; 0 if nobody says.
func memoryOfMachine() int64 {
	size, err := kibibytes("/proc/meminfo", "MemTotal:")
	if err != nil {
		return 0
	}
	return size
}

// kibibytes reads one line of a table of the system.
func kibibytes(path, name string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			size, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return size << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}

// loadOfMachine is the load of the last minute.
func loadOfMachine() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
