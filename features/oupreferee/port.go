package oupreferee

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/subject"
)

// The ports that servers are told to listen on. They are below those that systems hand out themselves, to whoever asks
// for any port or connects: the system gives none of them away before a server has begun to listen.
const (
	lowestPort = 20000
	manyPorts  = 6000
)

// portTries bounds the search for a port.
const portTries = 200

// reservePort finds a port on which nobody listens, and keeps every other referee from it until it is released: on a busy
// machine it takes a while until a server listens, and two servers at one port would be judged for each other's deeds.
// What is held is a datagram port beside the range, so that the server finds its own as free as any.
func reservePort() (port int, held io.Closer, err error) {
	for range portTries {
		port = lowestPort + rand.IntN(manyPorts)
		if held, err = net.ListenPacket("udp4", loopback(port+manyPorts)); err != nil {
			continue
		}
		var free net.Listener
		if free, err = net.Listen("tcp4", loopback(port)); err == nil {
			return port, held, free.Close()
		}
		_ = held.Close()
	}
	return 0, nil, errors.Join(fmt.Errorf("no port from %d to %d is free", lowestPort, lowestPort+manyPorts-1), err)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// retry is the pause between two tries to reach a server that starts.
const retry = 10 * time.Millisecond

// listening waits until the server takes connections.
func (p *started) listening(ctx context.Context) error {
	patience := subject.NewPatience(p.target.Wait, p.FreshDelay)
	defer patience.Stop()
	for {
		conn, err := net.DialTimeout("tcp", loopback(p.port), p.target.Wait)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.process.Exited():
			_, said := p.Ended()
			return fmt.Errorf("the server ended before it listened: %s", strings.TrimSpace(said))
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			if !patience.Extended() {
				return fmt.Errorf("the server does not listen on port %d within %s", p.port, p.target.Wait)
			}
		case <-time.After(retry):
		}
	}
}
