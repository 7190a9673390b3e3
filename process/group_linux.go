//go:build linux

package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the child's process group, and beyond it every process that carries the tag.
type group struct{ tag string }

func newGroup(tag string) (*group, error) { return &group{tag: tag}, nil }

// prepare asks for a new group and for the child's death should we die first. Only the child itself is
// covered by the latter; its own children see their pipes close.
func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func (g *group) adopt(*exec.Cmd) error { return nil }

// await returns once the child has ended and leaves it unreaped: as long as it is, its id cannot be
// given to another process, so a late signal to the group never hits a stranger.
func (g *group) await(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func (g *group) terminate(leader int) { g.signal(leader, syscall.SIGTERM) }

func (g *group) kill(leader int) { g.signal(leader, syscall.SIGKILL) }

func (g *group) release() {}

func (g *group) signal(leader int, sig syscall.Signal) {
	signalGroup(leader, sig)
	if g.tag == "" {
		return
	}
	for _, pid := range processes() {
		if pid != os.Getpid() && g.tagged(pid) {
			g.signalTagged(pid, sig)
		}
	}
}

// signalTagged opens a handle first and then looks again, so that an id that changed hands in between
// is left alone.
func (g *group) signalTagged(pid int, sig syscall.Signal) {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if g.tagged(pid) {
		_ = handle.Signal(sig)
	}
}

func (g *group) members(leader int) int { return len(g.pids(leader)) }

// pids are the members of the tree without its leader.
func (g *group) pids(leader int) []int {
	var members []int
	for _, pid := range processes() {
		if pid == leader || pid == os.Getpid() {
			continue
		}
		alive, pgrp := stat(pid)
		if alive && (leader > 0 && pgrp == leader || g.tagged(pid)) {
			members = append(members, pid)
		}
	}
	return members
}

// remaining counts the tree with its leader.
func (g *group) remaining(leader int) int {
	n := g.members(leader)
	if alive, pgrp := stat(leader); leader > 0 && alive && pgrp == leader {
		n++
	}
	return n
}

// tagged reports whether the process was started with the tag in its environment. Other users'
// processes cannot be read and are not ours.
func (g *group) tagged(pid int) bool {
	if g.tag == "" {
		return false
	}
	env, err := Environ(pid)
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if string(entry) == g.tag {
			return true
		}
	}
	return false
}

// processes lists the process ids of the system; none if /proc is not mounted.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stat reads state and process group. The program's name stands in parentheses and may itself contain
// any character, so the fields are counted from the last closing one.
func stat(pid int) (alive bool, pgrp int) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false, 0
	}
	_, after, found := strings.Cut(string(data[bytes.LastIndexByte(data, ')')+1:]), " ")
	fields := strings.Fields(after)
	if !found || len(fields) < 3 {
		return false, 0
	}
	pgrp, err = strconv.Atoi(fields[2])
	if err != nil {
		return false, 0
	}
	state := fields[0]
	return state != "Z" && state != "X", pgrp
}
