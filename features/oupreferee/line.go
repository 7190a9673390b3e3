package oupreferee

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
)

// The transports, as tags of scenarios have them.
const (
	Stdio     = "stdio"
	WebSocket = "websocket"
)

// Line is one connection of a client to a server. Read is for one goroutine.
type Line interface {
	// Send writes bytes as they are: over standard streams the caller ends a line.
	Send([]byte) error
	// Read returns the next frame, without its line end.
	Read() ([]byte, error)
	// CloseWrite ends what the client says; over WebSocket it closes the connection.
	CloseWrite() error
	// Close ends the connection and releases everything.
	Close()
	// Code is the code with which a server has closed a WebSocket; 0 for none.
	Code() int
}

// maxRead bounds a frame of a server: a little more than the protocol does, so that a longer one is seen.
const maxRead = 4 * oupwire.MaxTextFrameBytes

var errFlood = errors.New("a frame is far over the bound")

// streams is a connection over standard streams.
type streams struct {
	in   io.WriteCloser
	out  *bufio.Reader
	end  func()
	once sync.Once
}

func newStreams(in io.WriteCloser, out io.Reader, end func()) *streams {
	return &streams{in: in, out: bufio.NewReaderSize(out, 64<<10), end: end}
}

func (s *streams) Send(b []byte) error {
	_, err := s.in.Write(b)
	return err
}

func (s *streams) Read() ([]byte, error) {
	var line []byte
	for {
		part, err := s.out.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxRead:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, errFlood
		case err != nil && len(line) == 0:
			return nil, err
		}
		return []byte(strings.TrimSuffix(string(line), "\n")), nil
	}
}

func (s *streams) CloseWrite() error { return s.in.Close() }

func (s *streams) Close() { s.once.Do(s.end) }

func (s *streams) Code() int { return 0 }

// socket is a connection over WebSocket.
type socket struct {
	conn   *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex
	code int
}

// dial connects; a path takes the place of that of the target. The header is that of the upgrade. An upgrade that is
// refused gives a *refusal.
func dial(ctx context.Context, target, path, query string, header http.Header, protocols []string) (*socket, string, error) {
	if path != "" {
		u, err := url.Parse(target)
		if err != nil {
			return nil, "", err
		}
		target = u.Scheme + "://" + u.Host + path
	}
	if query != "" {
		target += "?" + query
	}
	conn, answer, err := websocket.Dial(ctx, target, &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			text, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
			return nil, "", &refusal{answer.StatusCode, string(text)}
		}
		return nil, "", err
	}
	conn.SetReadLimit(maxRead)
	// A connection outlives the dial; what ends it is its close.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &socket{conn: conn, ctx: ctx, cancel: cancel}, conn.Subprotocol(), nil
}

// maxRefusal bounds what is read of the text of a refusal.
const maxRefusal = 4 << 10

// refusal is an upgrade that was refused.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("the upgrade was refused with status %d", r.status)
}

func (s *socket) Send(b []byte) error {
	return s.conn.Write(s.ctx, websocket.MessageText, b)
}

// sendBinary writes a message that is no text.
func (s *socket) sendBinary(b []byte) error {
	return s.conn.Write(s.ctx, websocket.MessageBinary, b)
}

// ping asks for a pong and waits for it; somebody has to read meanwhile.
func (s *socket) ping(ctx context.Context) error { return s.conn.Ping(ctx) }

func (s *socket) Read() ([]byte, error) {
	_, frame, err := s.conn.Read(s.ctx)
	if err != nil {
		s.mu.Lock()
		if code := websocket.CloseStatus(err); code > 0 {
			s.code = int(code)
		}
		s.mu.Unlock()
	}
	return frame, err
}

func (s *socket) CloseWrite() error { return s.conn.Close(websocket.StatusNormalClosure, "") }

func (s *socket) Close() {
	_ = s.conn.CloseNow()
	s.cancel()
}

func (s *socket) Code() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}
