package oupreferee

import (
	"net"
	"testing"
)

// Servers that start at the same time are never told to listen on one port.
func TestReservePort_givesEachOnce(t *testing.T) {
	taken := map[int]bool{}
	for range 300 {
		port, held, err := reservePort()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = held.Close() }()
		if taken[port] {
			t.Fatalf("the port %d is given away twice", port)
		}
		taken[port] = true
	}
}

// What a port is held by does not keep a server from it.
func TestReservePort_isFreeForTheServer(t *testing.T) {
	port, held, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	conn, err := net.ListenPacket("udp", loopback(port))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
