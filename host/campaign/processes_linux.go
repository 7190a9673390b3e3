package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
)

// Relative is a living process that belongs to a run.
type Relative struct {
	PID     int
	Scratch string // the entry of its environment that names the generation; empty for the host itself
	Command string
}

// Relatives lists the living processes with an entry in their environment, which is NAME=VALUE.
func Relatives(mark string) []Relative {
	var found []Relative
	for _, pid := range processIDs() {
		environ, err := process.Environ(pid)
		if err != nil || !alive(pid) {
			continue
		}
		r, marked := Relative{PID: pid}, false
		for entry := range bytes.SplitSeq(environ, []byte{0}) {
			marked = marked || string(entry) == mark
			if strings.HasPrefix(string(entry), scratchVariable+"=") {
				r.Scratch = string(entry)
			}
		}
		if marked {
			r.Command = command(pid)
			found = append(found, r)
		}
	}
	return found
}

// SameProgram lists the living processes that run our own program, without ourselves: hosts, extensions,
// what they left behind, and guards.
func SameProgram() []Relative {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	var found []Relative
	for _, pid := range processIDs() {
		if exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe")); err == nil && exe == self && pid != os.Getpid() && alive(pid) {
			found = append(found, Relative{PID: pid, Command: command(pid)})
		}
	}
	return found
}

// scratchVariable names the directory that every generation has for itself.
var scratchVariable = func() string {
	for _, row := range featurewire.TableWireEnvironment {
		if strings.HasSuffix(row.Variable, "SCRATCH") {
			return row.Variable
		}
	}
	panic("the table of the environment names no scratch directory")
}()

func processIDs() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

func command(pid int) string {
	line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}

// alive tells a process from one that has ended and was not waited for.
func alive(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	return len(fields) > 0 && fields[0] != "Z" && fields[0] != "X"
}
