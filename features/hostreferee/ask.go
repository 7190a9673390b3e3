package hostreferee

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// playName is the file of a play, in the directory of the scenario's files.
const playName = "play.json"

// askRow is one row of a table: what the extension sends, and what the host has to make of it.
type askRow struct {
	row    int    // from 1
	id     string // under which the answer comes, as spelled; that of nobody for a notification
	sent   string // the same, empty for a notification
	method string // empty for a frame that is written out
	text   string // of the frame
	want   string
	rule   string // that is broken when the answer is another; empty for all of the scenario
	early  bool   // it is sent before initialize is answered, and so is the answer
}

// asking is what a scenario makes the extension ask beyond being sound. The zero value asks nothing.
type asking struct {
	rows         []askRow
	selects      []string       // features named by the scenario
	declares     dialect.Object // contributions named by it
	requests     int            // at a time; 0 for the usual bound
	tool         string         // members of the tool, JSON
	result       string         // members of the result, JSON
	capabilities dialect.Object // that the manifest asks for
	play         string         // path of the file; empty for none
	ownerAsked   bool           // an ask names the owner of the call
}

// selectsFeatures names features that the extension selects although no ask needs them.
func (w *world) selectsFeatures(features string) error {
	w.asking.selects = append(w.asking.selects, strings.Split(features, ", ")...)
	return nil
}

// takes is the bound on requests at a time.
func (w *world) takes(n string) error {
	var err error
	w.asking.requests, err = strconv.Atoi(n)
	return errorOf(err)
}

// declaresToo adds to what the manifest declares.
func (w *world) declaresToo(contributions string) error {
	return errorOf(json.Unmarshal([]byte(contributions), &w.asking.declares))
}

// capable adds to what the manifest asks for.
func (w *world) capable(capabilities string) error {
	return errorOf(json.Unmarshal([]byte(capabilities), &w.asking.capabilities))
}

func (w *world) toolHas(members string) error {
	text, err := steps.Expand(members)
	w.asking.tool = text
	return errorOf(err)
}

func (w *world) resultHas(members string) error {
	text, err := steps.Expand(members)
	w.asking.result = text
	return errorOf(err)
}

func errorOf(err error) error {
	if err != nil {
		return errored("%v", err)
	}
	return nil
}

// parts are the moments at which an extension asks, as scenarios say them.
var parts = map[string]func(p *faultypeer.Play, frames []faultypeer.AskFrame){
	"before initialize is answered": func(p *faultypeer.Play, f []faultypeer.AskFrame) { p.Early = f },
	"during a call":                 func(p *faultypeer.Play, f []faultypeer.AskFrame) { p.During = f },
	"behind a call":                 func(p *faultypeer.Play, f []faultypeer.AskFrame) { p.Behind = f },
	"once a call is cancelled":      func(p *faultypeer.Play, f []faultypeer.AskFrame) { p.Cancelled = f },
	"before shutdown is answered":   func(p *faultypeer.Play, f []faultypeer.AskFrame) { p.Ending = f },
}

// prepareAsks writes the play of a table and makes the extension that plays it.
func (w *world) prepareAsks(how, when string, t *godog.Table) error {
	part := parts[when]
	if part == nil {
		return errored("an extension does not ask %q; it asks %s", when, strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
	}
	if err := w.asking.read(t, w.setup.Dialect); err != nil {
		return errored("%v", err)
	}
	play := faultypeer.Play{
		Select: w.asking.features(w.setup.Dialect), AtOnce: how == "at once ", PatienceMs: int(w.setup.Grace / time.Millisecond),
		Requests: w.asking.requests, Tool: w.asking.tool, Result: w.asking.result,
	}
	var frames []faultypeer.AskFrame
	for i, a := range w.asking.rows {
		w.asking.rows[i].early = when == "before initialize is answered"
		f := faultypeer.AskFrame{Text: a.text}
		if !slices.Contains(strings.Split(a.want, " or "), wantNothing) {
			f.ID = a.sent
		}
		frames = append(frames, f)
	}
	part(&play, frames)
	text, err := json.Marshal(play)
	if err != nil {
		return errored("the table makes no play: %v", err)
	}
	w.asking.play = filepath.Join(w.root, playName)
	if err := os.WriteFile(w.asking.play, text, 0o600); err != nil {
		return errored("%v", err)
	}
	return w.writeManifest()
}

// asksDuring runs the host on an extension that asks.
func (w *world) asksDuring(ctx context.Context, how, when string, t *godog.Table) error {
	if err := w.prepareAsks(how, when, t); err != nil {
		return err
	}
	if when == "once a call is cancelled" {
		return w.interrupted(ctx, faultypeer.ToolAsk)
	}
	arguments := string(dialect.Encode(dialect.Object{"text": w.token}))
	if err := w.calls(ctx, faultypeer.ToolAsk, arguments); err != nil {
		return err
	}
	if when == "during a call" && w.setup.Talk != nil && w.setup.Talk.Prompt != "" && w.inapplicable() {
		return w.asksInTalk(ctx, arguments)
	}
	return nil
}

// inapplicable reports whether the host lacks, for a single call, what the asks need.
func (w *world) inapplicable() bool {
	var o *outcome
	return errors.As(w.asksApply(), &o) && o.class == verdict.NotApplicable
}

// asksInTalk runs the same asks during a call that a model makes: a host offers more in a conversation.
func (w *world) asksInTalk(ctx context.Context, arguments string) error {
	w.peers.forget()
	if _, err := w.plays(extensionName); err != nil {
		return err
	}
	for _, turn := range []modelTurn{{calls: []modelCall{{faultypeer.ToolAsk, arguments}}}, {text: w.token}} {
		if err := w.modelWill(turn); err != nil {
			return err
		}
	}
	if err := w.line("be given a prompt", w.setup.Talk.Prompt, PlaceText, "Ask."); err != nil {
		return err
	}
	return w.ends(ctx)
}

// read takes the rows of a table. Its columns are method and params, or frame; id; answer; rule.
func (s *asking) read(t *godog.Table, d dialect.Dialect) error {
	if len(t.Rows) < 2 {
		return fmt.Errorf("the table has no rows")
	}
	for i, row := range t.Rows[1:] {
		cells := map[string]string{}
		for c, cell := range row.Cells {
			text, err := steps.Expand(cell.Value)
			if err != nil {
				return fmt.Errorf("row %d: %w", i+1, err)
			}
			cells[t.Rows[0].Cells[c].Value] = text
		}
		times := 1
		if cells["times"] != "" {
			var err error
			if times, err = strconv.Atoi(cells["times"]); err != nil {
				return fmt.Errorf("row %d: times: %w", i+1, err)
			}
		}
		for n := 1; n <= times; n++ {
			s.add(i+1, n, cells, d)
		}
	}
	return nil
}

// nobody is the id of answers that name no request.
const nobody = "null"

// add makes the ask of a row for the nth time.
func (s *asking) add(row, n int, cells map[string]string, d dialect.Dialect) {
	a := askRow{row: row, id: cells["id"], method: cells["method"], want: cells["answer"], rule: cells["rule"]}
	isRequest := a.id != "" || d.IsRequest(a.method) || !d.Knows(a.method)
	if a.id == "" && isRequest && cells["frame"] == "" {
		a.id = fmt.Sprintf(`"ask-%d"`, row)
		if n > 1 {
			a.id = fmt.Sprintf(`"ask-%d-%d"`, row, n)
		}
	}
	params := cells["params"]
	if !d.Negotiates() && !d.Canonical() {
		params = strings.Replace(params, `"parent_request_id":«call»,`, "", 1) // which this version does not have
	}
	switch {
	case cells["frame"] != "":
		a.text, a.method = cells["frame"], ""
	case params == "":
		a.text = fmt.Sprintf(`{"method":%q}`, a.method)
	default:
		a.text = fmt.Sprintf(`{"method":%q,"params":%s}`, a.method, params)
	}
	if a.method != "" {
		member := `{"jsonrpc":"2.0",`
		if isRequest {
			member += `"id":` + a.id + ","
		}
		a.text = member + a.text[1:]
	}
	a.text = strings.ReplaceAll(a.text, "«n»", strconv.Itoa(n))
	s.ownerAsked = s.ownerAsked || strings.Contains(a.text, "«owner»")
	a.sent = a.id
	if a.id == "" {
		a.id = nobody
	}
	s.rows = append(s.rows, a)
}

// unsupported is the answer to a method that nothing opens. Its feature must not have been selected.
const unsupported = "token unsupported_feature"

// needs are the features without which the asks say nothing: the gates of their methods.
func (s *asking) needs(d dialect.Dialect) []string {
	list := slices.Clone(s.selects)
	for _, a := range s.rows {
		gate := negotiation.GateFeature(d.Gate(a.method))
		if row := featurewire.LookupFeature(gate); row != nil && !row.Required && a.want != unsupported && d.Negotiates() {
			list = append(list, gate)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// features are those that the extension selects: what it needs, and what that depends on.
func (s *asking) features(d dialect.Dialect) []string {
	list := s.needs(d)
	for i := 0; i < len(list); i++ {
		for _, need := range featurewire.LookupFeature(list[i]).DependsOn {
			if !slices.Contains(list, need) {
				list = append(list, need)
			}
		}
	}
	return list
}

// contribute adds to what the manifest declares: the tool, what the asks need, and what the scenario names.
func (s *asking) contribute(d dialect.Dialect, all dialect.Object) {
	if s.play == "" {
		return
	}
	tools, _ := all["tools"].([]any)
	all["tools"] = append(slices.Clone(tools), faultypeer.ToolAsk)
	for _, a := range s.rows {
		member, gated := strings.CutPrefix(d.Gate(a.method), "contributes.")
		if gated && a.want != unsupported {
			if _, isFlag := all[member].(bool); isFlag || all[member] == nil {
				all[member] = true
			}
		}
	}
	maps.Copy(all, s.declares)
}

// answersAsWanted holds what the host answered to each ask against the table.
func (w *world) answersAsWanted() error {
	if err := w.asksApply(); err != nil {
		return err
	}
	said := w.hostAnswers()
	var o outcome
	for i, a := range w.asking.rows {
		a.id = strings.Replace(a.id, "«call»", w.callID(), 1)
		a.want = w.asking.resolve(a.want, said)
		list := said[a.id]
		// Asks under one id are answered in the order of their answers.
		if len(list) > 1 && w.asking.later(i) {
			said[a.id] = list[1:]
			list = list[:1]
		}
		fault := a.judge(w.setup.Dialect, list)
		if fault != "" {
			o.wrong(a.rule, fmt.Sprintf("row %d, %s: %s", a.row, orFrame(a), fault))
		}
	}
	return o.orNil()
}

func orFrame(a askRow) string {
	if a.method == "" {
		return "frame " + wire.Printable([]byte(a.text), 80)
	}
	return strconv.Quote(a.method)
}

// later reports whether another ask behind one has the same id.
func (s *asking) later(i int) bool {
	return slices.ContainsFunc(s.rows[i+1:], func(b askRow) bool { return b.id == s.rows[i].id })
}

// callID is the id of the first call of a tool, as spelled.
func (w *world) callID() string {
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if hostMethod(f) == dialect.ToolCall {
				return frameID(f)
			}
		}
	}
	return ""
}

func frameID(f wire.Frame) string {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	// A frame that cannot be read has no id.
	_ = json.Unmarshal(f.Bytes, &m)
	return string(bytes.TrimSpace(m.ID))
}

// asksApply leaves a scenario alone whose features the host does not offer, or whose call nobody owns.
func (w *world) asksApply() error {
	for _, feature := range w.asking.needs(w.setup.Dialect) {
		if err := w.offers(feature); err != nil {
			return err
		}
	}
	calls := 0
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if hostMethod(f) != dialect.ToolCall {
				continue
			}
			calls++
			if w.asking.ownerAsked && !owned(f) {
				return &outcome{class: verdict.NotApplicable, text: "the host calls the tool outside of any session: the call has no resource_owner"}
			}
		}
	}
	if calls == 0 {
		return failed("the tool %q was never called; the host ended with code %d: %s", faultypeer.ToolAsk, w.host.code, w.complaint())
	}
	return nil
}

func owned(f wire.Frame) bool {
	var m struct {
		Params struct {
			Context struct {
				Owner json.RawMessage `json:"resource_owner"`
			} `json:"context"`
		} `json:"params"`
	}
	return json.Unmarshal(f.Bytes, &m) == nil && m.Params.Context.Owner != nil
}

// hostAnswer is an answer of the host.
type hostAnswer struct {
	late   bool            // it came behind the answer to initialize
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (r hostAnswer) String() string {
	if r.Error != nil {
		return fmt.Sprintf("the error %d %q", r.Error.Code, wire.Printable([]byte(r.Error.Message), 120))
	}
	return "the result " + wire.Printable(r.Result, 200)
}

// hostAnswers are the answers of the host by the id that they name.
func (w *world) hostAnswers() map[string][]hostAnswer {
	out := map[string][]hostAnswer{}
	for _, p := range w.peers.list() {
		begun := false
		for _, f := range p.frames {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method json.RawMessage `json:"method"`
				hostAnswer
			}
			switch {
			case json.Unmarshal(f.Bytes, &m) != nil || m.Method != nil:
			case f.Lane == wire.FromSubject:
				begun = true // the first answer of an extension is that to initialize
			default:
				id := string(bytes.TrimSpace(m.ID))
				m.late = begun
				out[id] = append(out[id], m.hostAnswer)
			}
		}
	}
	return out
}

// Answers that a table may want, joined by "or".
const (
	wantNothing = "nothing" // no answer
	wantAny     = "an answer"
	wantResult  = "result"
	wantError   = "error" // and the name of a row of the error table
	wantToken   = "token" // and the first word of the message, with the error that it belongs to
	wantText    = "text"  // and the name of a row of the error table, whose message stands there as it is
)

// judge holds the answers to an ask against what is wanted, and says what is wrong with them.
func (a askRow) judge(d dialect.Dialect, said []hostAnswer) string {
	wanted := strings.Split(a.want, " or ")
	switch {
	case len(said) == 0 && slices.Contains(wanted, wantNothing):
		return ""
	case len(said) == 0:
		return "there is no answer, want " + a.want
	case len(said) > 1:
		return fmt.Sprintf("there are %d answers, want one", len(said))
	}
	r := said[0]
	if a.early && r.late {
		return "the answer came behind the answer to initialize"
	}
	if r.Result != nil {
		if shape := d.Shape(a.method); shape.Result != "" {
			if v, broken := d.Violation(shape.Result, r.Result); broken {
				return fmt.Sprintf("%s breaks its model: %v", r, v)
			}
		}
	}
	if r.Error != nil && d.ErrorName(r.Error.Code) == "" {
		return fmt.Sprintf("%s is not in the error table", r)
	}
	for _, want := range wanted {
		if r.is(want, d) {
			return ""
		}
	}
	return fmt.Sprintf("the answer is %s, want %s", r, a.want)
}

// is reports whether a response is what is wanted.
func (r hostAnswer) is(want string, d dialect.Dialect) bool {
	kind, detail, _ := strings.Cut(want, " ")
	switch {
	case want == wantAny:
		return true
	case kind == wantResult && r.Result != nil:
		return detail == "" || holds(r.Result, []byte(detail))
	case kind == wantError && r.Error != nil:
		return detail == "" || d.ErrorName(r.Error.Code) == detail
	case kind == wantText && r.Error != nil:
		return d.ErrorName(r.Error.Code) == detail && r.Error.Message == d.Message(detail)
	case kind == wantToken && r.Error != nil:
		for _, row := range featurewire.TableMessageTokens {
			if row.Token == detail {
				rest, begins := strings.CutPrefix(r.Error.Message, detail)
				return begins && (rest == "" || !isWord(rest[0])) && d.ErrorName(r.Error.Code) == row.Error
			}
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// holds reports whether a value has what another one has: every member of an object, and everything else equal.
func holds(text, part []byte) bool {
	var whole, wanted map[string]json.RawMessage
	if json.Unmarshal(part, &wanted) == nil && wanted != nil {
		if json.Unmarshal(text, &whole) != nil {
			return false
		}
		for name, v := range wanted {
			if whole[name] == nil || !holds(whole[name], v) {
				return false
			}
		}
		return true
	}
	var a, b any
	return json.Unmarshal(text, &a) == nil && json.Unmarshal(part, &b) == nil && bytes.Equal(dialect.Encode(a), dialect.Encode(b))
}

// registerAsks binds the phrases about asks to the world of the scenario.
func registerAsks(sc *godog.ScenarioContext) {
	of := func(ctx context.Context) *world { return ctx.Value(worldKey{}).(*world) }
	one := func(expr string, do func(*world, string) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a string) error { return do(of(ctx), a) })
	}
	one(`it selects "([^"]+)"`, (*world).selectsFeatures)
	one(`it takes (\d+) requests at a time`, (*world).takes)
	one(`its manifest declares (\{.+\})`, (*world).declaresToo)
	one(`its manifest asks for (\{.+\})`, (*world).capable)
	one(`its tool has (\{.+\})`, (*world).toolHas)
	one(`its result has (\{.+\})`, (*world).resultHas)
	sc.Step(pattern(`^it asks (at once )?(.+)$`), func(ctx context.Context, how, when string, t *godog.Table) error {
		return of(ctx).asksDuring(ctx, how, when, t)
	})
	one(`the revisions grow by one, and "([^"]+)" is in none`, (*world).revised)
	sc.Step(pattern("^what was not answered was cancelled once$"), func(ctx context.Context) error { return of(ctx).overOnce() })
	sc.Step(pattern("^the host shows no such result$"), func(ctx context.Context) error { return of(ctx).showsNothing() })
	sc.Step(pattern("^the host answers as wanted$"), func(ctx context.Context) error { return of(ctx).answersAsWanted() })
}

// argue adds the play to the arguments of the peer.
func (s *asking) argue(args []string) []string {
	if s.play == "" {
		return args
	}
	return append(args, "--play", s.play)
}

// grants is the part of the manifest about what the extension asks for.
func (s *asking) grants() string {
	if len(s.capabilities) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[capabilities]\n")
	for _, name := range slices.Sorted(maps.Keys(s.capabilities)) {
		fmt.Fprintf(&b, "%s = %s\n", name, dialect.Encode(s.capabilities[name]))
	}
	return b.String()
}

// findings are the rules that an outcome blames: those that it names, or all that the scenario is about.
func (o *outcome) findings(bound []string) []verdict.Finding {
	var out []verdict.Finding
	for _, f := range o.blamed {
		if slices.Contains(bound, f.Rule) {
			out = append(out, f)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, rule := range bound {
		out = append(out, verdict.Finding{Rule: rule, Message: o.text, Frame: -1, Offset: -1, Silent: o.class == verdict.NoAnswer})
	}
	return out
}

// revised holds the answers to changes of the catalog against each other: every change that was taken raises the
// revision by one, and none brings a tool that was refused.
func (w *world) revised(refused string) error {
	last := int64(-1)
	for _, a := range w.asking.rows {
		for _, r := range w.hostAnswers()[a.id] {
			var c struct {
				Revision int64    `json:"revision"`
				Tools    []string `json:"tools"`
			}
			if gate := negotiation.GateFeature(w.setup.Dialect.Gate(a.method)); gate != featurewire.FeatureDynamicTools || r.Result == nil || json.Unmarshal(r.Result, &c) != nil {
				continue
			}
			if last >= 0 && c.Revision != last+1 && c.Revision != last {
				return blame(featurewire.FeatureDynamicTools, "EXT04-DYN-011", "revision %d follows %d", c.Revision, last)
			}
			if slices.Contains(c.Tools, refused) {
				return blame(featurewire.FeatureDynamicTools, "EXT04-DYN-013", "the tool %q was refused and is there", refused)
			}
			last = c.Revision
		}
	}
	return nil
}

// blame makes an outcome about one rule.
func blame(about, rule, format string, args ...any) error {
	text := about + ": " + fmt.Sprintf(format, args...)
	return &outcome{class: verdict.Fail, text: text, blamed: []verdict.Finding{{Rule: rule, Message: text, Frame: -1, Offset: -1}}}
}

var fromRow = regexp.MustCompile(`«from (\d+) (\S+)»`)

// resolve puts what other asks were answered into what is wanted.
func (s *asking) resolve(want string, said map[string][]hostAnswer) string {
	return fromRow.ReplaceAllStringFunc(want, func(m string) string {
		parts := fromRow.FindStringSubmatch(m)
		var members map[string]json.RawMessage
		for _, r := range said[`"ask-`+parts[1]+`"`] {
			// A result that is no object has no members.
			_ = json.Unmarshal(r.Result, &members)
		}
		if v := members[parts[2]]; v != nil {
			return string(v)
		}
		return "null"
	})
}

// overOnce holds the host to telling, once, that an ask which it has not answered is over.
func (w *world) overOnce() error {
	said := w.hostAnswers()
	for _, a := range w.asking.rows {
		if a.sent == "" || len(said[a.id]) > 0 {
			continue
		}
		n := 0
		for _, p := range w.peers.list() {
			for _, f := range p.frames {
				var m struct {
					Params struct {
						ID json.RawMessage `json:"id"`
					} `json:"params"`
				}
				if hostMethod(f) == dialect.Cancel && json.Unmarshal(f.Bytes, &m) == nil && string(bytes.TrimSpace(m.Params.ID)) == a.id {
					n++
				}
			}
		}
		if n != 1 {
			return failed("row %d, %s: it was not answered, and %d cancellations name it, want one", a.row, orFrame(a), n)
		}
	}
	return nil
}

// showsNothing holds the host to refusing the result: a model is not told of it, and a single call fails.
func (w *world) showsNothing() error {
	if w.talk != nil {
		return w.modelTold("not told", "shown")
	}
	return w.reportsFailure()
}
