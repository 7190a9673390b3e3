package oup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
)

// errRestart is why a connection ended that a server closed to start anew.
var errRestart = errors.New("the server starts anew")

// closeGrace is how long the other side may take to agree to the end of a WebSocket.
const closeGrace = time.Second

// WebSocket connects to a server at an address such as ws://127.0.0.1:8080; where the address has no path, that of the
// protocol is added. When the connection
// is lost the client connects again, and its sessions go on where they were. Call Close.
func WebSocket(ctx context.Context, address string, options Options) (*Client, error) {
	where, err := endpoint(address)
	if err != nil {
		return nil, err
	}
	features := options.features()
	return connect(ctx, options, oupwire.TransportWebsocket, func(ctx context.Context) (wire, error) {
		return dial(ctx, where, features, options)
	})
}

var (
	featureHeader = text("feature_header")
	subprotocol   = text("subprotocol")
)

// endpoint completes an address by the path of the protocol.
func endpoint(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the address of the server: %w", err)
	}
	if parsed.Path == "" || parsed.Path == "/" {
		parsed.Path = text("websocket_path")
	}
	return parsed.String(), nil
}

func dial(ctx context.Context, address string, features []string, options Options) (wire, error) {
	header := options.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set(featureHeader, strings.Join(features, ","))
	if options.Token != "" {
		header.Set("Authorization", "Bearer "+options.Token)
	}
	socket, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: options.HTTPClient, HTTPHeader: header, Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if answer != nil && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
			return nil, &AuthError{Status: answer.StatusCode, Reason: http.StatusText(answer.StatusCode)}
		}
		return nil, fmt.Errorf("connect: %w", err)
	}
	socket.SetReadLimit(oupwire.MaxTextFrameBytes)
	return &channel{socket}, nil
}

// channel is a WebSocket as a wire.
type channel struct{ socket *websocket.Conn }

// Read returns the next text frame; others count for nothing.
func (c *channel) Read() ([]byte, error) {
	for {
		kind, frame, err := c.socket.Read(context.Background())
		if err != nil {
			return nil, ended(err)
		}
		if kind == websocket.MessageText {
			return frame, nil
		}
	}
}

// ended says why there is nothing to read any more.
func ended(err error) error {
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return &ProtocolError{Detail: fmt.Sprintf("a frame exceeds %d bytes", oupwire.MaxTextFrameBytes)}
	}
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		return err
	}
	switch closed.Code {
	case websocket.StatusPolicyViolation:
		return &AuthError{Status: int(closed.Code), Reason: closed.Reason}
	case websocket.StatusServiceRestart:
		return errRestart
	}
	return err
}

// Torn looks for an end: a connection that is lost in the middle of a message gives what had come as a whole one.
func (c *channel) Torn() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if _, _, err := c.socket.Read(ctx); err != nil && ctx.Err() == nil {
		return ended(err)
	}
	return nil
}

func (c *channel) Write(frame []byte) error {
	return c.socket.Write(context.Background(), websocket.MessageText, frame)
}

// Close ends the connection at once: whoever needs an answer has got it by then.
func (c *channel) Close() error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.socket.Close(websocket.StatusNormalClosure, "") // the other side may be gone
	}()
	patience := time.NewTimer(closeGrace)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
		_ = c.socket.CloseNow() // ends the closing too
		<-done
	}
	return nil
}
