package bus

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// in runs a test in a bubble with a bus that is closed at its end.
func in(t *testing.T, f func(t *testing.T, b *Bus)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := New()
		defer b.Close()
		f(t, b)
	})
}

// EXT03-BUS-015, EXT03-BUS-016, EXT03-BUS-013: the binding is issued by the host and grows with each reset.
func TestAttach_tellsTheBindingFirst(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		if b.bindingRevision != 1 || len(b.binding) < 16 {
			t.Errorf("first binding %q of revision %d, want an opaque id and 1", b.binding, b.bindingRevision)
		}
		first := b.binding
		b.Reset()
		if b.binding == first {
			t.Error("the second incarnation has the binding of the first")
		}
		one.wantFrames(fmt.Sprintf(`{"binding_id":"%s","binding_revision":2,"kind":"binding"}`, b.binding))
	})
}

// EXT03-BUS-014, EXT03-BUS-018, EXT03-BUS-019, EXT03-BUS-020
func TestAttach_refuses(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		for _, name := range []string{"", "Big", "-first", "_first", "dot.ted", "späť", strings.Repeat("a", 65)} {
			if err := b.Attach(newFake(t, b, name)); !errors.Is(err, errIdentifier) {
				t.Errorf("name %q: got %v, want a refusal of the name", name, err)
			}
		}
		for _, name := range []string{"a", "0", "a-_0", strings.Repeat("a", 64)} {
			join(t, b, name)
		}
		deaf := newFake(t, b, "deaf")
		deaf.selected = []string{canonicalwire.MethodBusEvent}
		if err := b.Attach(deaf); !errors.Is(err, ErrNoLifecycle) {
			t.Errorf("without lifecycle: got %v", err)
		}
		for n := 4; n < canonicalwire.MaxBusPeers; n++ {
			join(t, b, fmt.Sprint("p", n))
		}
		last := newFake(t, b, "last")
		if err := b.Attach(last); !errors.Is(err, ErrFull) {
			t.Errorf("process %d: got %v, want ErrFull", canonicalwire.MaxBusPeers+1, err)
		}
		last.refused(subscribe, last.with(`"topic":"bus.a.b"`), foreign)
	})
}

// EXT03-BUS-022, EXT03-BUS-023, EXT03-BUS-024, EXT03-BUS-025, EXT03-BUS-040
func TestServe_judgesProcessAndBindingFirst(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		stranger := newFake(t, b, "stranger")
		for _, method := range []string{declare, subscribe, leave, publish} {
			stranger.refused(method, `{}`, foreign)
			for _, params := range []string{
				``, `null`, `[]`, `{}`, `{"topic":1}`, `{"binding_id":7}`, `{"binding_id":null}`, `{"binding_id":""}`,
				`{"binding_id":` + text(strings.Repeat("b", 257)) + `}`,
			} {
				one.refused(method, params, invalid)
			}
			one.refused(method, `{"binding_id":`+text(strings.Repeat("b", 256))+`,"topic":5}`, foreign)
			one.refused(method, `{"binding_id":"old","stray":1}`, foreign)
			one.mayNot(method, `"stray":1`, invalid)
		}
		old := one.with(`"topic":"bus.one.a"`)
		b.Reset()
		one.refused(subscribe, old, foreign)
		one.takeFrames()
		one.may(subscribe, `"topic":"bus.one.a"`, "*")
		one.closed = true
		one.refused(subscribe, `{}`, foreign)
		one.closed = false
		b.Detach(one)
		b.Detach(one)
		one.refused(subscribe, one.with(`"topic":"bus.one.a"`), foreign)
		one.wantFrames()
		one.wantRetired("")
	})
}

// EXT03-BUS-021, EXT03-BUS-026
func TestServe_topics(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		for _, topic := range []string{"", "bus", "bus.one", "bus.one.", "bus..a", "bus.one.a.b", "bus.one.*", "Bus.one.a", "bux.one.a", "bus.one.A", " bus.one.a"} {
			for _, method := range []string{subscribe, leave} {
				one.mayNot(method, `"topic":`+text(topic), invalid)
			}
			one.mayNot(declare, `"fields":[],"topic":`+text(topic), invalid)
			one.mayNot(publish, `"payload":{},"topic":`+text(topic), invalid)
		}
		// The longest identifiers that fit one topic.
		longest := "bus.one." + strings.Repeat("a", 64)
		one.may(declare, `"fields":[],"topic":`+text(longest), `{"binding_id":"BINDING"}`)
		owner, name := strings.Repeat("o", 64), strings.Repeat("n", 27)
		one.may(subscribe, `"topic":`+text("bus."+owner+"."+name), "*") // 96 bytes
		one.mayNot(subscribe, `"topic":`+text("bus."+owner+"."+name+"n"), tooMuch)
		one.mayNot(subscribe, `"topic":`+text("bus.one."+strings.Repeat("a", 65)), invalid)
	})
}

// EXT03-BUS-027
func TestDeclare_ownershipThenExistenceThenNumber(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := join(t, b, "one"), join(t, b, "two")
		one.mayNot(declare, `"topic":"bus.two.a","fields":[]`, foreign)
		for n := range canonicalwire.MaxBusTopics {
			one.may(declare, fmt.Sprintf(`"topic":"bus.one.t%d","fields":[]`, n), `{"binding_id":"BINDING"}`)
		}
		one.mayNot(declare, `"topic":"bus.one.t0","fields":[]`, invalid)
		one.mayNot(declare, `"topic":"bus.one.more","fields":[]`, tooMuch)
		two.mayNot(declare, `"topic":"bus.two.a","fields":[{"name":"secret","kind":"boolean","required":true,"max_bytes":1,"values":[]}]`, invalid)
		two.mayNot(declare, `"topic":"bus.two.a","fields":[]`, tooMuch)
	})
}

// EXT03-BUS-032, EXT03-BUS-034, EXT03-BUS-035, EXT03-BUS-036
func TestSubscribe_pendingAndActive(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := join(t, b, "one"), join(t, b, "two")
		two.may(subscribe, `"topic":"bus.one.a"`, `{"binding_id":"BINDING","state":"pending","topic_revision":0}`)
		one.may(subscribe, `"topic":"bus.one.a"`, `{"binding_id":"BINDING","state":"pending","topic_revision":0}`)
		one.may(declare, `"topic":"bus.one.a","fields":[]`, `{"binding_id":"BINDING"}`)
		available := `{"binding_id":"` + b.binding + `","kind":"topic_available","process_generation":1,"publisher_instance_id":"instance-one","topic":"bus.one.a","topic_revision":1}`
		one.wantFrames(available)
		two.wantFrames(available)
		one.may(declare, `"topic":"bus.one.b","fields":[]`, "*")
		two.wantFrames()
		for range 2 {
			two.may(subscribe, `"topic":"bus.one.a"`, `{"binding_id":"BINDING","process_generation":1,"publisher_instance_id":"instance-one","state":"active","topic_revision":1}`)
		}
		two.may(subscribe, `"topic":"bus.one.c"`, `{"binding_id":"BINDING","state":"pending","topic_revision":2}`)
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		if got := two.takeFrames(); len(got) != 1 {
			t.Errorf("twice subscribed, sent %q, want one event", got)
		}
	})
}

// EXT03-BUS-033
func TestSubscribe_needsEventsAndHasABound(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		deaf := newFake(t, b, "deaf")
		deaf.selected = []string{canonicalwire.MethodBusLifecycle}
		deaf.attach()
		deaf.mayNot(subscribe, `"topic":"bus"`, invalid)
		deaf.mayNot(subscribe, `"topic":"bus.one.a"`, foreign)
		two := join(t, b, "two")
		for n := range canonicalwire.MaxBusSubscriptions {
			two.may(subscribe, fmt.Sprintf(`"topic":"bus.one.t%d"`, n), "*")
		}
		two.mayNot(subscribe, `"topic":"bus.one.more"`, tooMuch)
		two.may(subscribe, `"topic":"bus.one.t3"`, "*")
		two.may(leave, `"topic":"bus.one.t3"`, "*")
		two.may(subscribe, `"topic":"bus.one.more"`, "*")
	})
}

// EXT03-BUS-037
func TestUnsubscribe_voidsWhatIsQueued(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := join(t, b, "one"), join(t, b, "two")
		one.may(declare, `"topic":"bus.one.a","fields":[]`, "*")
		two.may(leave, `"topic":"bus.never.seen"`, `{"binding_id":"BINDING"}`)
		two.may(subscribe, `"topic":"bus.one.a"`, "*")
		two.stall()
		for range 3 {
			one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		}
		synctest.Wait() // the first is being written
		two.may(leave, `"topic":"bus.one.a"`, `{"binding_id":"BINDING"}`)
		close(two.block)
		if got := two.takeFrames(); len(got) != 1 {
			t.Errorf("sent %q behind the unsubscribe, want only the event that was begun before it", got)
		}
		one.may(declare, `"topic":"bus.one.b","fields":[]`, "*")
		b.Detach(one)
		two.wantFrames()
	})
}

// EXT03-BUS-028, EXT03-BUS-029
func TestDeclare_fields(t *testing.T) {
	field := func(name, kind, rest string) string {
		return fmt.Sprintf(`{"name":%s,"kind":"%s","required":false,"max_bytes":8,"values":[]%s}`, text(name), kind, rest)
	}
	many := func(n int, make func(int) string) string {
		var list []string
		for i := range n {
			list = append(list, make(i))
		}
		return strings.Join(list, ",")
	}
	alternatives := func(n int) string {
		return `{"name":"a","kind":"enum","required":true,"max_bytes":8,"values":[` + many(n, func(i int) string { return fmt.Sprintf(`"v%d"`, i) }) + `]}`
	}
	numbered := func(i int) string { return field(fmt.Sprint("f", i), "string", "") }
	cases := map[string]struct {
		fields string
		code   int64
	}{
		"none":                     {``, 0},
		"as many as may be":        {many(24, numbered), 0},
		"one more":                 {many(25, numbered), tooMuch},
		"longest name":             {field(strings.Repeat("a", 64), "string", ""), 0},
		"longer name":              {field(strings.Repeat("a", 65), "string", ""), invalid},
		"no identifier":            {field("A", "string", ""), invalid},
		"twice":                    {field("a", "string", "") + "," + field("a", "boolean", ""), invalid},
		"unknown kind":             {field("a", "float", ""), invalid},
		"alternatives":             {alternatives(32), 0},
		"one alternative more":     {alternatives(33), tooMuch},
		"enum without":             {field("a", "enum", ""), invalid},
		"integer with":             {`{"name":"a","kind":"integer","required":true,"max_bytes":8,"values":["x"]}`, invalid},
		"repeated alternative":     {`{"name":"a","kind":"enum","required":true,"max_bytes":8,"values":["x","x"]}`, invalid},
		"longest alternative":      {`{"name":"a","kind":"enum","required":true,"max_bytes":4,"values":["xxxx"]}`, 0},
		"longer alternative":       {`{"name":"a","kind":"enum","required":true,"max_bytes":4,"values":["xxxxx"]}`, tooMuch},
		"much longer alternative":  {`{"name":"a","kind":"enum","required":true,"max_bytes":1024,"values":[` + text(strings.Repeat("x", 1025)) + `]}`, tooMuch},
		"screened alternative":     {`{"name":"a","kind":"enum","required":true,"max_bytes":8,"values":["/x"]}`, invalid},
		"no bytes":                 {`{"name":"a","kind":"string","required":true,"max_bytes":0,"values":[]}`, invalid},
		"most bytes":               {`{"name":"a","kind":"boolean","required":true,"max_bytes":1024,"values":[]}`, 0},
		"more bytes":               {`{"name":"a","kind":"string","required":true,"max_bytes":1025,"values":[]}`, invalid},
		"range":                    {field("a", "integer", `,"minimum":-3,"maximum":-3`), 0},
		"range upside down":        {field("a", "integer", `,"minimum":4,"maximum":3`), invalid},
		"minimum of a string":      {field("a", "string", `,"minimum":0`), invalid},
		"maximum of a boolean":     {field("a", "boolean", `,"maximum":0`), invalid},
		"stray member":             {field("a", "string", `,"stray":1`), invalid},
		"forbidden in other dress": {field("p-a_t-h", "string", ""), invalid},
		"number for a name":        {`{"name":5,"kind":"string","required":true,"max_bytes":8,"values":[]}`, invalid},
	}
	for _, word := range canonicalwire.TableBusForbiddenWords {
		cases["forbidden "+word] = struct {
			fields string
			code   int64
		}{field("my-"+word+"-1", "string", ""), invalid}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *Bus) {
				one := join(t, b, "one")
				if members := `"topic":"bus.one.a","fields":[` + c.fields + `]`; c.code == 0 {
					one.may(declare, members, `{"binding_id":"BINDING"}`)
				} else {
					one.mayNot(declare, members, c.code)
					one.may(declare, `"topic":"bus.one.a","fields":[]`, "*")
				}
			})
		})
	}
}

// EXT03-BUS-030, EXT03-BUS-031
func TestScreen(t *testing.T) {
	for _, good := range []string{
		"", "plain", "a/b", "c:", "1:/x", "sk-short", "sk1-abcdefgh", "12345678", "+12345678", "1234-5", "bearer", "bearertoken x",
		"-----BEG", "v1.2.3-rc", "~user", strings.Repeat("x", 1024), "12-34 5a", "xsk-abcdefgh",
	} {
		if err := screen(good, 1024); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"a\nb", "\x7f", "\u0085", "/etc", " /etc", "~/x", `~\x`, `C:\x`, "c:/x", "sk-12345678", "SK_12345678", "github_pat_12345678",
		"xoxs-äöüäöüäö", "1234-567", "+1 234 5678", "(12)34567"[1:], "a@b", "-----BeGiN", "Bearer x", "bearer\u2003x", "+49 (30) 123",
	} {
		if err := screen(bad, 1024); !errors.Is(err, errScreened) {
			t.Errorf("%q: got %v, want it screened", bad, err)
		}
	}
	for _, long := range []struct {
		text string
		most int64
	}{{"xxxxx", 4}, {strings.Repeat("x", 1025), 2000}, {"/too/long", 4}} {
		if err := screen(long.text, long.most); !errors.Is(err, errTooLong) {
			t.Errorf("%.10q in %d: got %v, want it too long", long.text, long.most, err)
		}
	}
}

func TestClose(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		b.Close()
		if err := b.Attach(newFake(t, b, "two")); !errors.Is(err, ErrClosed) {
			t.Errorf("attached behind the end: %v", err)
		}
		one.refused(subscribe, one.with(`"topic":"bus.one.a"`), foreign)
		before := b.binding
		b.Reset()
		if b.binding != before {
			t.Error("a closed bus has a new incarnation")
		}
		one.wantFrames()
		one.wantRetired("")
	})
}

func TestAttach_once(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		if err := b.Attach(one); !errors.Is(err, ErrAttached) {
			t.Errorf("twice: %v", err)
		}
		one.wantFrames()
	})
}
