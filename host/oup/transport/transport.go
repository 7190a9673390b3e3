// Package transport carries OUP frames between a server and one client: over standard streams, over WebSocket,
// or in memory. A frame is the text of one JSON object; what is in it is the matter of package rpc.
package transport

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Conn is one connection to a client. Read is for one goroutine, Write for one other; Close and Info are for any.
type Conn interface {
	// Info tells what came with the connection.
	Info() Info
	// Read returns the next frame, which belongs to the caller. The error is io.EOF where the client ended the
	// connection, a *TooLargeError for a frame over the bound, net.ErrClosed behind Close, or that of the stream.
	// Behind a *TooLargeError more frames follow on a stream of lines; a WebSocket gives that error for ever.
	Read() ([]byte, error)
	// Write sends one frame, which is only read, and returns when the transport took it. It refuses a frame that
	// is over the bound or has a line break in it.
	Write(frame []byte) error
	// Close ends the connection in both directions and tells the client why where the transport can. Only the
	// first call counts.
	Close(Reason) error
}

// Info is what came with a connection.
type Info struct {
	Transport oupwire.Transport
	Features  []string // tokens that the client named when it connected, in order, none blank, none twice
	Identity  Identity
	Loopback  bool // the client is on this machine
}

// Identity is who a credential stands for. The zero value is a client that needed none.
type Identity struct {
	Name    string          // for people; never the credential
	Profile string          // the one profile it is held to; empty for all
	Revoked <-chan struct{} // closed when the credential is withdrawn; nil where that never happens
	Session string          // the one session it is held to, a key with its topic; empty for all
	Holds   func() bool     // looked at in front of every request: the credential still counts; nil where it always does
}

// Known reports whether there is an identity.
func (i Identity) Known() bool { return i.Name != "" }

// Reason is why a server closes a connection.
type Reason uint8

// The reasons.
const (
	Ended       Reason = iota // an ordinary end
	AuthExpired               // the credential was withdrawn, or does not reach as far as was asked
	TooLarge                  // a frame over the bound
	Restart                   // the server is about to start anew
	GivenUp                   // the client does not read: torn down without a word
)

// TooLargeError is a frame over the bound. Nothing of it was kept.
type TooLargeError struct {
	Limit int // in bytes
}

// Error names the bound.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("oup frame exceeds %d bytes; split the content (OUP-FRAME-005)", e.Limit)
}

const bound = oupwire.MaxTextFrameBytes

var (
	errLineBreak = errors.New("oup frame holds a literal line break; escape it (OUP-FRAME-001)")
	errOverBound = fmt.Errorf("oup frame of the server exceeds %d bytes; cut it before it is sent (OUP-FRAME-003)", bound)
)

// mayWrite checks a frame of this side.
func mayWrite(frame []byte) error {
	if len(frame) > bound {
		return errOverBound
	}
	if bytes.IndexByte(frame, '\n') >= 0 || bytes.IndexByte(frame, '\r') >= 0 {
		return errLineBreak
	}
	return nil
}
