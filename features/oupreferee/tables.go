package oupreferee

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/generated/oupwire"
)

// eachCall makes the calls of a table; each row blames its own rule.
func (w *world) eachCall(table *godog.Table) error {
	var o outcome
	judged, why := 0, ""
	for _, row := range rowsOf(table) {
		params, err := w.params(row["params"])
		if err != nil {
			return errored("%v", err)
		}
		w.note()
		r, err := w.call(w.cur, row["call"], params)
		if err != nil {
			var end *outcome
			if errors.As(err, &end) && end.missing {
				return err
			}
			o.wrong(row["rule"], err.Error())
			break // what is not answered may come later, to confuse the next
		}
		w.answer = r
		expected := strings.Contains(row["ends"], oupwire.ErrMethodNotSupported.Name) || strings.Contains(row["ends"], oupwire.ErrPermissionDenied.Name)
		if r.fault != nil && (refusedAsUnsupported(r.fault) || forOthers(r.fault)) && !expected {
			why = row["call"]
			continue
		}
		judged++
		d, err := w.endsOtherwise(r, row["call"], row["ends"])
		if err != nil {
			return errored("%v", err)
		}
		if d != "" {
			o.wrong(row["rule"], d)
		}
	}
	if judged == 0 && o.text == "" {
		return notApplicable("the server does not offer %s", why)
	}
	return o.orNil()
}

// endsOtherwise compares an answer with: result [PATTERN], error NAME [kind KIND] [data PATTERN], error NAME without
// data.
func (w *world) endsOtherwise(r *reply, what, ends string) (string, error) {
	kind, rest, _ := strings.Cut(ends, " ")
	if kind == "result" {
		if r.fault != nil {
			return fmt.Sprintf("%s is refused: %s", what, short(r.fault)), nil
		}
		if rest == "" {
			return "", nil
		}
		want, err := w.value(rest)
		if err != nil {
			return "", err
		}
		if d := differs(want, r.result, ""); d != "" {
			return fmt.Sprintf("the answer to %s: %s", what, d), nil
		}
		return "", nil
	}
	if kind != "error" {
		return "", fmt.Errorf("a call ends with result or error, not %q", kind)
	}
	rest, bare := strings.CutSuffix(rest, " without data")
	if r.fault != nil && bare && r.fault["data"] != nil {
		return fmt.Sprintf("the error of %s has data, want none: %s", what, short(r.fault)), nil
	}
	rest, data, _ := strings.Cut(rest, " data ")
	name, word, _ := strings.Cut(rest, " kind ")
	return w.unlike(r, what, strings.TrimSpace(name), word, data)
}

// eachFrame sends frames as they are written. They are met with: silence, answer [as in endsOtherwise],
// error NAME [data PATTERN].
func (w *world) eachFrame(table *godog.Table) error {
	var o outcome
	for _, row := range rowsOf(table) {
		payload, id, err := w.raw(row["frame"])
		if err != nil {
			return errored("%v", err)
		}
		w.note()
		if err := w.send(w.cur, payload); err != nil {
			return err
		}
		if d, lost := w.metOtherwise(id, row["met"], payload); d != "" {
			o.wrong(row["rule"], d)
			if lost {
				break
			}
		}
	}
	return o.orNil()
}

func (w *world) metOtherwise(id any, met string, payload []byte) (text string, lost bool) {
	from := w.cur.mark
	kind, rest, _ := strings.Cut(met, " ")
	shown := fmt.Sprintf("%.60q", payload)
	switch kind {
	case "silence":
		if err := w.fence(w.cur); err != nil {
			return fmt.Sprintf("behind %s: %v", shown, err), true
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, f := range w.cur.frames[from:] {
			if f.root["id"] != fmt.Sprintf("r-%d", w.ids) && f.method() == "" {
				return fmt.Sprintf("%s is answered with %s, want silence", shown, short(f.root)), false
			}
		}
		return "", false
	case "answer":
		r, err := w.await(w.cur, id, shown)
		if err != nil {
			return err.Error(), true
		}
		if rest == "" {
			return "", false
		}
		if d, err := w.endsOtherwise(r, shown, rest); err != nil || d != "" {
			return d, false
		}
		return "", false
	}
	r, err := w.await(w.cur, nil, shown)
	if err != nil {
		// It may have been answered under its own id.
		if other := w.heard(from); other != "" {
			return fmt.Sprintf("%s is answered with %s, want an error with a null id", shown, other), false
		}
		return err.Error(), true
	}
	if r.id != nil {
		return fmt.Sprintf("the answer to %s has the id %s, want null", shown, short(r.id)), false
	}
	if d, err := w.endsOtherwise(r, shown, met); err != nil || d != "" {
		return d, false
	}
	if err := w.fence(w.cur); err != nil {
		return fmt.Sprintf("behind %s: %v", shown, err), true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, f := range w.cur.frames[from:] {
		if _, fault := f.root["error"]; fault {
			n++
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s is answered with %d errors, want one", shown, n), false
	}
	return "", false
}

// heard is the first answer since a place; empty for none.
func (w *world) heard(from int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.cur.frames[from:] {
		if f.method() == "" && f.root != nil {
			return short(f.root)
		}
	}
	return ""
}

// oneWrite sends all lines of a text at once and waits for every answer.
func (w *world) oneWrite(text *godog.DocString) error {
	var payloads [][]byte
	var ids []any
	for line := range strings.SplitSeq(strings.TrimSpace(text.Content), "\n") {
		payload, id, err := w.raw(strings.TrimSpace(line))
		if err != nil {
			return errored("%v", err)
		}
		payloads, ids = append(payloads, payload), append(ids, id)
	}
	w.note()
	if err := w.send(w.cur, payloads...); err != nil {
		return err
	}
	for i, id := range ids {
		r, err := w.await(w.cur, id, fmt.Sprintf("%.60q", payloads[i]))
		if err != nil {
			return err
		}
		w.answer = r
	}
	return nil
}

// eachUpgrade tries connections: header and query as name=value, separated by semicolons. A session is that of the
// route of one session; without one the route is that of every client.
func (w *world) eachUpgrade(table *godog.Table) error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.setup.Target.Transport == Stdio {
		return notApplicable("standard streams know no upgrade")
	}
	var o outcome
	for _, row := range rowsOf(table) {
		header, query, protocols := http.Header{}, []string(nil), []string(nil)
		for _, pair := range fields(row["header"]) {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			value = w.plainText(value)
			if name == "Sec-WebSocket-Protocol" {
				protocols = append(protocols, value)
				continue
			}
			header.Add(name, value)
		}
		for _, pair := range fields(row["query"]) {
			name, value, _ := strings.Cut(pair, "=")
			query = append(query, strings.TrimSpace(name)+"="+w.escaped(value))
		}
		path := ""
		if row["session"] != "" {
			path = ingress(w.escaped(row["session"]))
		}
		if d := w.upgradedOtherwise(path, strings.Join(query, "&"), header, protocols, row["answer"]); d != "" {
			o.wrong(row["rule"], d)
		}
	}
	return o.orNil()
}

func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
}

// escaped spells a value of a query; one behind a percent sign has every byte escaped.
func (w *world) escaped(value string) string {
	all, every := strings.CutPrefix(strings.TrimSpace(value), "%")
	value = w.plainText(all)
	if !every {
		return url.QueryEscape(value)
	}
	var b strings.Builder
	for _, c := range []byte(value) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func (w *world) plainText(text string) string {
	filled, _ := w.filled(strings.TrimSpace(text)).(string)
	return filled
}

// upgradedOtherwise compares an upgrade with: a status, and for 101 the subprotocol or features that are in force; or
// with "refused", which is any status of a client that is at fault, and behind "says" the words of which the text of the
// refusal has one.
func (w *world) upgradedOtherwise(path, query string, header http.Header, protocols []string, want string) string {
	ctx, cancel := w.bounded()
	defer cancel()
	what := w.hidden(fmt.Sprintf("an upgrade with %v %v %v", header, query, protocols))
	if path != "" {
		what += " to " + path
	}
	line, selected, err := w.server.Upgrade(ctx, path, query, header, protocols)
	status := http.StatusSwitchingProtocols
	var refused *refusal
	if errors.As(err, &refused) {
		status = refused.status
	} else if err != nil {
		return fmt.Sprintf("%s fails: %v", what, err)
	}
	code, rest, _ := strings.Cut(want, " ")
	if code == "refused" && refused != nil && status < http.StatusInternalServerError {
		return w.saysOtherwise(what, refused.text, rest)
	}
	if strconv.Itoa(status) != code {
		if line != nil {
			line.Close()
		}
		return fmt.Sprintf("%s is answered with %d, want %s", what, status, code)
	}
	if line == nil {
		return ""
	}
	kind, value, _ := strings.Cut(rest, " ")
	if kind == "subprotocol" {
		line.Close()
		if selected != strings.Trim(value, `"`) {
			return fmt.Sprintf("%s selects the subprotocol %q, want %s", what, selected, value)
		}
		return ""
	}
	c := w.adopt("upgrade", line, nil)
	if kind != "features" {
		c.line.Close()
		return ""
	}
	r, err := w.call(c, oupwire.MethodConfigCapabilitiesList, object{})
	if err != nil {
		return err.Error()
	}
	shown, _ := at(r.result, "capabilities.supported_features")
	for _, name := range strings.Split(w.plainText(value), " ") {
		if list, _ := shown.([]any); !slices.Contains(list, any(name)) {
			return fmt.Sprintf("%s: the feature %s is not in force: %s", what, name, short(shown))
		}
	}
	return ""
}

// saysOtherwise compares the text of a refusal with: says ONE or ANOTHER.
func (w *world) saysOtherwise(what, text, want string) string {
	words, says := strings.CutPrefix(want, "says ")
	if !says {
		return ""
	}
	for word := range strings.SplitSeq(words, " or ") {
		if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			return ""
		}
	}
	return fmt.Sprintf("%s is refused with the text %s, which lacks what to use: %s", what, short(w.hidden(text)), words)
}

// callsAll calls every request of the protocol with nothing in it: what is listed is not refused as unsupported,
// and all else is.
func (w *world) callsAll() error {
	w.note()
	r, err := w.call(w.cur, oupwire.MethodConfigCapabilitiesList, object{})
	if err != nil {
		return err
	}
	listed, _ := at(r.result, "capabilities.supported_methods")
	supported, _ := listed.([]any)
	var o outcome
	for _, m := range requests() {
		if m.Name == oupwire.MethodServerShutdown || m.Name == oupwire.MethodClientHello {
			continue
		}
		w.note()
		r, err := w.call(w.cur, m.Name, object{})
		if err != nil {
			o.wrong("", err.Error())
			break
		}
		callable := r.fault == nil || !refusedAsUnsupported(r.fault) && errorName(r.fault) != oupwire.ErrMethodNotFound.Name
		if kind, _ := at(r.fault, "data.kind"); r.fault != nil && (kind == "auth_unavailable" || kind == kindForOne) {
			callable = false
		}
		switch named := slices.Contains(supported, any(m.Name)); {
		case named && !callable:
			o.wrong("", fmt.Sprintf("%s is listed as supported and refused: %s", m.Name, short(r.fault)))
		case !named && callable:
			o.wrong("", fmt.Sprintf("%s is not listed as supported and carried out: %s", m.Name, short(r.result)))
		}
	}
	if o.text != "" {
		return failed("%s", o.text)
	}
	return nil
}

func (w *world) connectionEnds(code string) error {
	err := w.until(w.cur, func() bool { return w.cur.ended && !w.cur.flood })
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && (!w.cur.ended || w.cur.flood) {
		return noAnswer("the connection does not end within %s", w.setup.Wait)
	}
	if code != "" && w.setup.Target.Transport == WebSocket && strconv.Itoa(w.cur.code) != code {
		return failed("the connection ends with the code %d, want %s", w.cur.code, code)
	}
	return nil
}

// looks is the pause between two looks whether a process has ended.
const looks = 5 * time.Millisecond

func (w *world) serverEnds() error {
	patience := w.patience()
	defer patience.Stop()
	for {
		if ended, _ := w.server.Ended(); ended {
			return nil
		}
		select {
		case <-patience.C:
			if !patience.Extended() {
				return noAnswer("the server does not end within %s", w.setup.Wait)
			}
		case <-w.ctx.Done():
			return errored("interrupted")
		case <-time.After(looks):
		}
	}
}

func (w *world) heartbeat() error {
	if !w.setup.Beats {
		return notApplicable("a heartbeat takes %d ms; --beats waits for it", oupwire.HeartbeatIntervalMs)
	}
	wait := w.setup.Wait
	defer func() { w.setup.Wait = wait }()
	patient := *w.setup
	patient.Wait += max(w.setup.Target.Heartbeat, 0)
	if w.setup.Target.Inside == nil {
		patient.Wait += oupwire.HeartbeatIntervalMs * time.Millisecond
	}
	w.setup = &patient
	if _, _, err := w.seek(w.cur, 0, oupwire.MethodServerHeartbeat, nil); err != nil {
		return failed("no heartbeat comes within %s", w.setup.Wait)
	}
	return nil
}

// control looks at what is below frames.
func (w *world) control(what string) error {
	s, is := w.cur.line.(*socket)
	if !is {
		return notApplicable("standard streams know no messages")
	}
	if what == "binary message" {
		w.note()
		if err := s.sendBinary([]byte(`{"jsonrpc":"2.0","id":"binary","method":"` + oupwire.MethodConfigCapabilitiesList + `","params":{}}`)); err != nil {
			return missing("%v", err)
		}
		from := w.cur.mark
		if err := w.fence(w.cur); err != nil {
			return failed("behind a binary message: %v", err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, f := range w.cur.frames[from:] {
			if f.root["id"] == "binary" || f.root["id"] == nil && f.method() == "" {
				return failed("a binary message is answered with %s", short(f.root))
			}
		}
		return nil
	}
	ctx, cancel := w.bounded()
	defer cancel()
	if err := s.ping(ctx); err != nil {
		return failed("a Ping gets no Pong: %v", err)
	}
	return nil
}

// nothingHeard waits until everything that was caused has come; the monitor says what was wrong.
func (w *world) nothingHeard() error {
	if w.why(w.cur) != "" {
		return nil
	}
	return w.fence(w.cur)
}

// alike makes the same calls over both transports and compares the answers, with what is of one run alone left out.
func (w *world) alike(table *godog.Table) error {
	if w.setup.Other == nil {
		return notApplicable("the server is known over one transport alone")
	}
	var answers [2][]any
	for i, target := range []*Target{&w.setup.Target, w.setup.Other} {
		setup := *w.setup
		setup.Target = *target
		other, err := newWorld(w.ctx, &setup)
		if err != nil {
			return errored("%v", err)
		}
		answers[i], err = other.exchange(rowsOf(table))
		other.close()
		if err != nil {
			return err
		}
	}
	for i, row := range rowsOf(table) {
		for _, pair := range [][2]any{{answers[0][i], answers[1][i]}, {answers[1][i], answers[0][i]}} {
			if d := differs(pair[0], pair[1], ""); d != "" {
				return failed("%s is answered otherwise over the other transport: %s", row["call"], d)
			}
		}
	}
	return nil
}

func (w *world) exchange(rows []map[string]string) ([]any, error) {
	if err := w.connects("", ""); err != nil {
		return nil, err
	}
	w.vars["session"] = "local:conform-alike"
	w.vars["turn"] = newID()
	var out []any
	for _, row := range rows {
		params, err := w.params(strings.ReplaceAll(row["params"], "«say»", strings.ReplaceAll(w.setup.Ask.Text, `"`, `\"`)))
		if err != nil {
			return nil, errored("%v", err)
		}
		w.note()
		r, err := w.call(w.cur, row["call"], params)
		if err != nil {
			return nil, err
		}
		if row["then"] == "the turn ends" {
			if err := w.turnEnds("completed", ""); err != nil {
				return nil, err
			}
		}
		var shown any = r.result
		if r.fault != nil {
			shown = object{"error": r.fault}
		}
		out = append(out, normal(plain(shown), ""))
	}
	return out, nil
}

// normal leaves out what differs between two runs of one exchange.
func normal(v any, name string) any {
	switch v := v.(type) {
	case object:
		delete(v, "capabilities")
		out := object{}
		for member, each := range v {
			out[uuidInside.ReplaceAllString(member, "one of its kind")] = normal(each, member)
		}
		return out
	case []any:
		for i := range v {
			v[i] = normal(v[i], name)
		}
		return v
	case string:
		switch {
		case uuidText.MatchString(v), strings.Contains(v, "/octet-oup-"):
			return "one of its kind"
		}
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return "a moment"
		}
		return uuidInside.ReplaceAllString(v, "one of its kind")
	}
	if strings.HasSuffix(name, "_hash") || strings.HasSuffix(name, "_ms") || name == "timestamp_unix" {
		return "of one run"
	}
	return v
}
