package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// FuzzStdio reads lines of a client: none is longer than the bound, none holds a line feed, and reading ends.
func FuzzStdio(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}\r\n{}", "a\rb\n\r\n", "\x00\xff\n", "\r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := NewStdio(io.NopCloser(bytes.NewReader(text)), nil)
		for range bytes.Count(text, []byte("\n")) + 2 {
			line, err := s.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if bytes.ContainsAny(line, "\n") || len(line) > oupwire.MaxTextFrameBytes {
				t.Errorf("a line is %.80q", line)
			}
		}
		t.Error("reading goes on behind the end")
	})
}

// upgrade is the request of a client that may connect.
var upgrade = "GET " + WebSocketPath + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

// FuzzWebSocket sends bytes behind the upgrade, and among its headers: whatever they are, the connection is served to an
// end, every message that is handed on is text within the bound, and the server stands.
func FuzzWebSocket(f *testing.F) {
	for _, seed := range []string{
		"", "\x81\x82\x00\x00\x00\x00{}", "\x81\x80\x00\x00\x00\x00", "\x01\x81\x00\x00\x00\x00a\x80\x81\x00\x00\x00\x00b", "\x82\x81\x00\x00\x00\x00a", "\x88\x82\x00\x00\x00\x00\x03\xe8",
		"\x89\x80\x00\x00\x00\x00", "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", "\x81\x02{}", "\xf1\x80\x00\x00\x00\x00", "\x81\x82\x00\x00\x00\x00\xff\xfe", "\x80\x80\x00\x00\x00\x00", "\x81\xfe\x00\x01\x00\x00\x00\x00a",
	} {
		f.Add("", []byte(seed))
	}
	for _, headers := range []string{
		"Authorization: Bearer x\r\n", "Sec-WebSocket-Protocol: octos-ui, octos.bearer.x\r\n", "X-Octos-Ui-Features: a, ,b\r\n", "Origin: null\r\n", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n",
	} {
		f.Add(headers, []byte("\xc1\x07\x00\x00\x00\x00\xaa\xae\x05\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, headers string, text []byte) {
		ws := &WebSocket{Serve: func(_ context.Context, c Conn) {
			for {
				message, err := c.Read()
				if err != nil {
					return
				}
				if len(message) > oupwire.MaxTextFrameBytes {
					t.Errorf("a message of %d bytes", len(message))
				}
			}
		}}
		client, served := net.Pipe()
		server := &http.Server{Handler: ws}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(&single{conn: served})
		}()
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, client)
		}()
		_, _ = io.WriteString(client, upgrade+headers+"\r\n")
		_, _ = client.Write(text)
		_ = client.Close()
		<-read
		ws.Close(Ended)
		_ = server.Close()
		<-done
	})
}

// single is a listener with one connection.
type single struct{ conn net.Conn }

func (s *single) Accept() (net.Conn, error) {
	if s.conn == nil {
		return nil, net.ErrClosed
	}
	conn := s.conn
	s.conn = nil
	return conn, nil
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
