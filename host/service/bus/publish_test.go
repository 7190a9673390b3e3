package bus

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

const everyKind = `"fields":[
	{"name":"note","kind":"string","required":true,"max_bytes":8,"values":[]},
	{"name":"count","kind":"integer","required":false,"max_bytes":8,"values":[],"minimum":-2,"maximum":5},
	{"name":"big","kind":"integer","required":false,"max_bytes":8,"values":[]},
	{"name":"on","kind":"boolean","required":false,"max_bytes":8,"values":[]},
	{"name":"level","kind":"enum","required":false,"max_bytes":4,"values":["low","high"]}]`

// pair is a publisher of bus.one.a and a subscriber of it.
func pair(t *testing.T, b *Bus, fields string) (one, two *fake) {
	t.Helper()
	one, two = join(t, b, "one"), join(t, b, "two")
	one.may(declare, `"topic":"bus.one.a",`+fields, "*")
	two.may(subscribe, `"topic":"bus.one.a"`, "*")
	return one, two
}

const noFields = `"fields":[]`

func (f *fake) event(b *Bus, sequence int64, payload string) string {
	return fmt.Sprintf(`{"binding_id":"%s","payload":%s,"process_generation":%d,"published_at_ms":%d,"publisher":"%s","publisher_instance_id":"%s","sequence":%d,"topic":"bus.one.a"}`,
		b.binding, payload, f.generation, time.Now().UnixMilli(), f.name, f.Instance(), sequence)
}

// EXT03-BUS-038, EXT03-BUS-039
func TestPublish_judgesTopicAndPayload(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, everyKind)
		two.mayNot(publish, `"topic":"bus.one.a","payload":{}`, foreign)
		one.mayNot(publish, `"topic":"bus.one.b","payload":{}`, invalid)
		one.mayNot(publish, `"topic":"bus.one.a"`, invalid)
		var crowd []string
		for i := range 25 {
			crowd = append(crowd, fmt.Sprintf(`"k%d":1`, i))
		}
		for payload, code := range map[string]int64{
			`null`: invalid, `[]`: invalid, `"x"`: invalid, `7`: invalid, `{}`: invalid,
			`{"note":null}`: invalid, `{"note":1}`: invalid, `{"note":"x","stray":1}`: invalid,
			`{"note":"123456789"}`: tooMuch, `{"note":"a@b"}`: invalid,
			`{"note":"x","count":-3}`: invalid, `{"note":"x","count":6}`: invalid, `{"note":"x","count":"1"}`: invalid,
			`{"note":"x","count":1.5}`: invalid, `{"note":"x","count":1e0}`: invalid, `{"note":"x","on":0}`: invalid,
			`{"note":"x","level":"mid"}`: invalid, `{"note":"x","level":"lower"}`: tooMuch, `{"note":"x","level":true}`: invalid,
			`{"note":"x","big":9007199254740992}`:      invalid,
			`{` + strings.Join(crowd, ",") + `}`:       tooMuch,
			`{` + strings.Join(crowd[:24], ",") + `}`:  invalid,
			`{"note":` + strings.Repeat("[", 40) + `}`: invalid, // no JSON
		} {
			one.mayNot(publish, `"topic":"bus.one.a","payload":`+payload, code)
		}
		for n, payload := range []string{
			`{"note":"12345678"}`, `{"count":-2,"note":""}`, `{"count":5,"level":"high","note":"x","on":false}`,
			`{"big":-9007199254740991,"note":"x"}`,
		} {
			one.may(publish, `"topic":"bus.one.a","payload":`+payload, fmt.Sprintf(`{"binding_id":"BINDING","published_at_ms":%d,"sequence":%d}`, time.Now().UnixMilli(), n+1))
			two.wantFrames(one.event(b, int64(n+1), payload))
		}
	})
}

// EXT03-PUBLISH-002, EXT03-PUBLISH-003, EXT03-PUBLISH-005, EXT03-PUBLISH-006, EXT03-PUBLISH-007
func TestPublish_sequence(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		one.may(declare, `"topic":"bus.one.a",`+noFields, "*")
		one.may(declare, `"topic":"bus.one.b",`+noFields, "*")
		time.Sleep(1234 * time.Millisecond)
		now := time.Now().UnixMilli()
		result := func(n int) string {
			return fmt.Sprintf(`{"binding_id":"BINDING","published_at_ms":%d,"sequence":%d}`, now, n)
		}
		one.may(publish, `"topic":"bus.one.a","payload":{}`, result(1))
		one.mayNot(publish, `"topic":"bus.one.a","payload":{"x":1}`, invalid)
		one.may(publish, `"topic":"bus.one.b","payload":{}`, result(2))
		one.may(subscribe, `"topic":"bus.one.a"`, "*")
		one.may(publish, `"topic":"bus.one.a","payload":{}`, result(3))
		one.wantFrames(one.event(b, 3, "{}"))
		b.Reset()
		one.takeFrames()
		one.may(declare, `"topic":"bus.one.a",`+noFields, "*")
		one.may(publish, `"topic":"bus.one.a","payload":{}`, result(4))
		b.Detach(one)
		next := join(t, b, "one")
		next.may(declare, `"topic":"bus.one.a",`+noFields, "*")
		next.may(publish, `"topic":"bus.one.a","payload":{}`, result(1))
	})
}

// EXT03-PUBLISH-004
func TestPublish_sequenceEnds(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		b.members[one].sequence = canonicalwire.MaxPortableJSONInteger - 1
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		one.mayNot(publish, `"topic":"bus.one.a","payload":{}`, tooMuch)
		two.wantFrames(one.event(b, canonicalwire.MaxPortableJSONInteger, "{}"))
	})
}

// EXT03-PUBLISH-008
func TestPublish_frameBound(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		var fields []string
		for i := range 9 {
			fields = append(fields, fmt.Sprintf(`{"name":"f%d","kind":"string","required":false,"max_bytes":1024,"values":[]}`, i))
		}
		one, two := pair(t, b, `"fields":[`+strings.Join(fields, ",")+`]`)
		payload := func(last int) string {
			var members []string
			for i := range 7 {
				members = append(members, fmt.Sprintf(`"f%d":%s`, i, text(strings.Repeat("x", 1024))))
			}
			return `{` + strings.Join(members, ",") + `,"f7":` + text(strings.Repeat("y", last)) + `}`
		}
		around := len(`{"jsonrpc":"2.0","method":"` + canonicalwire.MethodBusEvent + `","params":` + one.event(b, 1, payload(0)) + `}`)
		fits := canonicalwire.MaxBusMessageBytes - around
		one.mayNot(publish, `"topic":"bus.one.a","payload":`+payload(fits+1), tooMuch)
		one.may(publish, `"topic":"bus.one.a","payload":`+payload(fits), "*")
		two.wantFrames(one.event(b, 1, payload(fits)))
		two.bound = around
		one.mayNot(publish, `"topic":"bus.one.a","payload":`+payload(1), tooMuch)
		one.may(publish, `"topic":"bus.one.a","payload":`+payload(0), "*")
	})
}

// EXT03-PUBLISH-001, EXT03-PUBLISH-009, EXT03-PUBLISH-010, EXT03-PUBLISH-011, EXT03-PUBLISH-012, EXT03-PUBLISH-013
func TestPublish_allOrNone(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		three := join(t, b, "three")
		three.may(subscribe, `"topic":"bus.one.a"`, "*")
		two.stall()
		for range canonicalwire.MaxBusQueueMessages {
			one.may(publish, `"topic":"bus.one.a","payload":{}`, "*") // admitted, though two handles nothing
		}
		synctest.Wait()
		one.mayNot(publish, `"topic":"bus.one.a","payload":{}`, tooMuch)
		if got := three.takeFrames(); len(got) != canonicalwire.MaxBusQueueMessages {
			t.Errorf("the other subscriber was sent %d events, want %d: none of the refused one", len(got), canonicalwire.MaxBusQueueMessages)
		}
		two.block <- struct{}{} // one frame is written: one credit is back
		synctest.Wait()
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		one.mayNot(publish, `"topic":"bus.one.a","payload":{}`, tooMuch)
		close(two.block)
		if got := two.takeFrames(); len(got) != canonicalwire.MaxBusQueueMessages+1 {
			t.Errorf("sent %d events, want each admitted one once", len(got))
		}
		two.wantFrames()
	})
}

// EXT03-PUBLISH-009: the bound in bytes.
func TestPublish_queueBytes(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		_, two := pair(t, b, noFields)
		m := b.members[two]
		for _, c := range []struct {
			queued, size int
			room         bool
		}{
			{0, 8192, true}, {262144 - 101, 100, true}, {262144 - 100, 100, false}, {262144, 0, false},
		} {
			m.bytes = c.queued
			if got := m.roomLocked(c.size); got != c.room {
				t.Errorf("%d bytes beside %d queued ones: room is %v", c.size, c.queued, got)
			}
		}
		m.bytes = 0
	})
}

// EXT03-PUBLISH-011: no credit comes back early for a reset or for the end of the publisher.
func TestPublish_creditIsKeptUntilTheFrameIsGone(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		two.stall()
		for range 10 {
			one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		}
		synctest.Wait()
		b.Reset()
		b.Detach(one)
		if queued := len(b.members[two].queue); queued != 11 { // and the notice of the reset
			t.Errorf("%d frames count, want the 10 events and the notice", queued)
		}
		close(two.block)
		got := two.takeFrames()
		if len(got) != 2 || !strings.Contains(got[1], `"kind":"binding"`) {
			t.Errorf("sent %q, want the event that was begun and the notice", got)
		}
		if m := b.members[two]; len(m.queue) != 0 || m.bytes != 0 {
			t.Errorf("%d frames of %d bytes count behind an empty queue", len(m.queue), m.bytes)
		}
	})
}

// EXT03-PUBLISH-014
func TestServe_nothingOvertakesAnAnswer(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := join(t, b, "one"), join(t, b, "two")
		one.may(declare, `"topic":"bus.one.a",`+noFields, "*")
		answer, err := b.Serve(two, subscribe, []byte(two.with(`"topic":"bus.one.a"`)))
		if err != nil {
			t.Fatal(err)
		}
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		two.wantFrames()
		answer.Queued(true)
		two.wantFrames(one.event(b, 1, "{}"))
	})
}

// EXT03-PUBLISH-015
func TestServe_lostAnswerEndsTheProcess(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one := join(t, b, "one")
		answer, err := b.Serve(one, subscribe, []byte(one.with(`"topic":"bus.one.a"`)))
		if err != nil {
			t.Fatal(err)
		}
		one.wantRetired("")
		answer.Queued(false)
		one.wantRetired("could not be queued")
	})
}

// EXT03-PUBLISH-016
func TestSend_dropsWhatIsOld(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		hold, err := b.Serve(two, subscribe, []byte(two.with(`"topic":"bus.one.z"`)))
		if err != nil {
			t.Fatal(err)
		}
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		time.Sleep(time.Millisecond)
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		second := one.event(b, 2, "{}")
		time.Sleep(age - time.Millisecond)
		hold.Queued(true)
		two.wantFrames(second)
		two.wantRetired("")
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		two.wantFrames(one.event(b, 3, "{}"))
	})
}

// EXT03-PUBLISH-017
func TestSend_expiryInsideAFrameEndsTheProcess(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		two.stall()
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		time.Sleep(age - time.Millisecond)
		two.wantRetired("")
		time.Sleep(2 * time.Millisecond)
		two.wantRetired("while it was being written")
		two.wantFrames()
		one.wantRetired("")
	})
}

// EXT03-PUBLISH-018, EXT03-PUBLISH-019
func TestNotice_withoutRoomEndsTheProcess(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		two.may(subscribe, `"topic":"bus.one.b"`, "*")
		two.stall()
		for range canonicalwire.MaxBusQueueMessages - 1 {
			one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		}
		one.may(declare, `"topic":"bus.one.b",`+noFields, "*")
		two.wantRetired("")
		b.Reset()
		two.wantRetired("no room for its notice")
		one.wantRetired("")
		close(two.block)
	})
}

// EXT03-PUBLISH-019: a notice that expires unsent.
func TestNotice_expiredEndsTheProcess(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		two := join(t, b, "two")
		hold, err := b.Serve(two, subscribe, []byte(two.with(`"topic":"bus.one.z"`)))
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		time.Sleep(age)
		hold.Queued(true)
		two.wantRetired("expired unsent")
		two.wantFrames()
	})
}

// EXT03-PUBLISH-020, EXT03-PUBLISH-021, EXT03-PUBLISH-026
func TestReset_beginsAnew(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		seen := map[string]bool{b.binding: true}
		for revision := 2; revision < 6; revision++ { // away and back again, and again
			b.Reset()
			if seen[b.binding] {
				t.Fatal("a binding came back")
			}
			seen[b.binding] = true
			notice := fmt.Sprintf(`{"binding_id":"%s","binding_revision":%d,"kind":"binding"}`, b.binding, revision)
			one.wantFrames(notice)
			two.wantFrames(notice)
			one.mayNot(publish, `"topic":"bus.one.a","payload":{}`, invalid)
			two.may(subscribe, `"topic":"bus.one.a"`, fmt.Sprintf(`{"binding_id":"BINDING","state":"pending","topic_revision":%d}`, revision-1))
			one.may(declare, `"topic":"bus.one.a",`+noFields, "*")
			one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
			if got := two.takeFrames(); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf(`"topic_revision":%d}`, revision)) {
				t.Errorf("sent %q, want the notice of the topic and no event", got)
			}
		}
	})
}

// EXT03-PUBLISH-022, EXT03-PUBLISH-023, EXT03-PUBLISH-024, EXT03-PUBLISH-025
func TestDetach_takesTheTopicsAway(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		one.may(declare, `"topic":"bus.one.b",`+noFields, "*")
		two.may(subscribe, `"topic":"bus.one.b"`, "*")
		notice := func(kind, topic string, generation, revision int) string {
			return fmt.Sprintf(`{"binding_id":"%s","kind":"topic_%s","process_generation":%d,"publisher_instance_id":"instance-one","topic":"%s","topic_revision":%d}`, b.binding, kind, generation, topic, revision)
		}
		b.Detach(one)
		two.wantFrames(notice("unavailable", "bus.one.a", 1, 3), notice("unavailable", "bus.one.b", 1, 4))

		next := newFake(t, b, "one")
		next.generation = 2
		next.attach()
		next.takeFrames()
		next.mayNot(publish, `"topic":"bus.one.a","payload":{}`, invalid)
		next.may(declare, `"topic":"bus.one.a",`+noFields, "*")
		two.wantFrames(notice("available", "bus.one.a", 2, 5))
		next.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		two.wantFrames()
		two.may(subscribe, `"topic":"bus.one.a"`, `{"binding_id":"BINDING","process_generation":2,"publisher_instance_id":"instance-one","state":"active","topic_revision":5}`)
		next.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		two.wantFrames(next.event(b, 2, "{}"))
	})
}

// A process that goes while it is subscribed is nobody a publication waits for.
func TestDetach_subscriberIsForgotten(t *testing.T) {
	in(t, func(t *testing.T, b *Bus) {
		one, two := pair(t, b, noFields)
		two.stall()
		for range canonicalwire.MaxBusQueueMessages {
			one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		}
		b.Detach(two)
		one.may(publish, `"topic":"bus.one.a","payload":{}`, "*")
		again := join(t, b, "two")
		again.wantFrames()
		again.may(subscribe, `"topic":"bus.one.a"`, "*")
	})
}

func FuzzServe(f *testing.F) {
	f.Add(0, `{"binding_id":"B","topic":"bus.one.a","fields":[{"name":"a","kind":"enum","required":true,"max_bytes":4,"values":["x"]}]}`)
	f.Add(3, `{"binding_id":"B","topic":"bus.one.a","payload":{"a":"x"}}`)
	f.Add(1, `{"binding_id":"B","topic":"bus.one.a"}`)
	methods := []string{declare, subscribe, leave, publish}
	f.Fuzz(func(t *testing.T, method int, params string) {
		synctest.Test(t, func(t *testing.T) {
			b := New()
			defer b.Close()
			one := join(t, b, "one")
			one.may(declare, `"topic":"bus.one.a","fields":[{"name":"a","kind":"string","required":true,"max_bytes":4,"values":[]}]`, "*")
			params = strings.ReplaceAll(params, `"B"`, `"`+b.binding+`"`)
			answer, err := b.Serve(one, methods[uint(method)%4], []byte(params))
			if err == nil {
				answer.Queued(true)
			} else {
				codeOf(t, err)
			}
		})
	})
}
