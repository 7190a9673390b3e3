package process

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds on the wait for a process that becomes another program.
const (
	execTries = 2000
	execPause = time.Millisecond
)

// environBuffers hold the environment of one process each. It is read in one go where it fits: between two reads the
// process may become another program, and what was read would be half of the old one.
var environBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// Environ reads the environment that a process was started with: NAME=VALUE entries with a NUL behind each. It is empty
// for a thread of the kernel and for a process that ends; other users' processes give an error.
//
// While a process becomes another program its environment reads as empty, for as long as the machine leaves it there.
// Such a process is waited for: whoever looks for the members of a tree must not lose one to that moment.
func Environ(pid int) ([]byte, error) {
	var env []byte
	var err error
	for range execTries {
		env, err = readEnviron(pid)
		if err != nil || len(env) > 0 {
			break
		}
		size, known := environSize(pid)
		if !known {
			time.Sleep(execPause)
		} else if size == 0 {
			break
		}
	}
	return env, err
}

func readEnviron(pid int) ([]byte, error) {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	buffer := environBuffers.Get().(*[64 << 10]byte)
	defer environBuffers.Put(buffer)
	n, err := file.Read(buffer[:])
	env := bytes.Clone(buffer[:n])
	if n == len(buffer) {
		var rest []byte
		rest, err = io.ReadAll(file)
		env = append(env, rest...)
	}
	if err == io.EOF {
		err = nil
	}
	return env, err
}

// environSize is how long the environment of a process is. It is unknown while the process becomes another program: the
// bounds of its code are set last. One that has no memory has none: it has ended, or is a thread of the kernel.
func environSize(pid int) (size uint64, known bool) {
	const memory, codeStart, envStart, envEnd = 20, 23, 47, 48 // counted behind the name of the program
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, true
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) <= envEnd || fields[memory] == "0" {
		return 0, true
	}
	if fields[codeStart] == "0" {
		return 0, false
	}
	start, _ := strconv.ParseUint(fields[envStart], 10, 64)
	end, _ := strconv.ParseUint(fields[envEnd], 10, 64)
	return end - start, true
}
