//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
	"time"
)

// group is the child's process group. The tag is of no use here: environments cannot be read.
type group struct{}

func newGroup(string) (*group, error) { return &group{}, nil }

func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func (g *group) adopt(*exec.Cmd) error { return nil }

// await also reaps: there is no portable way to wait without it.
func (g *group) await(cmd *exec.Cmd) { _ = cmd.Wait() }

func (g *group) terminate(leader int) { signalGroup(leader, syscall.SIGTERM) }

func (g *group) kill(leader int) { signalGroup(leader, syscall.SIGKILL) }

func (g *group) release() {}

// members is 1 if anybody is left in the group: the system does not say how many.
func (g *group) members(leader int) int {
	if syscall.Kill(-leader, 0) == nil {
		return 1
	}
	return 0
}

func (g *group) runDelay(int) time.Duration { return 0 }

// remaining counts as members does: a leader is a member.
func (g *group) remaining(leader int) int {
	if leader == 0 {
		return 0
	}
	return g.members(leader)
}
