//go:build windows

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that ends its members when its last handle is closed, also when we crash.
type group struct{ job windows.Handle }

func newGroup(string) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &group{job: job}, nil
}

func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// adopt puts the child into the job. A grandchild started before this call is not a member.
func (g *group) adopt(cmd *exec.Cmd) error {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		defer func() { _ = windows.CloseHandle(handle) }()
		err = windows.AssignProcessToJobObject(g.job, handle)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return err
}

func (g *group) await(cmd *exec.Cmd) { _ = cmd.Wait() }

// terminate sends a console break, which a console program may handle.
func (g *group) terminate(leader int) {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(leader))
}

func (g *group) kill(int) { _ = windows.TerminateJobObject(g.job, 1) }

func (g *group) release() { _ = windows.CloseHandle(g.job) }

func (g *group) members(leader int) int {
	var list struct {
		assigned, listed uint32
		ids              [256]uintptr
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil {
		return 0
	}
	n := 0
	for _, id := range list.ids[:min(int(list.listed), len(list.ids))] {
		if int(id) != leader {
			n++
		}
	}
	return n
}

func (g *group) runDelay(int) time.Duration { return 0 }

// remaining is none: a job has ended with the program that made it.
func (g *group) remaining(int) int { return 0 }

// busy reports whether an executable could not be run because somebody has it open.
func busy(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

func signalName(*os.ProcessState) string { return "" }
