package hostreferee

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v34"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/wirejson"
)

// times reads how often something is to happen.
func times(text string) int {
	switch text {
	case "never":
		return 0
	case "once":
		return 1
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(text, " times"))
	return n
}

func (w *world) wasAsked(name, how, topic string) error {
	if err := w.castStarted(name); err != nil {
		return err
	}
	if n := len(w.questions(name, topic)); n != times(how) {
		return failed("%s was asked %q %d times, want %d%s", name, topic, n, times(how), w.lacked())
	}
	return nil
}

// lacked tells of tools that the model was to call and could not.
func (w *world) lacked() string {
	if list := w.talk.model.lacked(); list != nil {
		return fmt.Sprintf("; the model was not told of the tools %q", list)
	}
	return ""
}

func (w *world) wasStarted(name, how string) error {
	n := 0
	for _, p := range w.peers.list() {
		if p.plays(name) {
			n++
		}
	}
	if n != times(how) {
		return failed("%s was started %d times, want %d", name, n, times(how))
	}
	return nil
}

// castStarted keeps a host that starts nothing from keeping rules about what it starts.
func (w *world) castStarted(name string) error {
	for _, p := range w.peers.list() {
		if p.plays(name) {
			return nil
		}
	}
	return failed("the host did not start %s; it said: %s", name, strings.TrimSpace(w.talk.host.stderr.String()))
}

// eachHas looks at the params of every question about a topic: | pointer | what |.
func (w *world) eachHas(topic, name string, t *godog.Table) error {
	all := w.questions(name, topic)
	if len(all) == 0 {
		return failed("%s was never asked %q%s", name, topic, w.lacked())
	}
	for _, q := range all {
		for _, row := range t.Rows {
			if err := has(q.params, row.Cells[0].Value, row.Cells[1].Value); err != nil {
				return failed("%q to %s: %v", topic, name, err)
			}
		}
	}
	return nil
}

// nth takes one question, counted from one.
func (w *world) nth(n, topic, name string) (heard, error) {
	i, err := numeral(n)
	if err != nil {
		return heard{}, err
	}
	all := w.questions(name, topic)
	if len(all) < i {
		return heard{}, failed("%s was asked %q %d times, want at least %d%s", name, topic, len(all), i, w.lacked())
	}
	return all[i-1], nil
}

func (w *world) oneHas(n, topic, name string, t *godog.Table) error {
	q, err := w.nth(n, topic, name)
	if err != nil {
		return err
	}
	for _, row := range t.Rows {
		if err := has(q.params, row.Cells[0].Value, row.Cells[1].Value); err != nil {
			return failed("%q to %s, number %s: %v", topic, name, n, err)
		}
	}
	return nil
}

// hasJust compares the names of all members of objects: | pointer | names |.
func (w *world) hasJust(topic, name string, t *godog.Table) error {
	all := w.questions(name, topic)
	if len(all) == 0 {
		return failed("%s was never asked %q", name, topic)
	}
	for _, q := range all {
		for _, row := range t.Rows {
			var members map[string]json.RawMessage
			_ = json.Unmarshal(at(q.params, strings.TrimSuffix(row.Cells[0].Value, "/")), &members)
			got := strings.Join(slices.Sorted(maps.Keys(members)), " ")
			if got != row.Cells[1].Value {
				return failed("%q to %s: %s has the members %q, want %q", topic, name, row.Cells[0].Value, got, row.Cells[1].Value)
			}
		}
	}
	return nil
}

func (w *world) same(pointer, topic, name, other string) error {
	a, err := w.nth("1", topic, name)
	if err != nil {
		return err
	}
	b, err := w.nth("1", other, name)
	if err != nil {
		return err
	}
	if x, y := at(a.params, pointer), at(b.params, pointer); x == nil || !equalJSON(x, y) {
		return failed("%s of %q to %s is %s, and that of %q is %s", pointer, topic, name, x, other, y)
	}
	return nil
}

// skew is how much later than another one a frame may be reported that was written before it: two processes report.
const skew = 100 * time.Millisecond

// comesBefore compares by the clock of the referee. What a host writes in the wrong order shows if it waits for an
// answer in between.
func (w *world) comesBefore(n, topic, name, m, other string) error {
	a, err := w.nth(n, topic, name)
	if err != nil {
		return err
	}
	b, err := w.nth(m, other, name)
	if err != nil {
		return err
	}
	if a.came.After(b.came.Add(skew)) {
		return failed("%q number %s reaches %s behind %q number %s", topic, n, name, other, m)
	}
	return nil
}

// askedNothingBut wants every request to an extension to be one of the topics.
func (w *world) askedNothingBut(name string, t *godog.Table) error {
	if err := w.castStarted(name); err != nil {
		return err
	}
	for _, q := range w.questions(name, "") {
		known := slices.ContainsFunc(t.Rows, func(row *messages.PickleTableRow) bool { return row.Cells[0].Value == q.topic })
		if q.id != "" && !known {
			return failed("%s was asked %q", name, q.topic)
		}
	}
	return nil
}

// ownerHides wants the id of an owner to be another one than that of the session.
func (w *world) ownerHides(topic, name string) error {
	q, err := w.nth("1", topic, name)
	if err != nil {
		return err
	}
	owner, session := at(q.params, "/context/resource_owner/session_id"), at(q.params, "/context/host/session_id")
	if owner == nil || equalJSON(owner, session) {
		return failed("the owner of %q to %s is %s, and the session %s", topic, name, owner, session)
	}
	return nil
}

func (w *world) offersNot(name, feature string) error {
	q, err := w.nth("1", dialect.Initialize, name)
	if err != nil {
		return err
	}
	var offered []string
	_ = json.Unmarshal(at(q.params, "/protocol/optional_features"), &offered)
	if slices.Contains(offered, feature) {
		return failed("the host offers %s the feature %q", name, feature)
	}
	return nil
}

// redescribed gives every command another description.
func (w *world) redescribed(name string) error {
	m, err := w.plays(name)
	if err != nil {
		return err
	}
	for i, c := range m.part.Commands {
		m.part.Commands[i] = bytes.Replace(c, []byte(`"description":"`), []byte(`"description":"Anew: `), 1)
	}
	return w.write(m)
}

// jsonKinds are the words for what stands at a place, as JSON begins with it.
var jsonKinds = map[string]string{
	"a string": `"`, "an object": `{`, "a list": `[`, "a number": `-0123456789`, "a boolean": `tf`,
}

// has compares what stands at a JSON pointer with a word or a JSON value.
func has(params json.RawMessage, pointer, want string) error {
	got := at(params, pointer)
	first := byte(0)
	if got != nil {
		first = bytes.TrimSpace(got)[0]
	}
	alternatives := strings.Split(want, " or ")
	for _, want := range alternatives {
		begins, isKind := jsonKinds[want]
		pattern, isPattern := strings.CutPrefix(want, "a text like ")
		switch {
		case want == "nothing":
			if got == nil {
				return nil
			}
		case got == nil:
		case isKind:
			if strings.IndexByte(begins, first) >= 0 {
				return nil
			}
		case isPattern:
			if ok, err := regexp.MatchString("^(?:"+pattern+")$", textOf(got)); ok && err == nil {
				return nil
			}
		case equalJSON(got, []byte(want)):
			return nil
		}
	}
	if got == nil {
		return fmt.Errorf("%s is missing, want %s", pointer, want)
	}
	return fmt.Errorf("%s is %.200s, want %s", pointer, got, want)
}

// at finds what a JSON pointer names; nil if there is nothing.
func at(value json.RawMessage, pointer string) json.RawMessage {
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var members map[string]json.RawMessage
		var items []json.RawMessage
		n, err := strconv.Atoi(step)
		switch {
		case pointer == "":
		case json.Unmarshal(value, &members) == nil && members != nil:
			value = members[step]
		case err == nil && json.Unmarshal(value, &items) == nil && n >= 0 && n < len(items):
			value = items[n]
		default:
			return nil
		}
		if value == nil {
			return nil
		}
	}
	return value
}

func textOf(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text)
	return text
}

func equalJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(dialect.Encode(x), dialect.Encode(y))
}

// inFrontOf compares the first questions about two topics to one extension.
func (w *world) inFrontOf(first, name, second string) error {
	all := w.questions(name, "")
	find := func(topic string) int {
		return slices.IndexFunc(all, func(q heard) bool { return q.topic == topic || strings.HasPrefix(q.topic, topic+" ") })
	}
	i, j := find(first), find(second)
	switch {
	case i < 0:
		return failed("%q does not reach %s%s", first, name, w.lacked())
	case j < 0:
		return failed("%q does not reach %s%s", second, name, w.lacked())
	case i > j:
		return failed("%q reaches %s behind %q", first, name, second)
	}
	return nil
}

// Tolerance of a deadline of the host: how much earlier and later its end may be seen.
const (
	earlier = 300 * time.Millisecond
	later   = 3 * time.Second
)

// waits judges how long a host waits for an answer that never comes: until it writes to any extension, or asks the
// model.
func (w *world) waits(limit, name, topic string) error {
	n, err := strconv.Atoi(limit)
	if err != nil {
		return errored("%v", err)
	}
	asked := w.questions(name, topic)
	if len(asked) == 0 {
		return failed("%s was never asked %q%s", name, topic, w.lacked())
	}
	from := asked[0].came
	var next time.Time
	see := func(at time.Time) {
		if at.After(from) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, m := range w.talk.cast {
		for _, q := range w.questions(m.name, "") {
			// Others may be asked the same at the same time: that shows nothing.
			if q.id != "" && q.topic != topic || q.topic == dialect.Cancel {
				see(q.came)
			}
		}
	}
	for _, r := range w.talk.model.asked() {
		see(r.came)
	}
	want, got := time.Duration(n)*time.Millisecond, next.Sub(from)
	switch {
	case next.IsZero():
		return failed("the host did nothing behind %q to %s", topic, name)
	case got < want-earlier || got > want+later:
		return failed("the host waited %s for the answer of %s to %q, want %s", got.Round(time.Millisecond), name, topic, want)
	}
	return nil
}

// requestTells looks into one request to the model, counted from one.
func (w *world) requestTells(number, how, text string) error {
	n, err := numeral(number)
	if err != nil {
		return err
	}
	all := w.talk.model.asked()
	switch {
	case len(all) < n:
		return failed("the model was asked %d times, want %d%s", len(all), n, w.lacked())
	case strings.Contains(all[n-1].body, text) != (how == "tells"):
		return failed("it is not so that request %d to the model %s %q", n, how, text)
	}
	return nil
}

func (w *world) modelTold(how, text string) error {
	quoted := string(wirejson.AppendString(nil, text))
	inner := quoted[1 : len(quoted)-1]
	told := slices.ContainsFunc(w.talk.model.asked(), func(r modelRequest) bool { return strings.Contains(r.body, inner) })
	switch {
	case told && how == "not told":
		return failed("the model was told %q", text)
	case !told && how == "told":
		return failed("in %d requests the model was not told %q%s", len(w.talk.model.asked()), text, w.lacked())
	}
	return nil
}

// waitsForModel judges the pause in front of a request to the model, counted from one.
func (w *world) waitsForModel(limit, number string) error {
	n, err := numeral(limit)
	if err != nil {
		return err
	}
	i, err := numeral(number)
	if err != nil {
		return err
	}
	all := w.talk.model.asked()
	if len(all) < i {
		return failed("the model was asked %d times, want %d", len(all), i)
	}
	want, got := time.Duration(n)*time.Millisecond, all[i-1].came.Sub(all[i-2].came)
	if got < want-earlier || got > want+later {
		return failed("%s lie between the requests %d and %d to the model, want %s", got.Round(time.Millisecond), i-1, i, want)
	}
	return nil
}

// shortTexts bounds the text in the payload of every question.
func (w *world) shortTexts(topic, name, most string) error {
	n, err := numeral(most)
	if err != nil {
		return err
	}
	for _, q := range w.questions(name, topic) {
		if got := utf8.RuneCountInString(textOf(at(q.params, "/payload/text"))); got > n {
			return failed("%q to %s has a text of %d characters, want %d at most", topic, name, got, n)
		}
	}
	return nil
}

// anotherInstance compares the owner of a question with that of the first one about the topic.
func (w *world) anotherInstance(n, topic, name string) error {
	first, err := w.nth("1", topic, name)
	if err != nil {
		return err
	}
	q, err := w.nth(n, topic, name)
	if err != nil {
		return err
	}
	const instance, generation = "/context/resource_owner/extension_instance_id", "/context/resource_owner/process_generation"
	switch {
	case at(q.params, instance) == nil || equalJSON(at(q.params, instance), at(first.params, instance)):
		return failed("the instance of %q number %s to %s is %s, and that of the first was %s", topic, n, name, at(q.params, instance), at(first.params, instance))
	case string(at(q.params, generation)) != "1":
		return failed("the generation of %q number %s to %s is %s, want 1", topic, n, name, at(q.params, generation))
	}
	return nil
}

// allEnd judges the time between the first shutdown and the end of the host.
func (w *world) allEnd(limit string) error {
	n, err := numeral(limit)
	if err != nil {
		return err
	}
	var from time.Time
	for _, m := range w.talk.cast {
		for _, q := range w.questions(m.name, dialect.Shutdown) {
			if from.IsZero() || q.came.Before(from) {
				from = q.came
			}
		}
	}
	if from.IsZero() {
		return failed("no extension was asked to shut down")
	}
	// A busy machine is late with the end as well.
	if got, want := w.talk.gone.Sub(from), time.Duration(n)*time.Millisecond; got > want+max(later, w.setup.Grace)/2 {
		return failed("the host took %s to end its extensions, want %s at most", got.Round(time.Millisecond), want)
	}
	return nil
}

func (w *world) modelToldInOrder(first, second string) error {
	for _, r := range w.talk.model.asked() {
		i, j := strings.Index(r.body, first), strings.Index(r.body, second)
		switch {
		case i >= 0 && j >= 0 && i < j:
			return nil
		case i >= 0 && j >= 0:
			return failed("%q stands behind %q in what the model was told", first, second)
		}
	}
	return failed("no request to the model holds both %q and %q", first, second)
}

func (w *world) modelAsked(count string) error {
	want, err := numeral(count)
	if err != nil {
		return err
	}
	if n := len(w.talk.model.asked()); n != want {
		return failed("the model was asked %d times, want %d%s", n, want, w.lacked())
	}
	return nil
}

func (w *world) saysText(how, text string) error {
	said := strings.Contains(w.host.stdout+w.host.stderr, text)
	switch {
	case said && how == "does not say":
		return failed("the host said %q", text)
	case !said && how == "says":
		return failed("the host did not say %q; it said %.300q and %.300q", text, w.host.stdout, w.host.stderr)
	}
	return nil
}
