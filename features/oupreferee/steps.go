package oupreferee

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/oupwire"
)

// phrase is one step: how it reads and what it does.
type phrase struct {
	expr string
	do   any // a method expression of world
}

func phrases() []phrase {
	return slices.Concat(servicePhrases(), taskPhrases(), activityPhrases(), []phrase{
		{`a connection(?: "([^"]+)")?(?: that names (no feature|"[^"]*"))?`, (*world).connects},
		{`a server of its own`, (*world).alone},
		{`features that the server serves are remembered as "([^"]+)"`, (*world).knowsFeatures},
		{`the server serves (\S+)`, (*world).serves},
		{`the features of standard streams are in force`, (*world).streamFeatures},
		{`a work secret(?: "([^"]+)")? for "([^"]+)"(?: that is good for (\d+) s)?`, (*world).issues},
		{`a connection(?: "([^"]+)")? with the work secret(?: "([^"]+)")?`, (*world).enters},
		{`the work secret "([^"]+)" ends by itself`, (*world).secretEnds},
		{`no file of the server has a work secret`, (*world).nothingKept},
		{`only what a work secret may call is listed`, (*world).listsNarrowly},
		{`a session(?: "([^"]+)")?(?: with (\{.*\}))?`, (*world).opensSession},
		{`the client calls (\S+)(?: with (.+))?`, (*world).calls},
		{`a turn starts that (says something|uses a tool badly|uses a tool|needs an approval|needs two approvals|asks a question|takes long|fails|makes a plan|tells progress|says a lot|changes a file)`, (*world).startsTurn},
		{`the client (approves|denies)(?: with (\{.*\}))?`, (*world).decides},
		{`the client turns to connection "([^"]+)"`, (*world).turnsTo},
		{`the connection is closed`, (*world).closes},
		{`the client writes (.+)`, (*world).writes},
		{`the input of the server ends(?: with (.+))?`, (*world).endsInput},
		{`the server is killed and started again`, (*world).restarts},
		{`"([^"]+)" of the (answer|event) is remembered as "([^"]+)"`, (*world).remembers},
		{`the answer is (.+)`, (*world).answerIs},
		{`the error is (\S+)(?: of kind (\S+))?(?: with (\{.*\}))?`, (*world).errorIs},
		{`the event (\S+) comes( once)?(?: with (\{.*\}))?`, (*world).eventComes},
		{`no event (\S+) comes(?: with (\{.*\}))?`, (*world).noEvent},
		{`the turn (asks for an approval|asks the person)`, (*world).turnAsks},
		{`the turn has said something`, (*world).turnSays},
		{`the turn ends (completed|errored|interrupted)(?: with (\{.*\}))?`, (*world).turnEnds},
		{`these (come|came) in order:`, (*world).order},
		{`each of these calls ends so:`, (*world).eachCall},
		{`each of these frames is met so:`, (*world).eachFrame},
		{`these frames in one write are all answered:`, (*world).oneWrite},
		{`each of these upgrades is answered so:`, (*world).eachUpgrade},
		{`what can be called is what is listed`, (*world).callsAll},
		{`the connection ends(?: with code (\d+))?`, (*world).connectionEnds},
		{`the server ends by itself`, (*world).serverEnds},
		{`both transports answer these calls alike:`, (*world).alike},
		{`a heartbeat comes`, (*world).heartbeat},
		{`a (ping of the transport|binary message) is met well`, (*world).control},
		{`no frame breaks a rule of this scenario`, (*world).nothingHeard},
	})
}

type worldKey struct{}

// patterns are those of the phrases, compiled once: the steps are made known anew for every scenario.
var patterns = sync.OnceValue(func() []*regexp.Regexp { return compiled(phrases()) })

func compiled(list []phrase) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, p := range list {
		out = append(out, regexp.MustCompile("^"+p.expr+"$"))
	}
	return out
}

// register binds every phrase to the world of the scenario.
func register(sc *godog.ScenarioContext) {
	of := func(ctx context.Context) *world { return ctx.Value(worldKey{}).(*world) }
	for i, p := range phrases() {
		expr := patterns()[i]
		switch do := p.do.(type) {
		case func(*world) error:
			sc.Step(expr, func(ctx context.Context) error { return do(of(ctx)) })
		case func(*world, string) error:
			sc.Step(expr, func(ctx context.Context, a string) error { return do(of(ctx), a) })
		case func(*world, string, string) error:
			sc.Step(expr, func(ctx context.Context, a, b string) error { return do(of(ctx), a, b) })
		case func(*world, string, string, string) error:
			sc.Step(expr, func(ctx context.Context, a, b, c string) error { return do(of(ctx), a, b, c) })
		case func(*world, *godog.Table) error:
			sc.Step(expr, func(ctx context.Context, t *godog.Table) error { return do(of(ctx), t) })
		case func(*world, string, *godog.Table) error:
			sc.Step(expr, func(ctx context.Context, a string, t *godog.Table) error { return do(of(ctx), a, t) })
		case func(*world, *godog.DocString) error:
			sc.Step(expr, func(ctx context.Context, text *godog.DocString) error { return do(of(ctx), text) })
		}
	}
}

// connects makes a connection; by itself it names every feature there is.
func (w *world) connects(name, named string) error {
	if err := w.begin(); err != nil {
		return err
	}
	tokens := registry()
	switch {
	case named == "no feature":
		tokens = nil
	case named != "":
		tokens = strings.Split(strings.Trim(named, `"`), ",")
		for i := range tokens {
			tokens[i] = w.plainText(tokens[i])
		}
	}
	line, err := w.server.Connect(w.ctx, tokens)
	if errors.Is(err, errOneClient) {
		return notApplicable("standard streams carry one connection")
	}
	if err != nil {
		return missing("no connection: %v", err)
	}
	c := w.adopt(name, line, tokens)
	if w.setup.Target.Transport == WebSocket || named == "no feature" {
		return nil
	}
	r, err := w.call(c, oupwire.MethodClientHello, object{"supported_features": tokens, "client": object{"name": "octet-conform"}})
	if err != nil {
		return err
	}
	if r.fault != nil {
		return missing("%s is refused: %s", oupwire.MethodClientHello, short(r.fault))
	}
	return nil
}

// alone leaves a server alone that others use, too.
func (w *world) alone() error {
	if w.setup.Target.URL != "" {
		return notApplicable("a server that is only named by its address may have other clients")
	}
	return nil
}

// opensSession opens a session that nobody has used.
func (w *world) opensSession(name, more string) error {
	if name == "" {
		name = "session"
	}
	key := "local:conform-" + newID()
	params := object{"session_id": key}
	if more != "" {
		v, err := w.value(more)
		if err != nil {
			return errored("%v", err)
		}
		for member, value := range v.(object) {
			params[member] = value
		}
	}
	w.note()
	r, err := w.call(w.cur, oupwire.MethodSessionOpen, params)
	if err != nil {
		return err
	}
	if r.fault != nil {
		return missing("%s is refused: %s", oupwire.MethodSessionOpen, short(r.fault))
	}
	confirmed, _ := at(r.result, "opened.session_id")
	if text, is := confirmed.(string); is {
		key = text
	}
	w.vars[name], w.vars["base"] = key, strings.SplitN(key, "#", 2)[0]
	w.answer = r
	return nil
}

// note lets everything until now be the past.
func (w *world) note() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cur.mark = len(w.cur.frames)
}

func (w *world) calls(method, text string) error {
	params, err := w.params(text)
	if err != nil {
		return errored("%v", err)
	}
	w.note()
	w.answer, err = w.call(w.cur, method, params)
	if err != nil {
		return err
	}
	return nil
}

// startsTurn starts a turn that the adapter knows to ask for.
func (w *world) startsTurn(kind string) error {
	prompt := w.setup.Ask.of(kind)
	if prompt == "" {
		return notApplicable("the adapter does not say how to have a turn that %s", kind)
	}
	if w.vars["turn"] != nil {
		w.vars["turn before"] = w.vars["turn"]
	}
	w.vars["turn"] = newID()
	w.note()
	r, err := w.call(w.cur, oupwire.MethodTurnStart, object{
		"session_id": w.vars["session"], "turn_id": w.vars["turn"], "input": []any{object{"kind": "text", "text": prompt}},
	})
	if err != nil {
		return err
	}
	w.answer = r
	if r.fault != nil && kind != "fails" {
		return missing("%s is refused: %s", oupwire.MethodTurnStart, short(r.fault))
	}
	return nil
}

func (w *world) decides(how, more string) error {
	decision := map[string]string{"approves": "approve", "denies": "deny"}[how]
	params := object{"session_id": w.vars["session"], "approval_id": w.vars["approval"], "decision": decision}
	if more != "" {
		v, err := w.value(more)
		if err != nil {
			return errored("%v", err)
		}
		for member, value := range v.(object) {
			params[member] = value
		}
	}
	w.note()
	r, err := w.call(w.cur, oupwire.MethodApprovalRespond, params)
	if err != nil {
		return err
	}
	w.answer = r
	if r.fault != nil {
		return missing("%s is refused: %s", oupwire.MethodApprovalRespond, short(r.fault))
	}
	return nil
}

func (w *world) turnsTo(name string) error {
	if name == "first" {
		name = ""
	}
	c := w.clients[name]
	if c == nil {
		return errored("there is no connection %q", name)
	}
	w.cur = c
	return nil
}

func (w *world) closes() error {
	if w.setup.Target.Transport == Stdio {
		return notApplicable("standard streams end with their server")
	}
	_ = w.cur.line.CloseWrite()
	w.cur.line.Close()
	w.cur.reader.Wait()
	return nil
}

// writes sends one frame and waits for nothing.
func (w *world) writes(text string) error {
	payload, _, err := w.raw(text)
	if err != nil {
		return errored("%v", err)
	}
	w.note()
	return w.send(w.cur, payload)
}

// endsInput ends what the server reads, behind a line without its end where there is one.
func (w *world) endsInput(last string) error {
	w.note()
	if last != "" {
		w.mu.Lock()
		f := w.rec.Add(wire.ToSubject, []byte(last), false)
		w.cur.monitor.ToServer(f.Index, []byte(last))
		w.mu.Unlock()
		if err := w.cur.line.Send([]byte(last)); err != nil {
			return missing("the server does not read: %v", err)
		}
	}
	_ = w.cur.line.CloseWrite()
	return nil
}

func (w *world) restarts() error {
	if err := w.server.Again(w.ctx); err != nil {
		return notApplicable("%v", err)
	}
	return nil
}

func (w *world) remembers(path, from, name string) error {
	var tree any = w.event
	if from == "answer" {
		if err := w.offered(w.answer); err != nil {
			return err
		}
		if w.answer == nil || w.answer.fault != nil {
			return missing("there is no result to remember %s of", path)
		}
		tree = w.answer.result
	}
	v, there := at(tree, path)
	if !there {
		return missing("the %s has no %s: %s", from, path, short(tree))
	}
	w.vars[name] = v
	return nil
}

// offered leaves a scenario alone that is about what the server does not offer.
func (w *world) offered(r *reply) error {
	if r != nil && r.fault != nil && refusedAsUnsupported(r.fault) {
		return notApplicable("the server does not offer %s", w.asked)
	}
	return nil
}

func (w *world) answerIs(text string) error {
	if err := w.offered(w.answer); err != nil {
		return err
	}
	if w.answer.fault != nil {
		return failed("%s is refused: %s", w.asked, short(w.answer.fault))
	}
	want, err := w.value(text)
	if err != nil {
		return errored("%v", err)
	}
	if d := differs(want, w.answer.result, ""); d != "" {
		return failed("the answer to %s: %s", w.asked, d)
	}
	return nil
}

func (w *world) errorIs(name, kind, data string) error {
	if name != oupwire.ErrMethodNotSupported.Name {
		if err := w.offered(w.answer); err != nil {
			return err
		}
	}
	if d, err := w.unlike(w.answer, w.asked, name, kind, data); err != nil || d != "" {
		if err != nil {
			return errored("%v", err)
		}
		return failed("%s", d)
	}
	return nil
}

// unlike says in what an answer is not the error that was expected.
func (w *world) unlike(r *reply, what, name, kind, data string) (string, error) {
	if r.fault == nil {
		return fmt.Sprintf("%s succeeds, want %s: %s", what, name, short(r.result)), nil
	}
	if got := errorName(r.fault); got != name {
		return fmt.Sprintf("%s fails with %s, want %s: %s", what, got, name, short(r.fault)), nil
	}
	if got, _ := at(r.fault, "data.kind"); kind != "" && got != kind {
		return fmt.Sprintf("the kind of the error of %s is %s, want %s", what, short(got), kind), nil
	}
	if data == "" {
		return "", nil
	}
	want, err := w.value(data)
	if err != nil {
		return "", err
	}
	got, there := r.fault["data"]
	if !there {
		got = object{}
	}
	if d := differs(want, got, "/data"); d != "" {
		return fmt.Sprintf("the error of %s: %s", what, d), nil
	}
	return "", nil
}

// seek waits for a notification that is as told; from is where it may begin.
func (w *world) seek(c *client, from int, method string, want any) (object, int, error) {
	var found object
	place := -1
	err := w.until(c, func() bool {
		for i := from; i < len(c.frames); i++ {
			params, _ := c.frames[i].root["params"].(object)
			if c.frames[i].method() == method && (want == nil || differs(want, params, "") == "") {
				found, place = params, i
				return true
			}
		}
		return false
	})
	return found, place, err
}

func (w *world) eventComes(method, once, text string) error {
	var want any
	if text != "" {
		v, err := w.value(text)
		if err != nil {
			return errored("%v", err)
		}
		want = v
	}
	if err := w.offered(w.answer); err != nil {
		return err
	}
	found, _, err := w.seek(w.cur, w.cur.mark, method, want)
	if err != nil {
		return w.notCome(method, text, want)
	}
	w.event = found
	if once == "" {
		return nil
	}
	from := w.cur.mark
	if err := w.fence(w.cur); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, f := range w.cur.frames[from:] {
		if f.method() == method && (want == nil || differs(want, f.root["params"], "") == "") {
			n++
		}
	}
	if n != 1 {
		return failed("%s comes %d times, want once", method, n)
	}
	return nil
}

// notCome tells what came in place of an event.
func (w *world) notCome(method, text string, want any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.cur.frames[w.cur.mark:] {
		if f.method() == method && want != nil {
			return failed("%s comes otherwise: %s", method, differs(want, f.root["params"], ""))
		}
	}
	if text != "" {
		text = " with " + text
	}
	return noAnswer("%s%s does not come within %s", method, text, w.setup.Wait)
}

func (w *world) noEvent(method, text string) error {
	var want any
	if text != "" {
		v, err := w.value(text)
		if err != nil {
			return errored("%v", err)
		}
		want = v
	}
	from := w.cur.mark
	if err := w.fence(w.cur); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.cur.frames[from:] {
		if f.method() == method && (want == nil || differs(want, f.root["params"], "") == "") {
			return failed("%s comes: %s", method, short(f.root["params"]))
		}
	}
	return nil
}

// turnAsks waits for what the turn asks; what was asked before does not count.
func (w *world) turnAsks(what string) error {
	method, member, name := oupwire.MethodApprovalRequested, "approval_id", "approval"
	if what == "asks the person" {
		method, member, name = oupwire.MethodUserQuestionRequested, "question_id", "question"
	}
	var found object
	err := w.until(w.cur, func() bool {
		for _, f := range w.cur.frames {
			params, _ := f.root["params"].(object)
			if f.method() == method && params["turn_id"] == w.vars["turn"] && params[member] != w.vars[name] {
				found = params
				return true
			}
		}
		return false
	})
	if err != nil {
		return missing("the turn does not ask: %s does not come within %s", method, w.setup.Wait)
	}
	if w.vars[name] != nil {
		w.vars[name+" before"] = w.vars[name]
	}
	w.vars[name], w.event = found[member], found
	return nil
}

// turnSays waits for a piece of an answer.
func (w *world) turnSays() error {
	want := object{"turn_id": w.vars["turn"], "payload": object{"type": "assistant_delta"}}
	if _, _, err := w.seek(w.cur, 0, oupwire.MethodProjectionEnvelope, want); err != nil {
		return missing("the turn says nothing within %s", w.setup.Wait)
	}
	return nil
}

func (w *world) turnEnds(end, text string) error {
	found, _, err := w.seek(w.cur, 0, oupwire.MethodProjectionEnvelope, object{"turn_id": w.vars["turn"], "payload": object{"type": "turn_terminal"}})
	if err != nil {
		return noAnswer("the turn does not end within %s%s", w.setup.Wait, w.why(w.cur))
	}
	data, _ := at(found, "payload.data")
	w.event = found
	if got, _ := at(data, "outcome"); got != end {
		return failed("the turn ends %s, want %s: %s", short(got), end, short(data))
	}
	if text == "" {
		return nil
	}
	want, err := w.value(text)
	if err != nil {
		return errored("%v", err)
	}
	if d := differs(want, data, ""); d != "" {
		return failed("the end of the turn: %s", d)
	}
	return nil
}

// order waits for frames, one behind the other; others may come between.
func (w *world) order(when string, table *godog.Table) error {
	from := 0
	if when == "come" {
		if err := w.offered(w.answer); err != nil {
			return err
		}
		from = w.cur.mark
	}
	before := ""
	for _, row := range rowsOf(table) {
		var want any
		if text := row["that is"]; text != "" {
			v, err := w.value(text)
			if err != nil {
				return errored("%v", err)
			}
			want = v
		}
		place := -1
		err := w.until(w.cur, func() bool {
			place = slices.IndexFunc(w.cur.frames[min(from, len(w.cur.frames)):], func(f frame) bool { return isFrame(f, row["frame"], want) })
			return place >= 0
		})
		if err != nil {
			what := row["frame"]
			if before != "" {
				what += " behind " + before
			}
			return failed("%s does not come within %s", what, w.setup.Wait)
		}
		from += place + 1
		before = row["frame"]
	}
	return nil
}

// isFrame reports whether a frame is an "answer", an "event METHOD" or a "piece TYPE", and as told.
func isFrame(f frame, what string, want any) bool {
	kind, name, _ := strings.Cut(what, " ")
	params, _ := f.root["params"].(object)
	switch kind {
	case "answer":
		result, there := f.root["result"]
		return there && (want == nil || differs(want, result, "") == "")
	case "error":
		fault, there := f.root["error"].(object)
		return there && (name == "" || errorName(fault) == name)
	case "event":
		return f.method() == name && (want == nil || differs(want, params, "") == "")
	case "piece":
		got, _ := at(params, "payload.type")
		data, _ := at(params, "payload.data")
		return f.method() == oupwire.MethodProjectionEnvelope && got == name && (want == nil || differs(want, data, "") == "")
	}
	return false
}

// rowsOf reads a table with a head.
func rowsOf(table *godog.Table) []map[string]string {
	var rows []map[string]string
	for _, r := range table.Rows[1:] {
		row := map[string]string{}
		for i, cell := range r.Cells {
			row[table.Rows[0].Cells[i].Value] = cell.Value
		}
		rows = append(rows, row)
	}
	return rows
}
