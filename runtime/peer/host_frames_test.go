package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/frame"
)

// featureVersions are those of the feature wire.
var featureVersions = []string{"0.1", "0.2", "0.4"}

func TestHostReads_whatOnlyAFeatureWireWriterShouldNot(t *testing.T) {
	for _, version := range featureVersions {
		t.Run("EXT04-FRAME-015 "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			for id, slack := range []string{
				"\n\r\n \t\r\n{\"id\":@,\"jsonrpc\":\"2.0\",\"result\":7}\n\n", // blank lines
				"{\"id\":@,\"jsonrpc\":\"2.0\",\"result\":7}\r\n",              // CR before LF
				"\t{ \"jsonrpc\" :\t\"2.0\" , \"result\" : 7 ,\r\"id\" : @ } \r\n",
			} {
				k := r.call(t.Context(), toolCall)
				number := string(rune('1' + id))
				r.want(`{"id":` + number + `,"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}`)
				r.sendRaw(strings.Replace(slack, "@", number, 1))
				k.gives("7")
			}
			r.quiet()
		}))
	}
}

// What is broken as a line and as JSON is reported as a broken line, and ends the stream unanswered.
func TestHostReads_theLineIsJudgedFirst(t *testing.T) {
	for _, c := range []struct {
		binds, version, text string
		broken               string // the rule of the writer that is reported
	}{
		{"EXT04-FRAME-016", "0.1", "nonsense", "EXT04-FRAME-002"},
		{"EXT04-FRAME-016", "0.2", "{\"a\":\"\xff", "EXT04-FRAME-002"},
		{"EXT04-FRAME-016", "0.4", `{"id":1,`, "EXT04-FRAME-002"},
		{"EXT04-FRAME-016", "0.4", strings.Repeat("nonsense", 13) + "\n", "EXT04-FRAME-004"},
		{"EXT04-FRAME-016", "0.4", strings.Repeat("nonsense", 13), "EXT04-FRAME-004"},
		{"EXT03-FRAME-018", "0.3", "{\"a\": 1}\r\n", "EXT03-FRAME-002"},
		{"EXT03-FRAME-018", "0.3", "nonsense\r\n", "EXT03-FRAME-002"},
		{"EXT03-FRAME-018", "0.3", `{"a": 1}`, "EXT03-FRAME-001"},
		{"EXT03-FRAME-018", "0.3", "\xff", "EXT03-FRAME-001"},
		{"EXT03-FRAME-018", "0.3", strings.Repeat("nonsense", 13) + "\n", "EXT03-FRAME-005"},
		{"EXT03-FRAME-018", "0.3", strings.Repeat("nonsense", 13) + "\r\n", "EXT03-FRAME-005"},
	} {
		t.Run(c.binds+" "+c.version+" "+c.broken, in(func(t *testing.T) {
			r := newRig(t, frame.Host, c.version, Options{})
			r.conn.Install(Session{MaxFrameBytes: 100})
			r.sendRaw(c.text)
			r.bytes.close()
			r.endedBy(c.broken, Remote)
		}))
	}
}

// The selected bound takes the place of the offered one in both directions at once, also for bytes
// that have arrived together with the answer to initialize.
func TestHostFrames_selectedBoundHoldsFromTheAnswerOn(t *testing.T) {
	const (
		bound  = 80
		full   = `{"id":"c-1","jsonrpc":"2.0","method":"theme/select","params":{"at":"the bound"}}`
		over   = `{"id":"c-2","jsonrpc":"2.0","method":"theme/select","params":{"at":"the bound+"}}`
		called = `{"id":3,"jsonrpc":"2.0","method":"tool/call","params":{"a":"123456789 1234567"}}`
		long   = `{"longer":"than the bound that is selected here, which only the offered one allows for"}`
	)
	if len(full) != bound || len(over) != bound+1 || len(called) != bound {
		t.Fatalf("frames of %d, %d and %d bytes", len(full), len(over), len(called))
	}
	t.Run("EXT03-FRAME-017", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: echo})
		k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(long), Install: func([]byte) error {
			r.conn.Install(Session{Open: []string{"tool/call", "theme/select"}, MaxFrameBytes: bound})
			return nil
		}})
		r.want(`{"id":1,"jsonrpc":"2.0","method":"initialize","params":` + long + `}`)
		r.sendRaw(`{"id":1,"jsonrpc":"2.0","result":` + long + "}\n" + full + "\n")
		k.gives(long)
		r.want(`{"id":"c-1","jsonrpc":"2.0","result":{"at":"the bound"}}`)
		var fault *frame.Error
		k = r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`{"a":"123456789 12345678"}`)})
		if <-k.done; !errors.As(k.err, &fault) || fault.Bound != bound || fault.From != frame.Host {
			t.Errorf("a call one byte over the selected bound: %v", k.err)
		}
		k = r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`{"a":"123456789 1234567"}`)})
		r.want(called)
		r.send(over)
		r.endedBy("EXT03-FRAME-005", Remote)
		<-k.done
	}))
	t.Run("EXT03-FRAME-017 bytes that have arrived", in(func(t *testing.T) {
		r := newOpeningRig(t, frame.Host, "0.3", Options{Handle: echo})
		k := r.call(t.Context(), Call{Method: "initialize", Params: Raw(`{}`), Install: func([]byte) error {
			r.conn.Install(Session{Open: []string{"theme/select"}, MaxFrameBytes: bound})
			return nil
		}})
		r.want(initCall)
		r.sendRaw(initAnswer + "\n" + over + "\n")
		k.gives(`{"ok":1}`)
		r.endedBy("EXT03-FRAME-005", Remote)
	}))
}

// Whoever writes at the same time, every frame is one object and one LF, in one piece.
func TestHostWrites_wholeFrames(t *testing.T) {
	for version, rule := range map[string]string{"0.1": "EXT04-FRAME-011", "0.2": "EXT04-FRAME-011", "0.3": "EXT03-FRAME-009", "0.4": "EXT04-FRAME-011"} {
		t.Run(rule+" "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			var writers sync.WaitGroup
			texts := map[string]bool{}
			for n := range 60 {
				text := `"` + strings.Repeat(string(rune('a'+n%26)), 1+n*n*4) + `"`
				texts[text] = true
				writers.Go(func() { _, _ = r.conn.Call(t.Context(), "tool/call", Raw(text)) })
			}
			synctest.Wait() // the pipe is full, and the rest of them waits
			raw, ids := bufio.NewReader(r.out), map[string]bool{}
			for range 60 {
				line, err := raw.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				id, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"id":`), `,"jsonrpc":"2.0","method":"tool/call","params":`)
				text := strings.TrimSuffix(rest, "}\n")
				if !texts[text] || ids[id] {
					t.Fatalf("the line %.100s is no frame of a call", line)
				}
				delete(texts, text)
				ids[id] = true
			}
			if synctest.Wait(); raw.Buffered() > 0 {
				t.Error("more was written than was called")
			}
			r.conn.Close()
			writers.Wait()
		}))
	}
}

// The bound is that of the payload: the frame that fills it goes out, one byte more does not.
func TestHostWrites_noFrameOverTheBound(t *testing.T) {
	const around = len(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":""}`)
	for version, rule := range map[string]string{"0.1": "EXT04-FRAME-012", "0.2": "EXT04-FRAME-012", "0.3": "EXT03-LIMIT-006", "0.4": "EXT04-FRAME-012"} {
		t.Run(rule+" "+version, in(func(t *testing.T) {
			r := newRig(t, frame.Host, version, Options{})
			text := strings.Repeat("x", 1048576-around)
			over := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`"` + text + `x"`)})
			var fault *frame.Error
			if <-over.done; !errors.As(over.err, &fault) || fault.Fault != frame.TooLong || fault.Rule() != rule {
				t.Errorf("a frame of 1048577 bytes: %v", over.err)
			}
			full := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(`"` + text + `"`)})
			r.want(`{"id":2,"jsonrpc":"2.0","method":"tool/call","params":"` + text + `"}`) // and nothing in front of it
			r.send(`{"id":2,"jsonrpc":"2.0","result":{}}`)
			full.gives(`{}`)
			r.quiet()
		}))
	}
}

// Every kind of frame that a host writes is in canonical spelling, whatever its parts were given in.
func TestHostWrites_canonicalSpelling(t *testing.T) {
	t.Run("EXT03-CANON-013", in(func(t *testing.T) {
		r := newRig(t, frame.Host, "0.3", Options{Handle: func(context.Context, *Request) (Value, error) {
			return nil, &Error{Code: -32602, Message: "another text", Data: []byte(`{"a":"/"}`)}
		}})
		ctx, stop := context.WithCancelCause(t.Context())
		k := r.call(ctx, Call{Method: "tool/call", Params: canonicalwire.ToolCallParams{
			Name:      "t\u001f/\u007f\"",
			Arguments: []byte(" { \"b\" : \"\\u0041\\/\\u000a\\ud83d\\udc27\" ,\r\n\t\"a\" : [ 1 , { \"z\" : -7 , \"y\" : null } ] } "),
			Context:   []byte(`{"\u0061":{"B":0, "A":0}}`),
		}})
		r.want(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"a":[1,{"y":null,"z":-7}],"b":"A/\n🐧"},` +
			`"context":{"a":{"A":0,"B":0}},"name":"t\u001f/` + "\u007f" + `\""}}`)
		stop(Reason("a \"quoted\" \u0001reason/"))
		r.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1,"reason":"a \"quoted\" \u0001reason/"}}`)
		r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
		k.gives(`{}`)
		r.send(`{"id":"q\n1","jsonrpc":"2.0","method":"no\n/such","params":{}}`)
		r.want(`{"error":{"code":-32601,"data":{"method":"no\n/such"},"message":"unknown or unnegotiated method"},"id":"q\n1","jsonrpc":"2.0"}`)
		r.send(`{"id":3,"jsonrpc":"2.0","method":"theme/select","params":{}}`)
		r.want(`{"error":{"code":-32602,"data":{"a":"/"},"message":"invalid params"},"id":3,"jsonrpc":"2.0"}`)
		for _, text := range []string{`{"b":1,"a":2}`, `{"a": 1}`, `{"a":"\/"}`, `{"a":1,"a":1}`, `{"a":"\u0041"}`} {
			k := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(text)})
			var c *canonical.Error
			if <-k.done; !errors.As(k.err, &c) {
				t.Errorf("%s as params: %v, want it refused", text, k.err)
			}
		}
		r.quiet() // nothing of those was sent
	}))
}

func TestHostWrites_nothingWithoutACanonicalSpelling(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + "0" + strings.Repeat("]", n) }
	for _, c := range []struct {
		params string
		class  canonical.Class // 0: it is sent
	}{
		{`{"a":1.5}`, canonical.Number},
		{`{"a":1e3}`, canonical.Number},
		{`{"a":9007199254740992}`, canonical.Number},
		{`{"a":-9007199254740992}`, canonical.Number},
		{`{"a":9007199254740991}`, 0},
		{`{"a":"\ud800"}`, canonical.Surrogate},
		{`{"a":"\udc27\ud83d"}`, canonical.Surrogate},
		{"{\"a\":\"\xed\xa0\x80\"}", canonical.UTF8},
		{deep(31), 0}, // the envelope is the first of the 32 levels
		{deep(32), canonical.Depth},
	} {
		t.Run(fmt.Sprintf("EXT03-CANON-014 %.40q", c.params), in(func(t *testing.T) {
			r := newRig(t, frame.Host, "0.3", Options{})
			k := r.call(t.Context(), Call{Method: "tool/call", Params: Raw(c.params)})
			if c.class == 0 {
				r.want(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":` + c.params + `}`)
				r.send(`{"id":1,"jsonrpc":"2.0","result":{}}`)
				k.gives(`{}`)
			} else {
				var fault *canonical.Error
				if <-k.done; !errors.As(k.err, &fault) || fault.Class != c.class {
					t.Errorf("the call gives %v, want a fault of class %v", k.err, c.class)
				}
			}
			r.quiet()
		}))
	}
}
