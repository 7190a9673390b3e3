package faultyhost

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
)

// opinion is the result of a hook, as far as any hook of the conversation goes.
type opinion struct {
	Disposition struct {
		Action string `json:"action"`
		Reason string `json:"reason"`
	} `json:"disposition"`
	Context          []piece `json:"context"`
	SessionOperation struct {
		Action string `json:"action"`
	} `json:"session_operation"`
	Retry    json.RawMessage `json:"provider_retry"`
	Frames   []string        `json:"compaction_frames"`
	Metadata struct {
		Value  json.RawMessage `json:"value"`
		Public bool            `json:"public"`
	} `json:"persistence_metadata"`
}

// asked are the extensions that a hook is run at, in the order of registration.
func (t *talker) asked(hook string) []*link {
	var out []*link
	for _, x := range t.cast {
		row, known := x.d.Hook(hook)
		declared, _ := x.x.Contributes["hooks"].([]any)
		open := row.Feature == "-" || slices.Contains(x.selected, row.Feature)
		if !x.gone && known && open && slices.Contains(declared, any(hook)) || t.does(runsAnyHook) && len(declared) > 0 {
			out = append(out, x)
		}
	}
	if t.does(asksBackwards) {
		slices.Reverse(out)
	}
	return out
}

// hook runs a hook at one extension.
func (t *talker) hook(x *link, hook string, payload dialect.Object, scope string) (opinion, error) {
	params := dialect.Object{"hook": hook, "payload": payload, "context": t.context(x, scope)}
	row, _ := x.d.Hook(hook)
	if row.Feature == featurewire.FeatureSessionEntries {
		params["session_leaf"] = "leaf-" + strconv.Itoa(t.entries)
	}
	limit := answerWait
	if ms := cmp.Or(row.DeadlineMS, row.AggregateMS); ms > 0 {
		limit = time.Duration(ms) * time.Millisecond
	}
	var o opinion
	if size := len(dialect.Encode(params)); size+maxEnvelope > x.d.FrameBound() {
		if !t.does(cutsPayloads) {
			return o, fmt.Errorf("%s: %d bytes fit no frame", hook, size)
		}
		params["payload"] = dialect.Object{}
	}
	result, err := t.ask(x, featurewire.MethodHookRun, params, limit)
	if t.does(keepsLongMetadata) {
		keep("metadata", result)
	}
	if err == nil && !t.does(takesAnyOpinion) {
		if v, broken := x.d.Violation(row.Result, result); broken {
			err = fmt.Errorf("%s: %w", hook, v)
		}
	}
	if err == nil {
		err = json.Unmarshal(result, &o)
	}
	if err == nil && t.does(needsDisposition) && o.Disposition.Action == "" {
		err = fmt.Errorf("%s has no disposition", hook)
		o.Disposition.Action = "deny"
	}
	if err != nil {
		err = fmt.Errorf("hook %s: %w", hook, err)
	}
	return o, err
}

// maxEnvelope is room for what stands around the params of a request.
const maxEnvelope = 256

// opinions runs a hook that may deny at every extension until one does.
func (t *talker) opinions(hook string, payload dialect.Object, scope string) (pieces []piece, denied string) {
	for _, x := range t.asked(hook) {
		o, err := t.hook(x, hook, payload, scope)
		if err != nil {
			if !t.does(failsSilently) {
				t.complain("extension %s: the hook %s failed: %v", x.name, hook, err)
			}
			if t.does(deniesAtFailure) || o.Disposition.Action == "deny" {
				return nil, "the hook failed"
			}
			continue
		}
		pieces = append(pieces, t.admitted(x, o.Context)...)
		if o.Disposition.Action == "deny" && denied == "" && !t.does(ignoresDenials+hook) {
			denied = "denied: " + o.Disposition.Reason
			if !t.does(asksBehindDenial) {
				return nil, denied
			}
		}
	}
	if t.does(mixesContext) {
		slices.Reverse(pieces)
	}
	return pieces, denied
}

// news runs a hook whose answer changes nothing.
func (t *talker) news(hook string, payload dialect.Object, scope string) (denied bool) {
	for _, x := range t.asked(hook) {
		o, err := t.hook(x, hook, payload, scope)
		if err != nil {
			if !t.does(failsSilently) {
				t.complain("extension %s: the hook %s failed: %v", x.name, hook, err)
			}
			if t.does(stopsAtFailure) {
				return false
			}
		}
		denied = denied || o.Disposition.Action == "deny"
	}
	return denied
}

// admitted is the context of an extension that declares context.
func (t *talker) admitted(x *link, list []piece) []piece {
	if declares, _ := x.x.Contributes["context"].(bool); !declares && !t.does(takesAnyContext) && len(list) > 0 {
		t.complain("extension %s: its manifest declares no context", x.name)
		return nil
	}
	return list
}

// collect asks for context.
func (t *talker) collect(prompt string) []piece {
	var all []piece
	for _, x := range t.cast {
		if declares, _ := x.x.Contributes["context"].(bool); x.gone || (!declares || x.d.Canonical()) && !t.does(collectsAnyway) {
			continue
		}
		result, err := t.ask(x, featurewire.MethodContextCollect, dialect.Object{"prompt": prompt, "context": t.context(x, "")}, 5*time.Second)
		var list []piece
		if err == nil {
			err = json.Unmarshal(result, &list)
		}
		if err != nil {
			t.complain("extension %s: no context: %v", x.name, err)
		}
		all = append(all, list...)
	}
	return all
}

// prompt takes one prompt to its end.
func (t *talker) prompt(text string) error {
	if t.vetoed {
		return errors.New("the session was denied")
	}
	pieces, denied := t.opinions(featurewire.HookBeforePrompt, dialect.Object{"prompt": text}, "")
	if denied != "" {
		return fmt.Errorf("the prompt was not sent: %s", denied)
	}
	pieces = append(append(t.pending, pieces...), t.collect(text)...)
	t.pending = nil
	if t.does(pings) {
		for _, x := range t.cast {
			_, _ = t.ask(x, featurewire.MethodStatusCollect, dialect.Object{"surface": "status", "context": t.context(x, "")}, answerWait)
		}
	}
	t.run++
	t.entries++
	said := text
	for _, p := range pieces {
		switch {
		case p.Placement == string(featurewire.ContextPlacementSystemPrefix), p.Placement == string(featurewire.ContextPlacementSystemSuffix):
			t.messages = append(t.messages, dialect.Object{"role": "system", "content": p.Content})
		case p.Placement == string(featurewire.ContextPlacementPromptPrefix), p.Placement == "" && t.does(putsContextFirst):
			said = p.Content + "\n" + said
		default:
			said += "\n" + p.Content
		}
	}
	t.messages = append(t.messages, dialect.Object{"role": "user", "content": said})
	t.tools = t.advertised()
	ids := t.ids()
	began := time.Now()
	t.tell(featurewire.MethodTurnStarted, ids)
	outcome, reason := string(featurewire.SettlementOutcomeCompleted), any(nil)
	answer, err := t.turns(ids)
	if err != nil {
		outcome, reason = string(featurewire.SettlementOutcomeFailed), err.Error()
	}
	if err == nil || t.does(tellsOfFailures) {
		if t.news(featurewire.HookAfterResponse, dialect.Object{"response": answer}, "") && t.does(honoursAll) {
			err = fmt.Errorf("the response was denied")
		}
	}
	if err == nil || !t.does(settlesWell) {
		t.tell(featurewire.MethodTurnSettled, with(ids, dialect.Object{"outcome": outcome, "reason": reason, "duration_ms": time.Since(began).Milliseconds()}))
	}
	if err == nil {
		fmt.Fprintln(t.stdout, answer)
	}
	return err
}

// ids name the run in observations.
func (t *talker) ids() dialect.Object {
	run := "run:" + strconv.Itoa(t.run)
	return dialect.Object{"run_id": run, "turn_id": run}
}

func with(objects ...dialect.Object) dialect.Object {
	all := dialect.Object{}
	for _, o := range objects {
		for key, v := range o {
			all[key] = v
		}
	}
	return all
}

// tell tells every extension of an event.
func (t *talker) tell(method string, params dialect.Object) {
	for _, x := range t.cast {
		t.observe(x, method, params)
	}
}

// maxTurns bounds the turns of a run.
const maxTurns = 8

// turns asks the model until it has no further call.
func (t *talker) turns(ids dialect.Object) (string, error) {
	for turn := range maxTurns {
		head := dialect.Object{"kind": featurewire.HookModelTurnStart, "run_id": ids["run_id"], "turn_index": turn, "timestamp_ms": time.Now().UnixMilli()}
		if !t.does(startsTurnsLate) {
			if err := t.operation(featurewire.HookModelTurnStart, head); err != nil && !t.does(goesOnAnyway) {
				return "", err
			}
		}
		text, calls, err := t.sample(head)
		if t.does(startsTurnsLate) {
			_ = t.operation(featurewire.HookModelTurnStart, head)
		}
		if err != nil {
			return "", err
		}
		if t.does(tellsRounds) && turn > 0 {
			t.tell(featurewire.MethodTurnStarted, ids)
		}
		t.spoken(text, turn)
		message := dialect.Object{"role": "assistant", "content": text}
		if calls != nil {
			message["tool_calls"] = calls
		}
		t.persist(message, text, calls)
		results := []any{}
		assistant := t.entry(dialect.Object{"assistant": dialect.Object{"content": []any{text}}})
		for _, c := range calls {
			output, failed := t.call(ids, c)
			if t.vetoed {
				return "", fmt.Errorf("%s was vetoed", c.Function.Name)
			}
			t.messages = append(t.messages, dialect.Object{"role": "tool", "tool_call_id": c.ID, "content": output})
			results = append(results, t.entry(dialect.Object{"tool_result": dialect.Object{"output": output, "is_error": failed}}))
		}
		tail := with(head, dialect.Object{"kind": featurewire.HookModelTurnEnd, "assistant_entry": assistant, "tool_result_entries": results, "timestamp_ms": time.Now().UnixMilli()})
		if err := t.operation(featurewire.HookModelTurnEnd, tail); err != nil && !t.does(goesOnAnyway) {
			return "", err
		}
		if calls == nil {
			return text, nil
		}
	}
	return "", fmt.Errorf("more than %d turns", maxTurns)
}

// spoken tells of a message of the model that has text.
func (t *talker) spoken(text string, turn int) {
	if text == "" || t.does(hidesMessages) {
		return
	}
	id := dialect.Object{"message_id": fmt.Sprintf("run:%d:%d", t.run, turn)}
	t.tell(featurewire.MethodMessageStarted, id)
	if t.does(settlesFirst) {
		t.tell(featurewire.MethodMessageSettled, id)
	}
	if len(text) < maxDelta {
		t.tell(featurewire.MethodMessageUpdated, with(id, dialect.Object{"delta": text, "deltas": 1}))
	}
	if !t.does(settlesFirst) {
		t.tell(featurewire.MethodMessageSettled, id)
	}
}

// maxDelta is what is told of the text of a message at most.
const maxDelta = 4096

// entry stores something and describes it.
func (t *talker) entry(value dialect.Object) dialect.Object {
	t.entries++
	return dialect.Object{"id": "e-" + strconv.Itoa(t.entries), "parent": "e-" + strconv.Itoa(t.entries-1), "timestamp_unix_ms": time.Now().UnixMilli(), "value": value}
}

// operation runs a hook of the session; one that fails or says stop ends what it is about.
func (t *talker) operation(hook string, payload dialect.Object) error {
	for _, x := range t.asked(hook) {
		o, err := t.hook(x, hook, payload, "")
		if err != nil {
			return fmt.Errorf("extension %s: %w", x.name, err)
		}
		if o.SessionOperation.Action == "cancel" && !t.does(ignoresVetoes) {
			return fmt.Errorf("extension %s vetoes", x.name)
		}
	}
	return nil
}

// retries is how often a request to the model is sent again.
const retries = 2

// sample asks the model, again where it may help.
func (t *talker) sample(head dialect.Object) (string, []call, error) {
	if t.does(rereadsTools) {
		t.tools = t.advertised()
	}
	tools := append(slices.Clone(t.tools), t.published()...)
	tools = append(tools, dialect.Object{"type": "function", "function": dialect.Object{"name": ownTool, "description": "Writes a file.", "parameters": dialect.Object{"type": "object"}}})
	for attempt := 1; ; attempt++ {
		text, calls, status, err := t.complete(tools)
		if err == nil || status < 500 || attempt > retries {
			return text, calls, err
		}
		if t.does(startsTurnsAgain) {
			_ = t.operation(featurewire.HookModelTurnStart, head)
		}
		if !t.retry(attempt) {
			return "", nil, err
		}
	}
}

// advertised are the active tools of extensions, as the model is told of them.
func (t *talker) advertised() (tools []any) {
	for _, x := range t.cast {
		for _, definition := range x.tools {
			var d dialect.Object
			_ = json.Unmarshal(definition, &d)
			var active []any
			if json.Unmarshal(x.desk.kept.active, &active) == nil && !slices.Contains(active, d["name"]) && !t.does(tellsInactive) {
				continue
			}
			tools = append(tools, dialect.Object{"type": "function", "function": dialect.Object{"name": d["name"], "description": t.described(x, d), "parameters": d["parameters"]}})
		}
	}
	return tools
}

// described is what the model is told of a tool.
func (t *talker) described(x *link, d dialect.Object) string {
	text, _ := d["description"].(string)
	if slices.Contains(x.selected, featurewire.FeatureToolPromptMetadataV1) && !t.does(hidesSnippets) {
		snippet, _ := d["prompt_snippet"].(string)
		text += "\n" + snippet
		guidelines, _ := d["prompt_guidelines"].([]any)
		for _, g := range guidelines {
			text += "\n" + fmt.Sprint(g)
		}
	}
	return text
}

// retry asks what extensions think of a retry, and reports whether it is made.
func (t *talker) retry(attempt int) bool {
	payload := dialect.Object{"kind": string(featurewire.ProviderRetryKindStreamStart), "max_attempts": retries + 1, "operation": nil, "attempt": attempt, "delay_ms": 100, "model": "conform"}
	goes, delay := true, 100*time.Millisecond
	for _, x := range t.asked(featurewire.HookProviderRetry) {
		o, err := t.hook(x, featurewire.HookProviderRetry, payload, "")
		if err != nil {
			t.complain("extension %s: %v", x.name, err)
			goes = goes && !t.does(stopsAtFailure)
			continue
		}
		if strings.Contains(string(o.Retry), "stop") && !t.does(retriesAnyway) {
			goes = false
		}
		var r struct {
			Delay struct {
				Millis int64 `json:"additional_delay_ms"`
			} `json:"delay"`
		}
		if json.Unmarshal(o.Retry, &r) == nil {
			delay += time.Duration(r.Delay.Millis) * time.Millisecond
		}
	}
	if most := 5 * time.Second; delay > most && !t.does(addsDelaysUp) {
		delay = most
	}
	select {
	case <-time.After(delay):
	case <-t.ctx.Done():
	}
	return goes
}

// persist stores an answer of the model.
func (t *talker) persist(message dialect.Object, text string, calls []call) {
	payload := dialect.Object{
		"run_id": "run:" + strconv.Itoa(t.run), "model": "conform", "protocol": "openai", "stop_reason": "end", "text_bytes": len(text),
		"tool_call_count": len(calls), "reasoning_part_count": 0, "media_part_count": 0,
	}
	for _, x := range t.asked(featurewire.HookBeforePersistence) {
		o, err := t.hook(x, featurewire.HookBeforePersistence, payload, "")
		if err != nil {
			t.complain("extension %s: %v", x.name, err)
		}
		if (err != nil || o.Disposition.Action == "deny") && t.does(storesAtWill) {
			return
		}
		if o.Metadata.Value != nil && t.does(tellsMetadata) {
			message["content"] = fmt.Sprint(message["content"], string(o.Metadata.Value))
		}
	}
	t.messages = append(t.messages, message)
}

// call makes a call that the model wants.
func (t *talker) call(ids dialect.Object, c call) (output string, failed bool) {
	if c.Function.Name == ownTool {
		return "written", t.mutated()
	}
	if t.does(mutatesAlways) {
		t.mutated()
	}
	var owner *link
	for _, x := range t.cast {
		for _, definition := range x.tools {
			var d struct{ Name string }
			_ = json.Unmarshal(definition, &d)
			if d.Name == c.Function.Name {
				owner = x
			}
		}
	}
	if owner == nil {
		return "there is no such tool", true
	}
	arguments := json.RawMessage(c.Function.Arguments)
	payload := dialect.Object{"name": c.Function.Name, "arguments": arguments}
	pieces, denied := t.opinions(featurewire.HookBeforeToolCall, payload, c.ID)
	if denied != "" {
		return denied, true
	}
	tool := with(ids, dialect.Object{"tool_call_id": c.ID, "tool_name": c.Function.Name})
	t.tell(featurewire.MethodToolStarted, tool)
	params := with(payload, dialect.Object{"context": t.context(owner, c.ID)})
	if slices.Contains(owner.selected, featurewire.FeatureDynamicTools) {
		params["catalog_revision"] = owner.epoch
	}
	began := time.Now()
	result, err := t.ask(owner, dialect.ToolCall, params, answerWait)
	var r struct {
		IsError bool `json:"is_error"`
	}
	_ = json.Unmarshal(result, &r)
	output, failed = texts(result), err != nil || r.IsError
	if err != nil {
		output = err.Error()
	}
	if t.does(tellsForTheRecord) {
		output += string(result)
	}
	outcome := featurewire.SettlementOutcomeCompleted
	if failed {
		outcome = featurewire.SettlementOutcomeFailed
	}
	t.tell(featurewire.MethodToolSettled, with(tool, dialect.Object{"outcome": string(outcome), "reason": nil, "duration_ms": time.Since(began).Milliseconds()}))
	if t.news(featurewire.HookAfterToolCall, with(payload, dialect.Object{"output": output, "is_error": failed}), c.ID) && t.does(honoursAll) {
		output = "denied"
	}
	for _, p := range pieces {
		output += "\n" + p.Content
	}
	return output, failed
}

// ownTool is the tool of the host itself.
const ownTool = "write"

// mutated tells of a file that was written, and reports whether that failed.
func (t *talker) mutated() (failed bool) {
	t.run++
	payload := dialect.Object{
		"mutation_id": "mutation:" + strconv.Itoa(t.run), "kind": string(featurewire.MutationKindResource), "generation": 1,
		"state": string(featurewire.MutationStateCommitted), "affected_resources": []any{"resource:file:1"},
	}
	all := t.asked(featurewire.HookPostMutation)
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, x := range all {
		wg.Go(func() { _, errs[i] = t.hook(x, featurewire.HookPostMutation, payload, "") })
	}
	wg.Wait()
	t.vetoed = errors.Join(errs...) != nil && t.does(stopsAtFailure)
	return t.vetoed
}

// compact sums the conversation up.
func (t *talker) compact() error {
	if err := t.operation(featurewire.HookSessionBeforeCompact, dialect.Object{}); err != nil {
		return err
	}
	before := slices.Clone(t.messages)
	if asked, err := t.pictured(); asked && !(err != nil && t.does(summarizesAnyway)) {
		return err
	}
	t.messages = append(t.messages, dialect.Object{"role": "user", "content": "Sum the conversation up."})
	summary, _, _, err := t.complete(nil)
	if err != nil {
		return err
	}
	t.entries++
	t.messages = []dialect.Object{{"role": "user", "content": summary}}
	err = t.operation(featurewire.HookSessionCompact, dialect.Object{})
	if err != nil && t.does(dropsCheckpoint) {
		t.messages = before
	}
	return err
}

// Reasons of the end of a binding.
const (
	endShutdown = string(canonicalwire.SessionEndReasonShutdown)
	endReload   = string(canonicalwire.SessionEndReasonReload)
)

// pairs reports whether an extension is told of sessions by hooks.
func (t *talker) pairs(x *link) bool {
	declared, _ := x.x.Contributes["hooks"].([]any)
	return x.d.Canonical() && (slices.Contains(x.selected, canonicalwire.MethodHookRun) && len(declared) > 0 || t.does(runsAnyHook))
}

// sessionHookWait is how long a session hook may take.
const sessionHookWait = 250 * time.Millisecond

func (t *talker) startPair(x *link) {
	x.paired = true
	t.sessionHook(x, string(manifestdoc.HookSessionStart), dialect.Object{"binding": t.owner(x)})
	if t.does(startsTwice) {
		t.sessionHook(x, string(manifestdoc.HookSessionStart), dialect.Object{"binding": t.owner(x)})
	}
}

// endPair settles the binding of a link at an extension, once.
func (t *talker) endPair(x *link, outcome, reason string, at *link) {
	if !x.paired && !t.does(endsTwice) {
		return
	}
	x.paired = false
	binding := t.owner(x)
	if t.does(endsOthers) {
		binding["session_id"] = "another"
	}
	for range map[bool]int{true: 2, false: 1}[t.does(endsTwice)] {
		t.sessionHook(at, string(manifestdoc.HookSessionEnd), dialect.Object{"binding": binding, "outcome": outcome, "reason": reason, "duration_ms": time.Since(t.began).Milliseconds()})
	}
}

func (t *talker) sessionHook(x *link, hook string, payload dialect.Object) {
	result, err := t.ask(x, canonicalwire.MethodHookRun, dialect.Object{"hook": hook, "payload": payload}, sessionHookWait)
	var r struct {
		Disposition struct {
			Kind   string `json:"kind"`
			Reason string `json:"reason"`
		} `json:"disposition"`
	}
	if err == nil {
		err = json.Unmarshal(result, &r)
	}
	switch {
	case err != nil && !t.does(failsSilently):
		t.complain("extension %s: the hook %s failed: %v", x.name, hook, err)
	case r.Disposition.Kind == "deny" && !t.does(recordsNothing):
		t.complain("extension %s: the hook %s says: %s", x.name, hook, r.Disposition.Reason)
	}
	if r.Disposition.Kind == "deny" && t.does(honoursAll) || err != nil && t.does(deniesAtFailure) {
		t.vetoed = true
	}
}
