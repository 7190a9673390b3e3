package envelope

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/frame"
)

// show writes an envelope in one line.
func show(e *Envelope) string {
	s := e.Kind.String()
	if e.Reason != 0 {
		s += " (" + e.Reason.String() + ")"
	}
	for _, p := range []struct {
		name string
		b    []byte
	}{{"id", e.ID}, {"method", e.Method}, {"params", e.Params}, {"result", e.Result}, {"message", e.Message}, {"data", e.Data}} {
		if p.b != nil {
			s += fmt.Sprintf(" %s=%s", p.name, p.b)
		}
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" code=%d", e.Code)
	}
	if e.Asks {
		s += " asks"
	}
	return s
}

func TestRead_locatesTheParts(t *testing.T) {
	for _, c := range []struct {
		wire frame.Wire
		text string
		want string
	}{
		{
			frame.Canonical, `{"id":"q\n1","jsonrpc":"2.0","method":"tool/call","params":{"a":[1]}}`,
			`request id="q\n1" method=tool/call params={"a":[1]} asks`,
		},
		{frame.Canonical, `{"jsonrpc":"2.0","method":"x\t\u0001\\","params":7}`, "notification method=x\t\x01\\ params=7 asks"},
		{frame.Canonical, `{"id":7,"jsonrpc":"2.0","result":[]}`, `result id=7 result=[]`},
		{
			frame.Canonical, `{"error":{"code":-32603,"data":null,"message":"internal error"},"id":7,"jsonrpc":"2.0"}`,
			`error id=7 message="internal error" data=null code=-32603`,
		},
		{
			frame.Canonical, `{"id":7,"jsonrpc":"2.0","method":"shutdown","params":{},"result":1}`,
			`invalid (method stands beside result or error) id=7 asks`,
		},
		{frame.Canonical, `{"id":7,"jsonrpc":"2.0","result":null}`, `invalid (a result must not be null) id=7 result=null`},
		{frame.Canonical, `{"id":7,"jsonrpc":"2.0"}`, `invalid (neither method nor result nor error is present) id=7 asks`},
		{
			frame.Canonical, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"id":7,"jsonrpc":"2.0"}`,
			`invalid (a member beside those of the message) asks`,
		},
		{
			frame.Feature, ` { "id" : 18446744073709551615 , "jsonrpc" : "2\u002e0", "method" : "a\u0062\/", "params" : { "x" : 1.5 } } `,
			`request id=18446744073709551615 method=ab/ params={ "x" : 1.5 } asks`,
		},
		{frame.Feature, `{"jsonrpc":"2.0","id":"c\u002d1","result":null}`, `result id="c-1" result=null`},
		{
			frame.Feature, `{"jsonrpc":"2.0","id":null,"error":{"message":"Parse error","code":-32700}}`,
			`error message="Parse error" code=-32700`,
		},
		{
			frame.Feature, `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"},"result":{}}`,
			`invalid (result and error exclude each other) id=3`,
		},
		{frame.Feature, `{"jsonrpc":"2.0","id":18446744073709551616,"method":"x"}`, `invalid (an id is a bounded string or an integer from 0) method=x asks`},
		{frame.Feature, `{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}`, `invalid (a member of the envelope stands twice) id=1 method=x asks`},
		{frame.Feature, `{"jsonrpc":"2.0","id":"\ud800","method":"x"}`, `invalid (an id is a bounded string or an integer from 0) method=x asks`},
		{frame.Feature, `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, `invalid (a method is a string that is not empty) id=1 asks`},
		{frame.Feature, `{"jsonrpc":"2.0","\u0069d":1,"\ud800":1,"method":"x","a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":[[]]}`, `request id=1 method=x asks`},
		{frame.Feature, `{"jsonrpc":"2.0","id":1,"error":{"\u0063ode":5,"message":"\u006e\u006f"}}`, `error id=1 message="\u006e\u006f" code=5`},
	} {
		var e Envelope
		if err := Read(c.wire, []byte(c.text), &e); err != nil {
			t.Errorf("Read(%s) = %v", c.text, err)
		}
		if got := show(&e); got != c.want {
			t.Errorf("Read(%s)\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestReason_namesTheRuleOfItsWriter(t *testing.T) {
	for _, c := range []struct {
		wire   frame.Wire
		side   frame.Side
		reason Reason
		rule   string
	}{
		{frame.Canonical, frame.Extension, UnlistedMember, "EXT03-ENV-002"},
		{frame.Canonical, frame.Extension, BadMessage, "EXT03-ERR-002"},
		{frame.Canonical, frame.Extension, WrongKind, "EXT03-ORDER-004"},
		{frame.Canonical, frame.Host, WrongKind, "EXT03-ENV-023"},
		{frame.Canonical, frame.Host, BadVersion, "EXT03-FRAME-009"},
		{frame.Feature, frame.Extension, ResultAndError, "EXT04-ENV-002"},
		{frame.Feature, frame.Extension, BadError, "EXT04-ENV-008"},
		{frame.Feature, frame.Extension, NullResult, ""},
		{frame.Feature, frame.Host, BadVersion, "EXT04-FRAME-011"},
	} {
		if got := c.reason.Rule(c.wire, c.side); got != c.rule {
			t.Errorf("%q by the %s on the %s wire breaks %q, want %q", c.reason, c.side, c.wire, got, c.rule)
		}
	}
}

// An id is bounded by what it stands for, not by its spelling: EXT04-ENV-021.
func TestRead_boundsIDsByDecodedBytes(t *testing.T) {
	for _, c := range []struct {
		id    string
		legal bool
	}{
		{strings.Repeat(`\n`, 256), true},
		{strings.Repeat(`\n`, 257), false},
		{strings.Repeat(`\u0019`, 256), true},
		{strings.Repeat(`\u0019`, 257), false},
		{strings.Repeat("x", 252) + `\\\"\u001f\t`, true},
		{strings.Repeat("x", 253) + `\\\"\u001f\t`, false},
	} {
		for _, wire := range []frame.Wire{frame.Canonical, frame.Feature} {
			var e Envelope
			text := `{"id":"` + c.id + `","jsonrpc":"2.0","method":"m","params":{}}`
			if err := Read(wire, []byte(text), &e); err != nil || (e.Kind == Request) != c.legal {
				t.Errorf("%v wire: id %.40q is %v (%v), %v, want legal %v", wire, c.id, e.Kind, e.Reason, err, c.legal)
			}
		}
	}
}

func TestRead_boundsDepthOfTheFeatureWire(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"jsonrpc":"2.0","method":"m","params":{"a":` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `}}`)
	}
	var e Envelope
	// The innermost array has two objects and its outer arrays around it.
	if err := Read(frame.Feature, nested(maxDepth-1), &e); err != nil {
		t.Errorf("a value at level %d: %v", maxDepth, err)
	}
	for _, n := range []int{maxDepth, maxDepth + 100} {
		if err := Read(frame.Feature, nested(n), &e); err == nil {
			t.Errorf("a value at level %d is read", n+1)
		}
	}
}

func TestRead_cutOffTexts(t *testing.T) {
	const text = `{"jsonrpc":"2.0","id":"\u00e9\n","method":"m","params":{"a":[-1.5e+3,true,null,{}]}}`
	var e Envelope
	for n := range len(text) {
		if err := Read(frame.Feature, []byte(text[:n]), &e); err == nil {
			t.Errorf("%q is read", text[:n])
		}
	}
	if err := Read(frame.Feature, []byte(text), &e); err != nil || string(e.ID) != `"é\n"` {
		t.Errorf("the whole text: %s, %v", e.ID, err)
	}
}

func TestRead_tellsMalformedFromInvalid(t *testing.T) {
	var e Envelope
	var c *canonical.Error
	if err := Read(frame.Canonical, []byte(`{"jsonrpc": "2.0"}`), &e); !errors.As(err, &c) || c.Class != canonical.Whitespace {
		t.Errorf("got %v, want a canonical error", err)
	}
	var s *SyntaxError
	if err := Read(frame.Feature, []byte(`{"jsonrpc":"2.0",}`), &e); !errors.As(err, &s) || s.Offset != 17 {
		t.Errorf("got %v, want a syntax error at byte 17", err)
	}
}

func TestRead_allocatesNothing(t *testing.T) {
	for wire, text := range map[frame.Wire]string{
		frame.Canonical: `{"id":12,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"a":"b"},"context":{},"name":"t"}}`,
		frame.Feature:   `{"jsonrpc":"2.0","id":12,"method":"tool/call","params":{"name":"t","arguments":{"a":1.5},"context":{}}}`,
	} {
		b := []byte(text)
		var e Envelope
		if n := testing.AllocsPerRun(100, func() {
			if Read(wire, b, &e) != nil || e.Kind != Request {
				t.Fatal("a request")
			}
		}); n != 0 {
			t.Errorf("reading a request of the %v wire allocates %v times, want 0", wire, n)
		}
	}
}

func TestID_keepsTypeAndText(t *testing.T) {
	for _, c := range []struct {
		id   ID
		text string
		wire wirejson.ID
	}{
		{IntID(7), "7", wirejson.IntID(7)},
		{StringID("7"), `"7"`, wirejson.StringID("7")},
		{StringID("a\n"), `"a\n"`, wirejson.StringID("a\n")},
		{IntID(1<<64 - 1), "18446744073709551615", wirejson.ID{}},
		{ID{}, "null", wirejson.ID{}},
	} {
		if got := string(c.id.AppendJSON(nil)); got != c.text {
			t.Errorf("%v encodes as %s, want %s", c.id, got, c.text)
		}
		if got := c.id.Wire(); got != c.wire {
			t.Errorf("%v becomes %v, want %v", c.id, got, c.wire)
		}
		if !c.wire.IsZero() && FromWire(c.wire) != c.id {
			t.Errorf("%v comes back as %v", c.id, FromWire(c.wire))
		}
	}
	if IntID(1) == StringID("1") || !FromWire(wirejson.ID{}).IsZero() || (ID{}).String() != "none" {
		t.Error("string and integer ids must differ, and the zero id is none")
	}
}

func TestUnquote_decodes(t *testing.T) {
	for text, want := range map[string]string{
		`"plain"`: "plain", `"\b\t\n\f\r\"\\\/\u0041\u001f\u0019"`: "\b\t\n\f\r\"\\/A\x1f\x19", `"\ud83d\udc27"`: "🐧", `"\ud83d"`: `"\ud83d"`,
	} {
		if got := Unquote([]byte(text)); got != want {
			t.Errorf("Unquote(%s) = %q, want %q", text, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1.5e-3,{}]}}`), false)
	f.Add([]byte(`{"error":{"code":-32603,"message":"internal error"},"id":1,"jsonrpc":"2.0"}`), true)
	f.Add([]byte(`{"jsonrpc":"2.0","id":"\u0031","error":{"code":1,"message":"\ud800"}}`), false)
	f.Fuzz(func(t *testing.T, payload []byte, closed bool) {
		wire := frame.Feature
		if closed {
			wire = frame.Canonical
		}
		var e Envelope
		if err := Read(wire, payload, &e); err != nil {
			if e.Kind != Invalid || e.ID != nil {
				t.Fatalf("malformed, yet read as %s", show(&e))
			}
			return
		}
		// What the strict reader refuses as JSON of this wire must not be read here. It knows no
		// repeated keys and no half pairs, which the feature wire does not rule out.
		if _, err := wirejson.Parse(payload, maxDepth); err != nil && closed {
			t.Fatalf("%q read as %s, but it is no strict JSON: %v", payload, show(&e), err)
		}
		if e.Kind == Request && (e.ID == nil || e.Method == nil) || e.Kind == Result && (e.ID == nil || e.Result == nil) {
			t.Fatalf("%q read as %s without its parts", payload, show(&e))
		}
		if e.ID != nil && canonical.Check(e.ID) != nil && len(e.ID) < 17 {
			t.Fatalf("%q has id %s, which is not canonical", payload, e.ID)
		}
		if e.Message != nil {
			Unquote(e.Message)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for wire, text := range map[frame.Wire]string{
		frame.Canonical: `{"id":12,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"text":"a hundred bytes of argument text, more or less, so that the frame is of usual size"},"context":{},"name":"word_count"}}`,
		frame.Feature:   `{"jsonrpc":"2.0","id":12,"method":"tool/call","params":{"name":"word_count","arguments":{"text":"a hundred bytes of argument text, more or less, so that the frame is of usual size"},"context":{}}}`,
	} {
		b.Run(wire.String(), func(b *testing.B) {
			payload := []byte(text)
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			var e Envelope
			for b.Loop() {
				if Read(wire, payload, &e) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
