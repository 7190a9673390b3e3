package oup

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// server opens sessions and can do nothing else: dispatcher, lanes and ledger are those of octet serve.
type server struct {
	ledger *ledger.Ledger
	book   lane.Book
}

// open answers session/open.
func (s *server) open(ctx context.Context, call *rpc.Call, p oupwire.SessionOpenParams) (oupwire.SessionOpenResult, error) {
	lanes := s.book.Of(call.Connection)
	held, err := lanes.Hold(ctx, p.SessionID)
	if err != nil {
		return oupwire.SessionOpenResult{}, err
	}
	call.After(held)
	var after *ledger.Cursor
	if c, has := p.After.Get(); has {
		after = &ledger.Cursor{Stream: c.Stream, Seq: c.Seq}
	}
	reader, err := s.ledger.Follow(ctx, p.SessionID, after)
	if err != nil {
		return oupwire.SessionOpenResult{}, err
	}
	opened := oupwire.SessionOpened{SessionID: p.SessionID, Capabilities: call.Capabilities()}
	stored, err := s.ledger.Append(ctx, event.Opened(opened))
	if err != nil {
		return oupwire.SessionOpenResult{}, err
	}
	opened.Cursor = wirejson.Some(oupwire.Cursor{Stream: p.SessionID, Seq: stored[0].Seq})
	call.After(lanes.Prepare(lane.Options{
		Connection: call.Connection, Ledger: s.ledger, Session: p.SessionID, Reader: reader, Opened: stored[0].Seq,
		Replays: after != nil, Events: lane.V2, Log: func(error) {},
	}))
	return oupwire.SessionOpenResult{Opened: lane.Opened(opened, call.Set())}, nil
}

// client is the other end of a connection in memory.
type client struct {
	*transport.Memory
	ended chan struct{}
}

func (s *server) connect() (*client, error) {
	var features []string
	for _, f := range oupwire.Features {
		features = append(features, f.Name)
	}
	d, err := rpc.New(rpc.Options{
		Features: features, Patience: time.Hour, Log: func(error) {},
		Handlers: map[string]rpc.Handler{oupwire.MethodSessionOpen: rpc.Handle(oupwire.DecodeSessionOpenParams, s.open)},
	})
	if err != nil {
		return nil, err
	}
	near, far := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio})
	c := &client{far, make(chan struct{})}
	go func() {
		defer close(c.ended)
		var connection *rpc.Connection
		_ = d.Serve(context.Background(), near, func(opened *rpc.Connection) {
			connection = opened
			s.book.Open(opened)
		})
		s.book.Close(connection)
	}()
	return c, nil
}

func (c *client) close() error {
	err := c.Close(transport.Ended)
	<-c.ended
	return err
}

// open asks for the session from an event on.
func (c *client) open(after int64) error {
	params := oupwire.SessionOpenParams{SessionID: session, After: wirejson.Some(oupwire.Cursor{Stream: session, Seq: after})}
	frame := fmt.Appendf(nil, `{"id":"open","jsonrpc":"2.0","method":%q,"params":%s}`, oupwire.MethodSessionOpen, params.AppendJSON(nil))
	return c.Send(frame)
}

// readOpened reads until the event of the open has come, and returns how many notifications came in front.
func (c *client) readOpened() (told int, err error) {
	opened := []byte(`"method":"` + oupwire.MethodSessionOpen + `"`)
	any := []byte(`"method":`)
	for {
		text, err := c.Read()
		if err != nil {
			return told, err
		}
		if bytes.Contains(text, opened) {
			return told, nil
		}
		if bytes.Contains(text, any) {
			told++
		}
	}
}
