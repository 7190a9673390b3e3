package faultyhost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// TalkConfig says which host to be in a conversation.
type TalkConfig struct {
	Fault      string // a name of the table; empty for a host without a fault
	Extensions string // the directory with those that it starts
	Model      string // base URL of the server that it asks
}

// talker is a host in a conversation: it does the lines of its input one behind the other.
type talker struct {
	TalkConfig
	ctx            context.Context
	stdout, stderr io.Writer

	cast     []*link // in the order of registration
	quirk    quirk
	session  int // number of the conversation
	run      int // number of the prompt
	entries  int // stored entries
	messages []dialect.Object
	pending  []piece // context for the next prompt
	began    time.Time
	tools    []any // that the model is told of in this run
	built    int   // how often all were started
	vetoed   bool  // by an extension that has no veto
}

// link is one extension of a conversation.
type link struct {
	*host
	name       string
	generation int
	instance   string
	gone       bool
	selected   []string
	observes   []string // lifecycle events it is told of; nil for all
	tools      []json.RawMessage
	commands   json.RawMessage
	epoch      int  // revision of the tools that the model was told of last
	paired     bool // session_start was sent and session_end was not
}

// piece is context of an extension.
type piece struct {
	Label     string `json:"label"`
	Content   string `json:"content"`
	Placement string `json:"placement"`
}

// Talk is the main function of a host in a conversation.
func Talk(ctx context.Context, cfg TalkConfig, stdin io.Reader, stdout, stderr io.Writer) int {
	t := &talker{TalkConfig: cfg, ctx: ctx, stdout: stdout, stderr: stderr, session: 1, began: time.Now()}
	if err := t.start(); err != nil {
		t.complain("%v", err)
		return exitFailed
	}
	defer t.leave()
	code := exitDone
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		line := lines.Text()
		if line == "/exit" {
			break
		}
		if err := t.do(line); err != nil {
			t.complain("%v", err)
			code = exitFailed
		}
	}
	return code
}

func (t *talker) complain(format string, args ...any) {
	fmt.Fprintf(t.stderr, "faulty-host: "+format+"\n", args...)
}

// does reports whether the fault is this one.
func (t *talker) does(twist string) bool { return t.quirk.talks == twist }

// start starts every extension. One that does not start costs the others nothing.
func (t *talker) start() error {
	entries, err := os.ReadDir(t.Extensions)
	if err != nil {
		return err
	}
	for _, e := range entries {
		x, err := t.open(e.Name(), 1)
		if x != nil {
			t.quirk = x.quirk
		}
		if err != nil && t.does(startsFailedAgain) {
			x, err = t.open(e.Name(), 1)
		}
		if err != nil {
			t.complain("%s: %v", e.Name(), err)
			continue
		}
		t.cast = append(t.cast, x)
	}
	for _, x := range t.cast {
		t.activate(x)
	}
	return nil
}

// open starts an extension and negotiates with it.
func (t *talker) open(name string, generation int) (*link, error) {
	x := &link{
		host: &host{Config: Config{Fault: t.Fault, Directory: filepath.Join(t.Extensions, name), Environ: os.Environ()}, spawned: t.child, barren: func() bool { return len(t.messages) == 0 }},
		name: name, generation: generation, instance: fmt.Sprintf("instance-%s-%d", name, t.built),
	}
	if err := x.prepare(); err != nil {
		return nil, err
	}
	id := x.request("", dialect.Initialize, t.offer(x))
	answer, err := x.await(t.ctx, id, answerWait)
	if err == nil && answer["result"] == nil {
		err = errors.New("initialize was refused")
	}
	if err != nil {
		x.end(true)
		return x, err
	}
	x.desk.begin(answer["result"])
	var r struct {
		Tools    []json.RawMessage `json:"tools"`
		Commands json.RawMessage   `json:"commands"`
		Protocol struct {
			Features []string `json:"features"`
			Events   []string `json:"lifecycle_events"`
		} `json:"protocol"`
		Contract struct {
			Methods []string `json:"methods"`
		} `json:"contract"`
	}
	// The monitor has seen to the form.
	_ = json.Unmarshal(answer["result"], &r)
	x.tools, x.commands, x.observes = r.Tools, r.Commands, r.Protocol.Events
	x.selected = append(r.Protocol.Features, r.Contract.Methods...)
	if err := t.admits(x); err != nil {
		x.end(true)
		return x, err
	}
	return x, nil
}

// offer is what a host offers that holds conversations.
func (t *talker) offer(x *link) dialect.Object {
	params := x.d.Initialize(x.x)
	if contract, is := params["contract"].(dialect.Object); is {
		contract["optional_capabilities"] = []any{canonicalwire.CapabilityLifecycleEvents}
		contract["optional_methods"] = []any{canonicalwire.MethodHookRun}
	}
	protocol, is := params["protocol"].(dialect.Object)
	if !is {
		return params
	}
	offered, _ := protocol["optional_features"].([]any)
	if x.quirk.talks == offersUnasked {
		protocol["optional_features"] = append(offered, featurewire.FeatureCompactionStrategy, featurewire.FeatureCacheWarmingDecision)
	}
	return params
}

// activate tells an extension of the conversation.
func (t *talker) activate(x *link) {
	t.observe(x, featurewire.MethodSessionStarted, nil)
	if t.does(startsTwice) || t.does(sessionHooksAnyway) && !x.d.Canonical() || t.pairs(x) {
		t.startPair(x)
	}
}

// settle tells an extension that its part in the conversation is over.
func (t *talker) settle(x *link, outcome, reason string) {
	t.observe(x, featurewire.MethodSessionSettled, dialect.Object{"outcome": outcome, "reason": reason, "duration_ms": time.Since(t.began).Milliseconds()})
	t.endPair(x, outcome, reason, x)
}

// do carries out a line.
func (t *talker) do(line string) error {
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	t.unasked()
	switch {
	case strings.TrimSpace(line) == "":
		return nil
	case !strings.HasPrefix(line, "/"):
		return t.prompt(line)
	case word == "reload":
		return t.reload(rest)
	case word == "rebuild":
		return t.rebuild()
	case word == "new":
		return t.anew()
	case word == "compact":
		return t.compact()
	}
	return t.command(word, strings.Fields(rest))
}

// anew begins another conversation in the same processes.
func (t *talker) anew() error {
	for _, x := range t.cast {
		t.settle(x, string(featurewire.SettlementOutcomeCompleted), endShutdown)
	}
	t.session++
	t.messages, t.pending, t.began = nil, nil, time.Now()
	for _, x := range t.cast {
		t.activate(x)
	}
	return nil
}

// leave ends the conversation and every extension, all at once.
func (t *talker) leave() {
	var wg sync.WaitGroup
	for _, x := range t.cast {
		if x.gone {
			continue
		}
		t.settle(x, string(featurewire.SettlementOutcomeShutdown), endShutdown)
		if t.does(endsOneByOne) {
			x.end(false)
			continue
		}
		wg.Go(func() { x.end(false) })
	}
	wg.Wait()
	for _, x := range t.cast {
		if t.does(startsAfterEnd) {
			if again, err := t.open(x.name, x.generation+1); err == nil {
				again.end(false)
			}
		}
	}
}

// rebuild starts every extension anew.
func (t *talker) rebuild() error {
	t.leave()
	if !t.does(keepsInstance) {
		t.built++
	}
	t.cast = nil
	return t.start()
}

// lost starts an extension again that has gone. One that cannot be spoken with then stays away until it is reloaded.
func (t *talker) lost(x *link) {
	if x.gone {
		return
	}
	x.gone = true
	x.end(true)
	if most := 8; t.does(neverRestarts) || x.generation > most {
		return
	}
	next, err := t.open(x.name, x.generation+1)
	if err != nil && t.does(retriesForever) {
		next, err = t.open(x.name, x.generation+1)
	}
	if err != nil {
		t.complain("%s is parked: %v", x.name, err)
		return
	}
	if !t.does(forgetsCrashes) {
		t.endPair(x, string(canonicalwire.SessionOutcomeInterrupted), string(canonicalwire.SessionEndReasonCrash), next)
	}
	t.cast[slices.Index(t.cast, x)] = next
	t.activate(next)
}

// reload replaces the process of an extension, if the new one is sound.
func (t *talker) reload(name string) error {
	at := slices.IndexFunc(t.cast, func(x *link) bool { return x.name == name })
	if at < 0 {
		return fmt.Errorf("there is no extension %q", name)
	}
	old := t.cast[at]
	if old.gone && t.does(refusesParked) {
		return fmt.Errorf("%s is parked", name)
	}
	if t.does(endsBeforeReload) {
		t.settle(old, string(featurewire.SettlementOutcomeInterrupted), endReload)
		old.end(false)
	}
	if t.does(reloadsNothing) {
		return nil
	}
	next, err := t.open(name, old.generation+1)
	if err == nil && !t.does(takesAnyCommands) && old.d.API() != dialect.FrozenAPI && !bytes.Equal(next.commands, old.commands) {
		next.end(false)
		err = errors.New("re-registration required: the commands have changed")
	}
	if err != nil {
		if t.does(dropsAtFailedReload) {
			old.end(false)
			t.cast = slices.Delete(t.cast, at, at+1)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case old.gone, t.does(endsBeforeReload):
	case t.does(startsBeforeEnd):
		t.activate(next)
		t.settle(old, string(featurewire.SettlementOutcomeInterrupted), endReload)
		old.end(false)
		t.cast[at] = next
		return nil
	default:
		if !t.does(skipsEndings) {
			t.settle(old, string(featurewire.SettlementOutcomeInterrupted), endReload)
		}
		old.end(false)
	}
	if t.does(keepsGeneration) {
		next.generation = old.generation
	}
	t.cast[at] = next
	t.activate(next)
	return nil
}

// command runs a command of the extension that has it.
func (t *talker) command(name string, arguments []string) error {
	for _, x := range t.cast {
		if x.gone || !t.has(x, name) && !t.does(runsAnyCommand) {
			continue
		}
		words := []any{}
		for _, word := range arguments {
			words = append(words, word)
		}
		result, err := t.ask(x, featurewire.MethodCommandExecute, dialect.Object{"name": name, "arguments": words, "context": t.context(x, "")}, answerWait)
		if err != nil {
			return err
		}
		var r struct {
			Text          string  `json:"text"`
			Context       []piece `json:"context"`
			Notifications []any   `json:"notifications"`
		}
		if err := json.Unmarshal(result, &r); err != nil {
			return err
		}
		if t.does(needsAllMembers) && r.Notifications == nil {
			return errors.New("the command answered no notifications")
		}
		t.pending = append(t.pending, t.admitted(x, r.Context)...)
		fmt.Fprintln(t.stdout, r.Text)
		return nil
	}
	return fmt.Errorf("there is no command %q", name)
}

// ask sends a request and returns its result.
func (t *talker) ask(x *link, method string, params dialect.Object, limit time.Duration) (json.RawMessage, error) {
	if own, bent := t.quirk.limits[method+" "+fmt.Sprint(params["hook"])]; bent {
		limit = own
	}
	id := x.request("", method, params)
	answer, err := x.await(t.ctx, id, limit)
	switch {
	case err != nil && isBroken(err) && !aboutHook(err):
		t.lost(x)
		return nil, err
	case err != nil && isBroken(err):
		return nil, err
	case err != nil:
		if x.d.API() != dialect.FrozenAPI {
			x.notify(dialect.Cancel, x.d.Cancel(id, "deadline"))
		}
		return nil, err
	case answer["result"] == nil:
		return nil, fmt.Errorf("%s answered the error %s", x.name, answer["error"])
	}
	return answer["result"], nil
}

// aboutHook reports whether an extension has only answered a hook otherwise than it may.
func aboutHook(err error) bool {
	return strings.Contains(err.Error(), "the extension breaks EXT03-HOOK-")
}

// context is the context of a request that the conversation owns.
func (t *talker) context(x *link, scope string) dialect.Object {
	c := dialect.Object{
		"workspace": x.x.Workspace, "execution_scope": nil,
		"host": dialect.Object{"session_id": "talk-" + strconv.Itoa(t.session), "session_name": nil, "model": "conform", "reasoning": nil, "active_skills": []any{}},
	}
	if scope != "" {
		c["execution_scope"] = scope
	}
	if x.d.Negotiates() || t.does(ownsOnFrozen) {
		c["resource_owner"] = t.owner(x)
	}
	return c
}

// owner is the triple under which the conversation owns what an extension makes for it.
func (t *talker) owner(x *link) dialect.Object {
	return dialect.Object{"session_id": "owner-" + strconv.Itoa(t.session), "extension_instance_id": x.instance, "process_generation": x.generation}
}

// observe tells an extension of an event, if it wants to know.
func (t *talker) observe(x *link, method string, more dialect.Object) {
	wants := slices.Contains(x.selected, featurewire.FeatureLifecycleEvents) && (len(x.observes) == 0 || slices.Contains(x.observes, method))
	if x.d.Gate(method) == featurewire.FeatureLifecycleEventsV2 {
		wants = slices.Contains(x.selected, featurewire.FeatureLifecycleEventsV2)
	}
	if x.d.Canonical() && !t.does(observesOnCanonical) || !wants && !t.does(tellsAll) && !t.does(observesOnCanonical) || x.d.API() == dialect.FrozenAPI {
		return
	}
	params := dialect.Object{"session_id": "talk-" + strconv.Itoa(t.session)}
	for key, v := range more {
		params[key] = v
	}
	x.notify(method, params)
}

// complete asks the model and returns its text and its calls.
func (t *talker) complete(tools []any) (string, []call, int, error) {
	body, err := json.Marshal(dialect.Object{"model": "conform", "messages": t.messages, "tools": tools})
	if err != nil {
		return "", nil, 0, err
	}
	request, err := http.NewRequestWithContext(t.ctx, http.MethodPost, t.Model+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return "", nil, response.StatusCode, fmt.Errorf("the model answers with %s", response.Status)
	}
	var r struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
				Calls   []call `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.NewDecoder(response.Body).Decode(&r); err != nil || len(r.Choices) == 0 {
		return "", nil, 0, fmt.Errorf("the model's answer cannot be read: %w", err)
	}
	return r.Choices[0].Message.Content, r.Choices[0].Message.Calls, 0, nil
}

// call is one that the model wants.
type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}
