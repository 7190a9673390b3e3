package hostreferee

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// sentWith holds a message of a method that the host sent, the first or a later one, against a table of members, by
// JSON pointer, and what they have to be: a JSON value, or one of the words of memberIs.
func (w *world) sentWith(_ context.Context, method, which string, t *godog.Table) error {
	var frame json.RawMessage
	n, err := numeral(which)
	if err != nil {
		return err
	}
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if hostMethod(f) == method {
				if n--; n == 0 {
					frame = f.Bytes
				}
			}
		}
	}
	if frame == nil {
		return failed("the host did not send %q (so often); it ended with code %d: %s", method, w.host.code, w.complaint())
	}
	var o outcome
	for _, cells := range cellsOf(t) {
		member := pointed(frame, cells["member"])
		if cells["member"] == "times" {
			member = json.RawMessage(strconv.Itoa(w.count(method)))
		}
		fault := w.memberIs(frame, member, cells["value"])
		if fault == "" {
			continue
		}
		text := fmt.Sprintf("%s of %q is %s, want %s", cells["member"], method, orNothing(member), fault)
		if o.text == "" {
			o.class, o.text = verdict.Fail, text
		}
		if cells["rule"] != "" {
			o.blamed = append(o.blamed, verdict.Finding{Rule: cells["rule"], Message: text, Frame: -1, Offset: -1})
		}
	}
	if o.text == "" {
		return nil
	}
	return &o
}

// cellsOf are the rows of a table behind its first, by column.
func cellsOf(t *godog.Table) []map[string]string {
	var rows []map[string]string
	for _, row := range t.Rows[1:] {
		cells := map[string]string{}
		for c, cell := range row.Cells {
			cells[t.Rows[0].Cells[c].Value] = cell.Value
		}
		rows = append(rows, cells)
	}
	return rows
}

func orNothing(v json.RawMessage) string {
	if v == nil {
		return "absent"
	}
	return wire.Printable(v, 200)
}

// memberIs returns what a member should have been; empty where it is that.
func (w *world) memberIs(frame, member json.RawMessage, want string) string {
	var list []string
	var object map[string]json.RawMessage
	names := json.Unmarshal(member, &list) == nil && list != nil
	offered := func(what string) []string {
		var out []string
		for _, necessity := range []string{"required", "optional"} {
			var part []string
			_ = json.Unmarshal(pointed(frame, "/params/contract/"+necessity+"_"+what), &part)
			out = append(out, part...)
		}
		return out
	}
	same := func(rows []string) bool {
		return names && slices.Equal(slices.Sorted(slices.Values(list)), slices.Sorted(slices.Values(rows)))
	}
	var capabilities, methods []string // that are required
	for _, c := range cw.Capabilities {
		if c.Offer == "required" {
			capabilities = append(capabilities, c.Name)
		}
	}
	for _, m := range cw.Methods {
		if m.Offer == "required" {
			methods = append(methods, m.Name)
		}
	}
	right := false
	switch want {
	case "an object":
		right = json.Unmarshal(member, &object) == nil && object != nil
	case "the time in milliseconds":
		n, err := strconv.ParseInt(string(member), 10, 64)
		right = err == nil && time.Since(time.UnixMilli(n)).Abs() < time.Hour
	case "the first binding":
		right = string(member) == string(pointed(w.binding(), "/params/binding_id"))
	case "the working directory":
		right = string(member) == string(dialect.Encode(w.peers.list()[0].facts.Directory))
	case "the required capabilities":
		right = same(capabilities)
	case "the required methods":
		right = same(methods)
	case "open capabilities only":
		right = names && !slices.ContainsFunc(list, func(name string) bool {
			i := slices.IndexFunc(cw.Capabilities, func(c wirejson.Capability) bool { return c.Name == name })
			return i >= 0 && cw.Capabilities[i].Offer == "unavailable"
		})
	case "open methods only":
		right = names && !slices.ContainsFunc(list, func(name string) bool {
			m := cw.LookupMethod(name)
			return m != nil && m.Offer == "unavailable"
		})
	case "methods of this wire only":
		right = names && !slices.ContainsFunc(list, func(name string) bool { return cw.LookupMethod(name) == nil })
	case "methods of what is offered only":
		right = names && !slices.ContainsFunc(list, func(name string) bool {
			m := cw.LookupMethod(name)
			return m != nil && !slices.Contains(offered("capabilities"), m.Gate)
		}) && !slices.ContainsFunc(offered("capabilities"), func(name string) bool {
			return !slices.ContainsFunc(offered("methods"), func(method string) bool {
				m := cw.LookupMethod(method)
				return m != nil && m.Gate == name || slices.Contains(capabilities, name)
			})
		})
	default:
		low, high, isRange := strings.Cut(strings.TrimPrefix(want, "from "), " to ")
		if n, err := strconv.ParseInt(string(member), 10, 64); isRange && err == nil {
			least, _ := strconv.ParseInt(low, 10, 64)
			most, _ := strconv.ParseInt(high, 10, 64)
			right = n >= least && n <= most
		} else {
			right = string(member) == want
		}
	}
	if right {
		return ""
	}
	return want
}

// binding is the first notice about the bus; nil for none.
func (w *world) binding() json.RawMessage {
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if hostMethod(f) == cw.MethodBusLifecycle {
				return f.Bytes
			}
		}
	}
	return nil
}

// answeredInFrontOf holds the order of an answer and the first message of a method.
func (w *world) answeredInFrontOf(id, method string) error {
	answered := false
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			switch {
			case f.Lane == wire.ToSubject && string(pointed(f.Bytes, "/id")) == strconv.Quote(id):
				answered = true
			case hostMethod(f) == method && !answered:
				return failed("%q came in front of the answer to %q", method, id)
			case hostMethod(f) == method:
				return nil
			}
		}
	}
	return failed("the host did not send %q", method)
}

// leasesAreReady judges every answer about an authorization.
func (w *world) leasesAreReady() error {
	for id, method := range w.extensionMethods() {
		if method != cw.MethodProviderAuthRequest && method != cw.MethodProviderAuthRevoke {
			continue
		}
		var lease string
		result := pointed(w.answerTo(id), "/result")
		_ = json.Unmarshal(pointed(result, "/lease"), &lease)
		ready := string(pointed(result, "/status")) == strconv.Quote(string(cw.ProviderAuthorizationStatusReady))
		switch {
		case !ready && pointed(result, "/lease") != nil:
			return &outcome{class: verdict.Fail, text: "a lease without being ready: " + wire.Printable(result, 200), blamed: accuse("EXT03-AUTH-005", "a lease without being ready")}
		case len(lease) > cw.MaxProviderAuthLeaseBytes:
			return &outcome{class: verdict.Fail, text: "a lease that is too long", blamed: accuse("EXT03-AUTH-006", fmt.Sprintf("a lease of %d bytes", len(lease)))}
		}
	}
	return nil
}

func accuse(rule, text string) []verdict.Finding {
	return []verdict.Finding{{Rule: rule, Message: text, Frame: -1, Offset: -1}}
}

// sessionsAreNew judges that what was made is neither the session in front nor twice the same.
func (w *world) sessionsAreNew() error {
	id := func(request string) string {
		return string(pointed(w.answerTo(strconv.Quote(request)), "/result/session_id"))
	}
	created, forked, front := id("created"), id("forked"), id("reloaded")
	if created == forked || created == front || forked == front {
		text := fmt.Sprintf("a session was made as %s, a copy as %s, and %s is in front", created, forked, front)
		return &outcome{class: verdict.Fail, text: text, blamed: accuse("EXT03-SESSION-004", text)}
	}
	return nil
}

// answeredAlike holds a member of a result against that of another one.
func (w *world) answeredAlike(request, member, other string) error {
	of := func(id string) json.RawMessage {
		return pointed(w.answerTo(strconv.Quote(id)), "/result/"+member)
	}
	if got, want := of(request), of(other); string(got) != string(want) {
		return failed("the %s of %q is %s, want that of %q, %s", member, request, orNothing(got), other, orNothing(want))
	}
	return nil
}

// callsInSession calls a tool. A host that offers what the script selects only where a session owns it gets to have
// its model call the tool, in a conversation.
func (w *world) callsInSession(ctx context.Context, tool string) error {
	err := w.calls(ctx, cmp.Or(tool, faultypeer.ToolEcho), "")
	if err != nil || w.setup.Talk == nil || w.offers(w.script.service()) == nil {
		return err
	}
	w.peers.forget()
	w.host = nil
	if _, err := w.plays(extensionName); err != nil {
		return err
	}
	if tool == "" {
		if err := w.begin(); err != nil {
			return err
		}
		w.awaitAnswers()
		return w.ends(ctx)
	}
	if err := w.modelCalls(tool, string(dialect.Encode(dialect.Object{"text": w.token}))); err != nil {
		return err
	}
	if err := w.line("say something to the model", w.setup.Talk.Prompt, PlaceText, "Use the tool."); err != nil {
		return err
	}
	w.awaitAnswers()
	return w.ends(ctx)
}

// servesInSession keeps a conversation open until the extension has its answers. Nobody says anything in it, so that
// what waits for a quiet moment has one.
func (w *world) servesInSession(ctx context.Context) error { return w.callsInSession(ctx, "") }

func (w *world) awaitAnswers() {
	w.peers.await(w.setup.Wait/4, func(all []*peer) bool {
		return w.talk.over() || len(all) > 0 && (all[0].gone || w.script.answered(all[0]))
	})
}

// answered reports whether every answer that a script waits for has come.
func (s *plot) answered(p *peer) bool {
	given := map[string]bool{}
	for _, f := range p.frames {
		if f.Lane == wire.ToSubject && hostMethod(f) == "" {
			given[string(pointed(f.Bytes, "/id"))] = true
		}
	}
	return !slices.ContainsFunc(s.Moves, func(m move) bool {
		id, waits := strings.CutPrefix(m.On, "answer ")
		return waits && !given[id]
	})
}

// startedAsWritten holds the arguments of the extension against those of its manifest.
func (w *world) startedAsWritten() error {
	if err := w.started(); err != nil {
		return err
	}
	want, _ := w.plotted()
	if got := w.peers.list()[0].facts.Args; len(got) < 1 || !slices.Equal(got[1:], want) {
		return failed("the extension was started with the arguments %q, want those of its manifest, %q", got, want)
	}
	return nil
}
