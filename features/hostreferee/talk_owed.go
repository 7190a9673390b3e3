package hostreferee

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/actor"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// registerOwed binds the phrases about what a host answers in a conversation, and about the machine that it is on.
func registerOwed(sc *godog.ScenarioContext) {
	of := func(ctx context.Context) *world { return ctx.Value(worldKey{}).(*world) }
	two := func(expr string, do func(w *world, a, b string) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a, b string) error { return do(of(ctx), a, b) })
	}
	three := func(expr string, do func(w *world, a, b, c string) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a, b, c string) error { return do(of(ctx), a, b, c) })
	}
	two(`"([^"]+)" has asked "([^"]+)"`, (*world).hasAsked)
	three(`the host answers "([^"]+)" of "([^"]+)" with (a result|an error)`, (*world).answersAsk)
	sc.Step(pattern(`^the machine has the variable "([^"]+)"$`), func(ctx context.Context, name string) error {
		w := of(ctx)
		if w.talk == nil {
			return errored("the scenario has no extension yet; name it first")
		}
		w.talk.variables = append(w.talk.variables, name)
		return nil
	})
	two(`the manifest of "([^"]+)" lists the variable "([^"]+)"`, func(w *world, name, variable string) error {
		m, err := w.plays(name)
		if err == nil {
			m.variables = append(m.variables, variable)
		}
		return err
	})
	three(`"([^"]+)" is (given|not given) the variable "([^"]+)"`, (*world).givenVariable)
	sc.Step(pattern(`^the host neither tells nor keeps the values of variables$`), func(ctx context.Context) error { return of(ctx).keepsNoValue() })
	sc.Step(pattern(`^the host keeps "([^"]+)" in no file$`), func(ctx context.Context, text string) error { return of(ctx).keepsNot(text) })
	sc.Step(pattern(`^the host offers "([^"]+)" the features(, or there is nothing to judge)?$`), func(ctx context.Context, name, or string, t *godog.Table) error {
		return of(ctx).offersAll(name, or != "", t)
	})
	two(`the extension "([^"]+)" names the command "([^"]+)" at its start alone`, func(w *world, name, command string) error {
		m, err := w.plays(name)
		if err == nil {
			m.part.Commands = append(m.part.Commands, actor.Command(command))
		}
		return err
	})
	sc.Step(pattern(`^the texts of "([^"]+)" to "([^"]+)" have "([^"]+)" at most (\d+) times$`), func(ctx context.Context, topic, name, letter, most string) error {
		return of(ctx).textsHave(topic, name, letter, most)
	})
}

// valueOf is the value of a variable of the machine, which stands nowhere else.
func valueOf(variable string) string { return "the-value-of-" + strings.ToLower(variable) }

// hasAsked waits until an extension has written a request and the host has taken it, which its answer shows. One that is
// still in the pipe when the host ends need not be answered. A host that answers nothing may go on: what becomes of that
// is for the steps behind this one.
func (w *world) hasAsked(name, method string) error {
	asked := false
	err := w.comes(name+" asks "+method, func(all []*peer) bool {
		for _, p := range all {
			if !p.plays(name) {
				continue
			}
			open := map[string]bool{}
			for _, f := range p.frames {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				if json.Unmarshal(f.Bytes, &m) != nil {
					continue
				}
				switch {
				case f.Lane == wire.FromSubject && m.Method == method:
					asked, open[string(m.ID)] = true, true
				case f.Lane == wire.ToSubject && m.Method == "" && open[string(m.ID)]:
					return true
				}
			}
		}
		return false
	})
	if asked {
		return nil
	}
	return err
}

// answersAsk looks at the answers to what an extension has asked, once it has asked anything. Where the host does
// not offer what opens the method, nothing is to be judged.
func (w *world) answersAsk(method, name, how string) error {
	if err := w.castStarted(name); err != nil {
		return err
	}
	offer, err := w.nth("1", dialect.Initialize, name)
	if err != nil {
		return err
	}
	gate := negotiation.GateFeature(w.setup.Dialect.Gate(method))
	if featurewire.LookupFeature(gate) != nil && !bytes.Contains(offer.params, dialect.Encode(gate)) {
		return &outcome{class: verdict.NotApplicable, text: "the host does not offer the feature " + gate}
	}
	asked, answered := 0, 0
	for _, p := range w.peers.list() {
		if !p.plays(name) {
			continue
		}
		open := map[string]bool{}
		for _, f := range p.frames {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Result json.RawMessage `json:"result"`
				Error  json.RawMessage `json:"error"`
			}
			if json.Unmarshal(f.Bytes, &m) != nil {
				continue
			}
			switch {
			case f.Lane == wire.FromSubject && m.Method == method:
				asked++
				open[string(m.ID)] = true
			case f.Lane == wire.ToSubject && m.Method == "" && open[string(m.ID)]:
				answered++
				if (m.Error != nil) != (how == "an error") {
					return failed("the host answers %s of %s with %.300s, want %s", method, name, f.Bytes, how)
				}
			}
		}
	}
	switch {
	case asked == 0:
		return failed("%s never had an occasion to ask %s%s", name, method, w.lacked())
	case answered < asked:
		return failed("the host answers %d of %d times that %s asks %s", answered, asked, name, method)
	}
	return nil
}

// offersAll looks into every offer to an extension.
func (w *world) offersAll(name string, optional bool, t *godog.Table) error {
	all := w.questions(name, dialect.Initialize)
	if len(all) == 0 {
		return w.castStarted(name)
	}
	for _, q := range all {
		var offered []string
		_ = json.Unmarshal(at(q.params, "/protocol/optional_features"), &offered)
		for _, row := range t.Rows {
			feature := row.Cells[0].Value
			switch {
			case slices.Contains(offered, feature):
			case optional:
				return &outcome{class: verdict.NotApplicable, text: "the host does not offer the feature " + feature}
			default:
				return failed("the host does not offer %s the feature %q", name, feature)
			}
		}
	}
	return nil
}

// givenVariable looks into the environment that every start of an extension has found.
func (w *world) givenVariable(name, how, variable string) error {
	if err := w.castStarted(name); err != nil {
		return err
	}
	for _, p := range w.peers.list() {
		if !p.plays(name) {
			continue
		}
		given := slices.Contains(p.facts.Env, variable+"="+valueOf(variable))
		if given != (how == "given") {
			return failed("%s of the machine: it is not so that %s is %s it", variable, name, how)
		}
	}
	return nil
}

// keepsNoValue looks for the values of variables in what the host wrote: to extensions, to the model, to the person,
// and into files.
func (w *world) keepsNoValue() error {
	told := map[string]string{"standard output": w.host.stdout, "standard error": w.host.stderr}
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if f.Lane == wire.ToSubject {
				told["a frame"] += string(f.Bytes)
			}
		}
	}
	for _, r := range w.talk.model.asked() {
		told["a request to the model"] += r.body
	}
	for _, variable := range w.talk.variables {
		for where, text := range told {
			if strings.Contains(text, valueOf(variable)) {
				return failed("the value of %s stands in %s", variable, where)
			}
		}
		if err := w.keepsNot(valueOf(variable)); err != nil {
			return err
		}
	}
	return nil
}

// keepsNot looks for a text in every file that the host has written.
func (w *world) keepsNot(text string) error {
	for _, folder := range []string{workspaceFolder, homeFolder} {
		if err := holdsNot(filepath.Join(w.root, folder), text); err != nil {
			return err
		}
	}
	return nil
}

func holdsNot(folder, piece string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return errorOf(err)
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(piece)) {
			return failed("%q stands in the file %s", piece, filepath.Base(path))
		}
		return errorOf(err)
	})
}

// textsHave counts a piece of text in the payloads of all questions about a topic together. Where it is not found at
// all, nothing is to be judged.
func (w *world) textsHave(topic, name, letter, most string) error {
	n, err := numeral(most)
	if err != nil {
		return err
	}
	got := 0
	all := w.questions(name, topic)
	for _, q := range all {
		got += strings.Count(textOf(at(q.params, "/payload/text")), letter)
	}
	switch {
	case len(all) == 0:
		return failed("%s was never asked %q%s", name, topic, w.lacked())
	case got == 0:
		return &outcome{class: verdict.NotApplicable, text: "what the host gives " + name + " holds nothing of that"}
	case got > n:
		return failed("the texts of %q to %s have %q %d times, want %d times at most", topic, name, letter, got, n)
	}
	return nil
}

// picture is a sound image of one dot.
var picture = func() string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // nothing can fail in memory
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}()

// draws answers a batch with pictures.
func draws(count string) (actor.Reply, error) {
	n, err := numeral(count)
	if err != nil {
		return actor.Reply{}, err
	}
	frames := make([]any, n)
	for i := range frames {
		frames[i] = picture
	}
	return actor.Reply{Result: dialect.Encode(dialect.Object{"compaction_frames": frames})}, nil
}

// telling makes notifications of messages.
func telling(list []actor.Message) []actor.Message {
	for i := range list {
		list[i].Tell = true
	}
	return list
}

// messagesOf reads one or more requests: METHOD PARAMS, joined by "and then".
func messagesOf(text string) (list []actor.Message) {
	for _, one := range strings.Split(text, " and then ") {
		method, params, _ := strings.Cut(one, " ")
		list = append(list, actor.Message{Method: method, Params: json.RawMessage(params)})
	}
	return list
}
