package oupreferee

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/oupwire"
)

// servicePhrases are about what a server has beside its sessions.
func servicePhrases() []phrase {
	return slices.Concat(placePhrases(), profilePhrases(), modelPhrases(), []phrase{
		{`the server tells of a model where one is configured alone`, (*world).modelTold},
		{`the summary counts the servers of the answer`, (*world).summaryCounts},
		{`the contract of tools is there where it is negotiated alone`, (*world).contractThere},
		{`the contract of tools is incomplete where a tool is missing alone`, (*world).contractComplete},
		{`the session has a router`, (*world).hasRouter},
		{`a server without a router says so of every request`, (*world).routerAbsent},
		{`the router told nothing of itself between the pieces of the turn`, (*world).routerTimes},
		{`the lanes of the answer are named and sorted`, (*world).lanesSorted},
	})
}

// given is the result of the newest answer, where that is one.
func (w *world) given() (any, error) {
	if err := w.offered(w.answer); err != nil {
		return nil, err
	}
	if w.answer.fault != nil {
		return nil, failed("%s is refused: %s", w.asked, short(w.answer.fault))
	}
	return w.answer.result, nil
}

// noModel is how a server names a model that is not configured.
const noModel = "none"

// modelTold looks whether a status says none of a model that is not configured, and something else of one that is.
func (w *world) modelTold() error {
	result, err := w.given()
	if err != nil {
		return err
	}
	configured, _ := at(result, "status.agent_configured")
	for _, member := range []string{"model", "provider"} {
		got, _ := at(result, "status."+member)
		if (got == noModel) == (configured == true) {
			return failed("%s says %s of its %s, and %s of whether one is configured", w.asked, short(got), member, short(configured))
		}
	}
	return nil
}

func (w *world) summaryCounts() error {
	result, err := w.given()
	if err != nil {
		return err
	}
	counts := map[string]int{}
	servers, _ := at(result, "servers")
	rows, _ := servers.([]any)
	for _, row := range rows {
		status, _ := at(row, "status")
		counts[fmt.Sprint(status)]++
	}
	summary, _ := at(result, "summary")
	for status, n := range asObject(summary) {
		if fmt.Sprint(n) != fmt.Sprint(counts[status]) {
			return failed("%s counts %s servers as %s and lists %d", w.asked, short(n), status, counts[status])
		}
	}
	return nil
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// contractThere compares the newest answer with what the connection has negotiated.
func (w *world) contractThere() error {
	result, err := w.given()
	if err != nil {
		return err
	}
	method := w.asked
	shown, err := w.advertised(oupwire.MethodConfigCapabilitiesList, object{}, listFeatures)
	if err != nil {
		return err
	}
	contract, _ := at(result, "coding_tool_contract")
	negotiated := slices.Contains(shown, oupwire.FeatureCodingToolContractV1)
	switch {
	case negotiated && contract == nil:
		return failed("%s has no contract of tools, though %s is negotiated", method, oupwire.FeatureCodingToolContractV1)
	case !negotiated && contract != nil:
		return failed("%s has a contract of tools, though %s is not negotiated", method, oupwire.FeatureCodingToolContractV1)
	}
	return nil
}

func (w *world) contractComplete() error {
	result, err := w.given()
	if err != nil {
		return err
	}
	status, _ := at(result, "coding_tool_contract.status")
	missed, _ := at(result, "coding_tool_contract.missing_required_tools")
	lacking, _ := missed.([]any)
	if (status == string(oupwire.CodingToolContractStatusIncomplete)) != (len(lacking) > 0) {
		return failed("the contract of tools is %s and lacks %s", short(status), short(missed))
	}
	return nil
}

// gone reports whether an error says that there is no runtime behind a request.
func gone(fault object) bool {
	kind, _ := at(fault, "data.kind")
	return errorName(fault) == oupwire.ErrRuntimeNotReady.Name && kind == "runtime_unavailable"
}

// hasRouter leaves a scenario alone that is about a router where there is none. The mode is remembered.
func (w *world) hasRouter() error {
	w.note()
	r, err := w.call(w.cur, oupwire.MethodRouterGetMetrics, object{"session_id": w.vars["session"]})
	if err != nil {
		return err
	}
	w.answer = r
	if r.fault != nil && (gone(r.fault) || refusedAsUnsupported(r.fault)) {
		return notApplicable("the server has no router")
	}
	return w.remembers("mode", "answer", "mode")
}

// routerAbsent asks a router for all that it does. One that refuses a request for want of a router refuses all so.
func (w *world) routerAbsent() error {
	wrong, there := "", ""
	absent := false
	for method, more := range map[string]object{oupwire.MethodRouterGetMetrics: {}, oupwire.MethodRouterSetMode: {"mode": string(oupwire.RouterModeOff)}} {
		more["session_id"] = w.vars["session"]
		w.note()
		r, err := w.call(w.cur, method, more)
		if err != nil {
			return err
		}
		switch kind, _ := at(r.fault, "data.kind"); {
		case r.fault == nil:
			there = method
		case refusedAsUnsupported(r.fault):
		case gone(r.fault):
			absent = true
		case kind == "runtime_unavailable":
			absent = true
			wrong = fmt.Sprintf("%s is refused for want of a router with %s, want %s", method, errorName(r.fault), oupwire.ErrRuntimeNotReady.Name)
		default:
			return missing("%s is refused: %s", method, short(r.fault))
		}
	}
	switch {
	case !absent:
		return notApplicable("no request says that the server has no router")
	case wrong != "":
		return failed("%s", wrong)
	case there != "":
		return failed("%s is carried out, though another request is refused for want of a router", there)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.cur.frames {
		if f.method() == oupwire.MethodRouterStatus {
			return failed("%s comes from a server without a router: %s", oupwire.MethodRouterStatus, short(f.root["params"]))
		}
	}
	return nil
}

// parts are the pieces of which an answer has several.
var parts = []any{"assistant_delta", "tool_start", "tool_end"}

// routerTimes looks for what a router told between the first and the last piece of an answer.
func (w *world) routerTimes() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, last := -1, -1
	for i, f := range w.cur.frames {
		kind, _ := at(f.root, "params.payload.type")
		turn, _ := at(f.root, "params.turn_id")
		if f.method() == oupwire.MethodProjectionEnvelope && slices.Contains(parts, kind) && turn == w.vars["turn"] {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first == last {
		return notApplicable("the turn says nothing in pieces")
	}
	for _, f := range w.cur.frames[first:last] {
		if session, _ := at(f.root, "params.session_id"); f.method() == oupwire.MethodRouterStatus && session == w.vars["session"] {
			return failed("%s comes between the pieces of an answer", oupwire.MethodRouterStatus)
		}
	}
	return nil
}

// lanesSorted reads the maps of lanes as they are spelled.
func (w *world) lanesSorted() error {
	if _, err := w.given(); err != nil {
		return err
	}
	kept, _ := w.rec.Frames()
	w.mu.Lock()
	index := w.cur.frames[w.answer.place].index
	w.mu.Unlock()
	i := slices.IndexFunc(kept, func(f wire.Frame) bool { return f.Index == index })
	if i < 0 {
		return errored("the answer to %s was not kept", w.asked)
	}
	var spelled struct {
		Result map[string]json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(kept[i].Bytes, &spelled); err != nil {
		return errored("%v", err)
	}
	for _, member := range []string{"lane_scores", "circuit_breakers"} {
		lanes := names(spelled.Result[member])
		for _, lane := range lanes {
			if provider, model, both := strings.Cut(lane, "/"); !both || provider == "" || model == "" {
				return failed("%s of %s names a lane %s, want a provider, a slash and a model", member, w.asked, short(lane))
			}
		}
		if !slices.IsSorted(lanes) {
			return failed("%s of %s is not sorted: %s", member, w.asked, short(lanes))
		}
	}
	return nil
}

// names are the members of an object whose values are no objects and no lists, as they stand there.
func names(spelled json.RawMessage) []string {
	dec := json.NewDecoder(bytes.NewReader(spelled))
	var out []string
	for i := -1; ; i++ {
		token, err := dec.Token()
		if err != nil {
			return out
		}
		if name, is := token.(string); is && i%2 == 0 {
			out = append(out, name)
		}
	}
}
