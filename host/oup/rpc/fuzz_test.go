package rpc_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// output keeps what a server writes.
type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }

// FuzzServe feeds a server bytes as its standard input: whatever they are, it ends without an error, every line it
// writes is one answer, and there are no more of them than lines.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		titleSet("a", "t") + "\n" + titleSet("b", "u"), "\n\r\n \n", "{", "[]\n{}\n", "\xff\n", `{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":{"features":[" ","plan.todos.v1"]}}` + "\n" + titleSet("a", "t"),
		`{"jsonrpc":"2.0","id":"c","method":"config/capabilities/list","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"1.0"}` + "\n" + `{"jsonrpc":"2.0","id":"\ud800","method":"m","params":{}}`,
	} {
		f.Add([]byte(seed))
	}
	d, err := rpc.New(options(handler(echo)))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > 1<<16 {
			return
		}
		out := &output{}
		if err := d.Serve(t.Context(), transport.NewStdio(io.NopCloser(bytes.NewReader(input)), out), nil); err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(out.Bytes(), []byte("\n"))
		if last := len(lines) - 1; len(lines[last]) != 0 {
			t.Fatalf("the last line has no end: %q", lines[last])
		} else if asked := bytes.Count(input, []byte("\n")) + 1; last > asked {
			t.Fatalf("%d answers to %d lines", last, asked)
		}
		for _, line := range lines[:len(lines)-1] {
			_, success := oupwire.DecodeJsonRpcSuccessResponse(line)
			if _, failure := oupwire.DecodeJsonRpcErrorResponse(line); success != nil && failure != nil {
				t.Fatalf("%q is no answer: %v, %v", line, success, failure)
			}
		}
	})
}
