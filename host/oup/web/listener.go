package web

import (
	"net"

	"github.com/octet-dev/octet/host/oup/storage"
)

// Relieved is a listener that gives descriptors back, and then takes a connection all the same, where the system has
// none left for it. relieve reports whether it gave one back.
func Relieved(l net.Listener, relieve func() bool) net.Listener {
	return relieved{l, relieve}
}

type relieved struct {
	net.Listener
	relieve func() bool
}

// Accept takes the next connection.
func (r relieved) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if storage.NoDescriptors(err) && r.relieve() {
		return r.Listener.Accept() // the connection still waits
	}
	return conn, err
}
