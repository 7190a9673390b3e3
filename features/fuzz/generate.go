package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/steps"
)

// initializeID is the id of the first request of every conversation.
const initializeID = "1"

// probe is a method that no version of the protocol has.
const probe = "conform/probe"

// generator makes one conversation up. It keeps the protocol's state as the host knows it: which ids are used, and
// which of them are still owed an answer.
type generator struct {
	*Material
	rng *rand.Rand
	d   dialect.Dialect

	used  map[string]bool // ids, as spelled
	slow  []string        // calls that run
	done  []string        // ids that were answered, or will be soon
	items []Item

	running map[string]bool // tools and handlers that were asked and not waited for
}

// opening is the first frame of every conversation.
func opening(setup *steps.Setup) Item {
	return Item{
		Line: setup.Dialect.Request(initializeID, dialect.Initialize, setup.Dialect.Initialize(setup.Extension)),
		kind: answer, wait: true, id: initializeID,
	}
}

// Generate makes a conversation of about so many lines up. The same seed and run make the same one.
func (m *Material) Generate(seed int64, run, length int) []Item {
	g := &generator{
		Material: m, rng: rand.New(rand.NewPCG(uint64(seed), uint64(run))), d: m.setup.Dialect,
		used: map[string]bool{initializeID: true}, done: []string{initializeID},
		running: map[string]bool{},
	}
	g.items = append(g.items, opening(m.setup))
	for range 1 + g.rng.IntN(length) {
		g.step()
	}
	g.finish()
	return g.items
}

// step adds one line, or a few that belong together.
func (g *generator) step() {
	acts := []struct {
		weight int
		do     func()
	}{
		{6, g.call}, {3, g.slowCall}, {4, g.cancel}, {3, g.question}, {2, g.event}, {5, g.unknown}, {4, g.envelope}, {4, g.bent}, {2, g.stray}, {3, g.spelled}, {9, g.derived},
	}
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	at := g.rng.IntN(total)
	for _, a := range acts {
		if at -= a.weight; at < 0 {
			a.do()
			return
		}
	}
}

// finish ends the conversation in one of the ways in which one may end.
func (g *generator) finish() {
	if g.rng.IntN(4) > 0 {
		g.request(probe, dialect.Object{}, Item{kind: answer, errors: []string{"unknown_method"}, rule: g.rule("EXT03-ENV-017", "EXT04-ERR-001"), wait: true})
	}
	switch n := g.rng.IntN(10); {
	case n < 3 && g.d.Canonical():
		g.unreadable()
	case n < 8:
		id := g.id()
		g.add(Item{Line: g.d.Request(id, dialect.Shutdown, dialect.Object{}), kind: leave, id: id})
	}
}

// rule is that of the wire.
func (g *generator) rule(canonical, feature string) string {
	if g.d.Canonical() {
		return canonical
	}
	return feature
}

func (g *generator) add(i Item) {
	if i.kind == answer && g.rng.IntN(3) == 0 {
		i.wait = true
	}
	if len(i.Line) > 1 && g.rng.IntN(6) == 0 {
		i.Cut = 1 + g.rng.IntN(len(i.Line)-1)
	}
	if i.cancel == "" {
		_, i.cancel = ids(i)
	}
	g.items = append(g.items, i)
}

// request adds a request under a new id.
//
// On the feature wire an extension names the request that it asks for by its number, so whatever makes it ask has
// one.
func (g *generator) request(method string, params any, i Item) string {
	i.id = g.id()
	for !g.d.Canonical() && len(i.errors) == 0 && strings.HasPrefix(i.id, `"`) {
		i.id = g.id()
	}
	i.Line = g.d.Request(i.id, method, params)
	if i.kind == answer && len(i.errors) == 0 {
		g.alone(method, params)
	}
	g.add(i)
	if g.items[len(g.items)-1].wait {
		clear(g.running)
	}
	if i.kind == answer {
		g.done = append(g.done, i.id)
	}
	return i.id
}

// alone waits for the last call of a tool, or the last question to a handler, before there is another: whether
// one can run beside itself is nobody's promise.
func (g *generator) alone(method string, params any) {
	key := method
	if p, ok := params.(dialect.Object); ok && method == dialect.ToolCall {
		key = fmt.Sprint(p["name"])
	}
	if g.running[key] {
		g.items[len(g.items)-1].wait = true
		clear(g.running)
	}
	g.running[key] = true
}

// id is one that was not used yet: a number or a text, short or long.
func (g *generator) id() string {
	for {
		var id string
		switch g.rng.IntN(8) {
		case 0:
			id = fmt.Sprintf("%d", 9007199254740991-g.rng.IntN(1000))
		case 1:
			id = string(dialect.Encode(strings.Repeat(pick(g.rng, "i", "é", "\U0001F427", "\u2028"), 1+g.rng.IntN(40)) + fmt.Sprint(g.rng.IntN(1000))))
		case 2:
			id = fmt.Sprintf("%q", fmt.Sprint(g.rng.IntN(1000)))
		default:
			id = fmt.Sprint(2 + g.rng.IntN(100_000))
		}
		if !g.used[id] {
			g.used[id] = true
			return id
		}
	}
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// call makes one of the calls that are known to be safe, or one of a tool that nobody has.
func (g *generator) call() {
	if len(g.traffic.Calls) == 0 || g.rng.IntN(5) == 0 {
		g.request(dialect.ToolCall, g.d.Call("conform_no_such_tool", dialect.Object{}), Item{kind: answer})
		return
	}
	c := pick(g.rng, g.traffic.Calls...)
	g.request(dialect.ToolCall, g.d.Call(c.Tool, c.Arguments), Item{kind: answer})
}

// mostSlow is how many calls run at a time. The bound that an extension selects may be as low as that.
const mostSlow = 2

func (g *generator) slowCall() {
	c := g.traffic.Slow
	if c == nil || g.d.API() == dialect.FrozenAPI || len(g.slow) == mostSlow {
		g.call()
		return
	}
	id := g.request(dialect.ToolCall, g.d.Call(c.Tool, c.Arguments), Item{kind: slow})
	g.slow = append(g.slow, id)
}

// cancel cancels what runs, what is over, or what never was.
func (g *generator) cancel() {
	if g.d.API() == dialect.FrozenAPI {
		g.unknown()
		return
	}
	var id string
	switch n := g.rng.IntN(4); {
	case n < 2 && len(g.slow) > 0:
		at := g.rng.IntN(len(g.slow))
		id = g.slow[at]
		g.slow = slices.Delete(g.slow, at, at+1)
		g.done = append(g.done, id)
	case n == 2 && len(g.done) > 1:
		id = pick(g.rng, g.done[1:]...)
	default:
		id = g.id()
		delete(g.used, id)
	}
	params := g.d.Cancel(id, pick(g.rng, "user", "", "timeout é", strings.Repeat("r", 200)))
	if g.rng.IntN(3) == 0 {
		delete(params, "reason")
	}
	rule := g.rule("EXT03-CANCEL-001", "EXT04-CANCEL-004")
	g.add(Item{Line: g.d.Notification(dialect.Cancel, params), kind: silence, rule: rule, cancel: id})
}

// question asks one of the handlers that the extension has.
func (g *generator) question() {
	if len(g.traffic.Questions) == 0 {
		g.call()
		return
	}
	q := pick(g.rng, g.traffic.Questions...)
	g.request(q.Method, q.Params, Item{kind: answer})
}

// event tells something that the extension listens to, or nobody does.
func (g *generator) event() {
	line := g.d.Notification(pick(g.rng, "conform/notice", "$/conform", "Session/Started"), dialect.Object{})
	if len(g.traffic.Events) > 0 && g.rng.IntN(4) > 0 {
		e := pick(g.rng, g.traffic.Events...)
		line = g.d.Notification(e.Method, e.Params)
	}
	if g.d.Canonical() { // where a notification of no such method is no message of the wire
		line = g.d.Notification(dialect.Shutdown, dialect.Object{})
	}
	g.add(Item{Line: line, kind: silence, rule: g.rule("EXT03-ENV-014", "EXT04-ENV-007")})
}

// unknown asks for what nobody has.
func (g *generator) unknown() {
	method := pick(g.rng, probe, "Tool/Call", "tool/call/", "tool", "constructor", "__proto__", "toString", "$/conform", "initialized", strings.Repeat("m", 128))
	g.request(method, g.opaque(0), Item{kind: answer, errors: []string{"unknown_method"}, rule: g.rule("", "EXT04-ERR-001")})
}

// opaque is an object of anything that a reader has to let pass.
func (g *generator) opaque(depth int) dialect.Object {
	out := dialect.Object{}
	for range g.rng.IntN(4) {
		out[pick(g.rng, "k", "", "id", "method", "é", "\U0001F427", "\ue000", "result", "a\u2028b")] = g.value(depth)
	}
	return out
}

func (g *generator) value(depth int) any {
	switch n := g.rng.IntN(9); {
	case n == 0:
		return nil
	case n == 1:
		return g.rng.IntN(2) == 0
	case n == 2:
		return json.Number(pick(g.rng, "0", "-1", "9007199254740991", "-9007199254740991", "42"))
	case n < 6 || depth > 3:
		return pick(g.rng, "", "octet", "a\u2028b\u2029c\u0085d", "\u007f\ufeff", "\u0000\u001f\t\"\\", "\U0001F427\U0010FFFF", strings.Repeat("x", 1+g.rng.IntN(5000)))
	case n == 6:
		return []any{g.value(depth + 1), g.value(depth + 1)}
	case n == 7:
		var nest any = []any{}
		for range g.rng.IntN(24) {
			nest = []any{nest}
		}
		return nest
	}
	return g.opaque(depth + 1)
}

// envelope writes one that is none.
func (g *generator) envelope() {
	row := pick(g.rng, envelopes(g.d.Canonical())...)
	id := g.id()
	item := Item{Line: fill(row.line, id), kind: row.kind, errors: row.errors, rule: row.rule}
	if item.kind == answer {
		item.id = id
		g.done = append(g.done, id)
	}
	g.add(item)
}

// bent sends a question that is sound but for one place. The context stays as it is: what an extension does in a
// context that no host gives says nothing about it.
func (g *generator) bent() {
	switch n := g.rng.IntN(3); {
	case n == 0 && len(g.traffic.Questions) > 0:
		q := pick(g.rng, g.traffic.Questions...)
		params, _ := clone(q.Params).(dialect.Object)
		bend(g.rng, params, "context", "arguments")
		g.request(q.Method, params, Item{kind: answer, bent: true})
	case n == 1 && len(g.traffic.Calls) > 0:
		c := pick(g.rng, g.traffic.Calls...)
		params, _ := clone(g.d.Call(c.Tool, c.Arguments)).(dialect.Object)
		if args, ok := misfit(g.rng, c); ok && g.setup.NoCalls == "" {
			params["arguments"] = args
		} else {
			bend(g.rng, params, "context", "arguments")
		}
		g.request(dialect.ToolCall, params, Item{kind: answer, bent: true})
	default:
		params, _ := clone(g.d.Call("conform_no_such_tool", dialect.Object{"text": "a"})).(dialect.Object)
		bend(g.rng, params, "name")
		g.request(dialect.ToolCall, params, Item{kind: answer, bent: true})
	}
}

// misfit are arguments with one value of another type.
func misfit(rng *rand.Rand, c profile.Call) (dialect.Object, bool) {
	args, ok := clone(c.Arguments).(dialect.Object)
	if !ok || len(args) == 0 {
		return nil, false
	}
	names := keys(args)
	args[pick(rng, names...)] = pick[any](rng, nil, []any{}, dialect.Object{"no": true}, true)
	return args, true
}

// stray answers what nobody has asked.
func (g *generator) stray() {
	if g.d.Canonical() { // which ends the stream there
		g.unknown()
		return
	}
	id := pick(g.rng, `"conform-nobody"`, "987654", `"p-1"`)
	line := g.d.Result(id, g.opaque(0))
	if g.rng.IntN(2) == 0 {
		line = g.d.Refuse(id, "unknown_method", probe)
	}
	g.add(Item{Line: line, kind: silence, rule: "EXT04-ENV-019"})
}

// spelled writes a sound request in another legal spelling, or a line that no reader can make sense of.
func (g *generator) spelled() {
	if g.d.Canonical() {
		g.unknown()
		return
	}
	if g.rng.IntN(3) == 0 {
		line := pick(g.rng, "hello", `{"id":7,"jsonrpc":"2.0","method":"«shutdown»"`, `{"id":7,"jsonrpc":"2.0","method":"«shutdown»",}`, "\x80", "hello\xff", "{]", `"half`)
		g.add(Item{Line: fill(line, "7"), kind: goOn, rule: "EXT04-ERR-003"})
		return
	}
	item := Item{kind: answer, errors: []string{"unknown_method"}, rule: "EXT04-FRAME-005", id: g.id()}
	item.Line = respell(g.rng, g.d.Request(item.id, probe, g.opaque(0)))
	g.done = append(g.done, item.id)
	g.add(item)
}

// respell spells a frame with white space and escapes that JSON allows.
func respell(rng *rand.Rand, line []byte) []byte {
	var out bytes.Buffer
	blank := pick(rng, " ", "\t", "\r", "  \t")
	if json.Indent(&out, line, "", blank) != nil {
		return line
	}
	spelled := bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(blank))
	if rng.IntN(2) == 0 {
		spelled = bytes.Replace(spelled, []byte(`"method"`), []byte(`"m\u0065thod"`), 1)
	}
	if rng.IntN(2) == 0 {
		spelled = append(spelled, '\r')
	}
	if rng.IntN(4) == 0 {
		spelled = append([]byte(blank), spelled...)
	}
	return spelled
}

// unreadable writes a request that no reader of the canonical wire accepts.
func (g *generator) unreadable() {
	row := pick(g.rng, misspellings...)
	id := g.id()
	g.add(Item{Line: fill(row.line, id), kind: end, rule: row.rule, id: id})
}
