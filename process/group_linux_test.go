package process

import (
	"fmt"
	"io"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// seesTags: environments of other processes can be read here.
const seesTags = true

// TestStart_childDiesWithItsHost: EXT04-PROC-007.
func TestStart_childDiesWithItsHost(t *testing.T) {
	host := start(t, "host", nil)
	pid, err := strconv.Atoi(readLine(t, host.Stdout()))
	if err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(handle) }()
	if err := syscall.Kill(host.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(ended, int((10 * time.Second).Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Fatalf("the child outlived its host (%d, %v)", n, err)
		}
		return
	}
}

// playHost starts a child that ends neither at EOF nor at SIGTERM, and waits to be killed.
func playHost(path string) {
	child, err := Start(Options{Path: path, Env: []string{roleVariable + "=stubborn"}})
	if err != nil {
		panic(err)
	}
	if _, err := io.ReadFull(child.Stdout(), make([]byte, 1)); err != nil {
		panic(err)
	}
	fmt.Println(child.PID())
	forever()
}
