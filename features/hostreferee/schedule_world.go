package hostreferee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// seedsOfSchedule is how many seeds a scenario runs a schedule under: that of the run, and those behind it.
const seedsOfSchedule = 3

// stage is where an extension follows a script, under one seed or several.
type stage struct {
	script  *plot    // nil for a peer
	seed    int64    // of its schedule
	subs    []*world // one for each seed of a schedule
	failing *world   // the one of them that a step failed with
}

// schedulePhrases are the steps about extensions that play.
func schedulePhrases() []phrase {
	return []phrase{
		{`an extension with the script`, (*world).scripted},
		{`an extension under the schedule "([^"]+)"`, (*world).scheduled},
		{`the extension is answered`, (*world).answersAre},
		{`the host sent "([^"]+)"(?: for the (\d)(?:st|nd|rd|th) time)? with`, (*world).sentWith},
		{`the host answered "([^"]+)" in front of "([^"]+)"`, (*world).answeredInFrontOf},
		{`a lease stands in answers that are ready alone`, (*world).leasesAreReady},
		{`the sessions that were made are new ones`, (*world).sessionsAreNew},
		{`the host answered "([^"]+)" with the "([^"]+)" of "([^"]+)"`, (*world).answeredAlike},
		{`the host serves the extension in a session`, (*world).servesInSession},
		{`the host calls the tool "([^"]+)" in a session`, (*world).callsInSession},
		{`the extension has the arguments of its manifest`, (*world).startedAsWritten},
	}
}

// scripted makes an extension that does what a script says.
func (w *world) scripted(text *godog.DocString) error {
	s, err := parsePlot(text.Content)
	if err != nil {
		return errored("%v", err)
	}
	return w.perform(s)
}

func (w *world) perform(s plot) error {
	s.API = w.setup.Dialect.API()
	w.script = &s
	if err := w.given(""); err != nil {
		return err
	}
	if err := s.save(w.plotFile()); err != nil {
		return errored("%v", err)
	}
	return nil
}

// plotFile lies beside the extension: nothing of its directory is the player's own.
func (w *world) plotFile() string { return filepath.Join(w.root, "script.json") }

// scheduled makes an extension for each seed. Every step behind it is done with each of them.
func (w *world) scheduled(name string) error {
	for i := range int64(seedsOfSchedule) {
		seed := w.setup.Seed + i
		s, found := scheduleOf(name, seed, w.setup.Dialect)
		if !found {
			return errored("no schedule is called %q on API %s", name, w.setup.Dialect.API())
		}
		sub, err := newWorld(w.setup)
		if err != nil {
			return errored("%v", err)
		}
		w.subs = append(w.subs, sub)
		sub.seed = seed
		if err := sub.perform(s); err != nil {
			return err
		}
	}
	return nil
}

// each does a step with the world of every seed. A failure names the seed and how to see it again.
func (w *world) each(do func(*world) error) error {
	if len(w.subs) == 0 {
		return do(w)
	}
	// The hosts of all seeds run at a time: most of what they do is to wait.
	errs := make([]error, len(w.subs))
	var wg sync.WaitGroup
	for i, sub := range w.subs {
		wg.Go(func() { errs[i] = do(sub) })
	}
	wg.Wait()
	for i, err := range errs {
		sub := w.subs[i]
		var o *outcome
		if errors.As(err, &o) && o.class != verdict.NotApplicable {
			w.failing = sub
			seeded := *o
			seeded.text = fmt.Sprintf("under seed %d: %s (repeat it with --seed %d)", sub.seed, o.text, sub.seed)
			return &seeded
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// answersAre holds the host's answers to requests of a player against a table of ids and answers, as the tables
// of asks want them. "cancelled" wants no answer and one cancellation.
func (w *world) answersAre(_ context.Context, t *godog.Table) error {
	if err := w.started(); err != nil {
		return err
	}
	said, methods := w.hostAnswers(), w.extensionMethods()
	var o outcome
	for i, cells := range cellsOf(t) {
		if !strings.HasPrefix(cells["request"], `"`) && !isNumber(cells["request"]) {
			cells["request"] = strconv.Quote(cells["request"])
		}
		a := askRow{row: i + 1, id: cells["request"], method: methods[cells["request"]], want: cells["answer"], rule: cells["rule"]}
		if a.method == "" && a.want != wantNothing {
			return failed("request %s: the extension did not come to ask it", a.id)
		}
		want, data, _ := strings.Cut(a.want, " data ")
		a.want = want
		fault := a.judge(w.setup.Dialect, said[a.id])
		if fault != "" && len(said[a.id]) == 0 && slices.Contains(strings.Split(a.want, " or "), "cancelled") && w.cancellations(a.id) == 1 {
			fault = ""
		}
		if got := pointed(w.answerTo(a.id), "/error/data"); fault == "" && data != "" && string(got) != data {
			fault = fmt.Sprintf("the data of the error are %s, want %s", orNothing(got), data)
		}
		if len(said[a.id]) > 0 && w.cancellations(a.id) > 0 {
			fault = "it was cancelled, and answered all the same"
		}
		if fault != "" {
			o.wrong(a.rule, fmt.Sprintf("request %s, %q: %s", a.id, a.method, fault))
		}
	}
	return o.orNil()
}

// extensionMethods are the methods of the extension's requests, by id as spelled.
func (w *world) extensionMethods() map[string]string {
	out := map[string]string{}
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			if f.Lane == wire.FromSubject && json.Unmarshal(f.Bytes, &m) == nil && m.Method != "" {
				out[string(m.ID)] = m.Method
			}
		}
	}
	return out
}

// answerTo is the first frame with which the host answered a request; nil for none.
func (w *world) answerTo(id string) json.RawMessage {
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method json.RawMessage `json:"method"`
			}
			if f.Lane == wire.ToSubject && json.Unmarshal(f.Bytes, &m) == nil && m.Method == nil && string(m.ID) == id {
				return f.Bytes
			}
		}
	}
	return nil
}

// cancellations counts those that name a request, over all starts.
func (w *world) cancellations(id string) int {
	n := 0
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if hostMethod(f) == dialect.Cancel && string(pointed(f.Bytes, "/params/id")) == id {
				n++
			}
		}
	}
	return n
}

// plotted is how the manifest starts a player, and what it declares. What stands behind its file means nothing to
// it, but something to a shell.
func (w *world) plotted() (args []string, contributes dialect.Object) {
	tools := []any{}
	for _, name := range playerTools {
		tools = append(tools, name)
	}
	contributes = dialect.Contributions(dialect.Object{"tools": tools, "notifications": true, "confirmations": true})
	maps.Copy(contributes, w.script.Contributes)
	return []string{"host-peer", "--report-to", w.peers.address(), "--plot", w.plotFile(), "--", "$HOME  * 'a' \"b\""}, contributes
}
