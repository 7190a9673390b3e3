package web_test

import (
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/octet-dev/octet/host/oup/web"
)

// full is a listener that has no descriptor for a connection until there is room.
type full struct {
	net.Listener
	room, taken bool
}

func (f *full) Accept() (net.Conn, error) {
	if !f.room {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	f.taken = true
	return nil, nil
}

func TestRelieved(t *testing.T) {
	f := &full{}
	if _, err := web.Relieved(f, func() bool { f.room = true; return true }).Accept(); err != nil || !f.taken {
		t.Errorf("taken %v, %v", f.taken, err)
	}
	f = &full{}
	if _, err := web.Relieved(f, func() bool { return false }).Accept(); err == nil {
		t.Error("where nothing can be given back nothing is wrong")
	}
}
