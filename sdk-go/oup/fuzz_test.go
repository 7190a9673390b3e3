package oup

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// FuzzClient lets a server answer and tell whatever it likes, a line of the input at a time, to a client with an open
// session, a running turn and a request that waits. Every call comes to its end, and so does the client.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "\xff", `{"jsonrpc":"2.0","id":"1","result":null}`, `{"jsonrpc":"2.0","id":"nobody","error":{"code":-32160,"message":"no","data":{"kind":"x"}}}`,
		`{"jsonrpc":"2.0","method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"approval/request","params":{}}`, `{"jsonrpc":"2.0","method":"session/open","params":{"session_id":"local:lab"}}`,
		envelopeLine(6, 2, "assistant_delta", `{"text":"a"}`) + "\n" + envelopeLine(7, 3, "turn_completed", `{}`), envelopeLine(9, 9, "nothing", `null`),
		`{"jsonrpc":"2.0","method":"protocol/replay_lossy","params":{"session_id":"local:lab","dropped_count":3,"last_durable_cursor":{"stream":"local:lab","seq":1}}}`,
		`{"jsonrpc":"2.0","method":"warning","params":{"session_id":"local:lab","message":"m"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		synctest.Test(t, func(t *testing.T) {
			s, p := play(t, Options{})
			session := s.open(p, 5, OpenOptions{})
			running := s.start(p, session)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			result := asking(func() error { _, err := running.Result(ctx); return err })
			called := asking(func() error {
				_, err := s.client.Call(ctx, oupwire.MethodConfigCapabilitiesList, struct{}{})
				return err
			})
			events := asking(func() error {
				for _, err := range session.Events(ctx) {
					if err != nil {
						return err
					}
				}
				return nil
			})
			go func() { // what the client asks in the meantime is not answered
				for {
					select {
					case <-p.up:
					case <-p.closed:
						return
					}
				}
			}()
			for line := range bytes.SplitSeq(text, []byte("\n")) {
				p.send(string(line))
			}
			synctest.Wait()
			if err := s.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
				t.Log(err)
			}
			<-result
			<-called
			<-events
		})
	})
}

func envelopeLine(seq, number int64, kind, data string) string {
	return `{"jsonrpc":"2.0","method":"` + oupwire.MethodProjectionEnvelope + `","params":` + envelope(seq, number, kind, data) + `}`
}
