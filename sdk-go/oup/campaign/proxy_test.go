package campaign

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// proxy passes bytes between one client and a server, and ends connections as it likes.
type proxy struct {
	server   func() string // host and port, now
	listener net.Listener
	threads  sync.WaitGroup

	mu    sync.Mutex
	chaos *rand.Rand
	calm  bool
	open  map[net.Conn]bool
	cuts  int // connections that were ended
}

func newProxy(t *testing.T, seed uint64, server func() string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: server, listener: listener, chaos: rand.New(rand.NewPCG(seed, 1)), open: map[net.Conn]bool{}}
	p.threads.Go(p.accept)
	return p
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.threads.Go(func() { p.serve(client) })
	}
}

// fate draws how many bytes the server may say before the connection ends; less than 0 is all it wants.
func (p *proxy) fate() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch draw := p.chaos.IntN(10); {
	case p.calm:
		return -1
	case draw == 0:
		return 0 // refused
	case draw < 3:
		return p.chaos.Int64N(400) // in the middle of the handshake, or of the first frames
	default:
		return 20_000 + p.chaos.Int64N(200_000) // an opening alone takes three times 6 kB
	}
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	bytes := p.fate()
	if bytes == 0 {
		p.count()
		return
	}
	server, err := net.Dial("tcp", p.server())
	if err != nil {
		return
	}
	defer server.Close()
	p.hold(client, true)
	defer p.hold(client, false)
	up := make(chan struct{})
	go func() {
		defer close(up)
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	var from io.Reader = server
	if bytes > 0 {
		from = io.LimitReader(server, bytes)
	}
	if written, _ := io.Copy(client, from); bytes > 0 && written >= bytes {
		p.count()
	}
	_ = client.Close()
	<-up
}

func (p *proxy) count() {
	p.mu.Lock()
	p.cuts++
	p.mu.Unlock()
}

func (p *proxy) hold(c net.Conn, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open {
		p.open[c] = true
	} else {
		delete(p.open, c)
	}
}

// soothe lets every connection from now on live, and ends those that are under sentence.
func (p *proxy) soothe() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm = true
	for c := range p.open {
		_ = c.Close()
	}
}

func (p *proxy) close() int {
	_ = p.listener.Close()
	p.soothe()
	p.threads.Wait()
	return p.cuts
}
