package methods_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// sample is a request that keeps its model, in a session that is there.
func sample(method, session string) params {
	p := map[string]params{
		oupwire.MethodSessionTitleSet:        {"title": "t"},
		oupwire.MethodSessionRollback:        {"num_turns": 1},
		oupwire.MethodSessionFork:            {"new_chat_id": "walk"},
		oupwire.MethodSessionBtw:             {"question": "q"},
		oupwire.MethodSessionCompactModeSet:  {"mode": "llm"},
		oupwire.MethodSessionAppendMessage:   {"role": "user", "content": "c", "source": "s"},
		oupwire.MethodTurnStart:              {"turn_id": turnID(77), "input": []any{params{"kind": "text", "text": "t"}}},
		oupwire.MethodTurnInterrupt:          {"turn_id": turnID(78)},
		oupwire.MethodTurnSteer:              {"input": []any{params{"kind": "text", "text": "t"}}},
		oupwire.MethodTurnStateGet:           {"turn_id": turnID(79)},
		oupwire.MethodApprovalRespond:        {"approval_id": turnID(80), "decision": "approve"},
		oupwire.MethodUserQuestionRespond:    {"question_id": turnID(81), "answers": []any{}},
		oupwire.MethodPermissionProfileSet:   {"update": params{}},
		oupwire.MethodDiffPreviewGet:         {"preview_id": turnID(82)},
		oupwire.MethodSnapshotRestore:        {"snapshot_id": turnID(83)},
		oupwire.MethodTaskCancel:             {"task_id": turnID(84)},
		oupwire.MethodTaskRestartFromNode:    {"task_id": turnID(84)},
		oupwire.MethodTaskOutputRead:         {"task_id": turnID(84)},
		oupwire.MethodTaskArtifactList:       {"task_id": turnID(84)},
		oupwire.MethodTaskArtifactRead:       {"task_id": turnID(84), "artifact_id": "output-01"},
		oupwire.MethodClientHello:            nil,
		oupwire.MethodConfigCapabilitiesList: nil,
		oupwire.MethodSessionList:            nil,
		oupwire.MethodSessionHistoryList:     nil,
		oupwire.MethodServerShutdown:         nil,
	}
	rest, special := p[method]
	members := maps.Clone(rest)
	if members == nil {
		members = params{}
	}
	if !special || rest != nil {
		members["session_id"] = session
	}
	return members
}

// reach is what the tables say of a request.
type reach struct {
	method, topic, session string
}

// rows are the requests of this server that are about sessions and tasks.
func rows(supported []string) (list []reach) {
	for _, r := range oupwire.TableMethodReach {
		if slices.Contains(supported, r.Method) {
			list = append(list, reach{r.Method, r.Topic, r.Session})
		}
	}
	for _, r := range oupwire.TableServiceMethodReach {
		if slices.Contains(supported, r.Method) && strings.HasPrefix(r.Method, "task/") {
			list = append(list, reach{r.Method, r.Topic, r.Session})
		}
	}
	return list
}

// field is a member of params.
type field struct {
	name     string
	required bool
}

// fields are the members of a method's params, as the generated model has them.
func fields(t *testing.T, method string) (list []field) {
	t.Helper()
	good, err := json.Marshal(sample(method, sessionA))
	if err != nil {
		t.Fatal(err)
	}
	model, err := oupwire.DecodeAny(oupwire.LookupRequest(method).Shapes[0].Params, good)
	if err != nil {
		t.Fatalf("the sample of %s: %v", method, err)
	}
	of := reflect.TypeOf(model)
	for i := range of.NumField() {
		if name := of.Field(i).Tag.Get("json"); name != "-" {
			list = append(list, field{name, !strings.HasPrefix(of.Field(i).Type.Name(), "Opt[")})
		}
	}
	return list
}

// state is everything that a refused request must not change.
func (w *world) state(c *client) string {
	w.Helper()
	var all strings.Builder
	for _, session := range []string{sessionA, "_main:local:never", "_main:local:walk"} {
		window, err := w.Ledger.Window(w.Context(), session)
		if err != nil {
			w.Fatal(err)
		}
		tasks, err := w.Tasks.List(session)
		if err != nil {
			w.Fatal(err)
		}
		fmt.Fprintf(&all, "%s head %d, %d tasks\n", session, window.Head, len(tasks))
	}
	all.WriteString(string(c.ask(oupwire.MethodSessionList, params{}).Result))
	for _, m := range []string{oupwire.MethodSessionMessagesPage, oupwire.MethodPermissionProfileList, oupwire.MethodSnapshotList} {
		all.WriteString(string(c.ask(m, params{"session_id": sessionA}).Result))
	}
	return all.String()
}

// bad is a request that must be refused.
type bad struct {
	what   string
	params any
	code   int64
	kind   string
}

// wrongs are values, one of which is of the wrong type for any member.
var wrongs = []any{params{"x": 1}, 7.5, "text", true, []any{1}}

// badRequests are the requests of a row that must be refused, each with the code and the kind of the documents.
func badRequests(t *testing.T, r reach) (list []bad) {
	t.Helper()
	good := func() params { return sample(r.method, sessionA) }
	if r.method == oupwire.MethodConfigCapabilitiesList { // takes whatever comes
		return nil
	}
	list = append(list, bad{"params that are no object", []any{}, -32602, ""}, bad{"a number for params", 5, -32602, ""})
	for _, f := range fields(t, r.method) {
		if f.required {
			p := good()
			delete(p, f.name)
			list = append(list, bad{"missing " + f.name, p, -32602, ""})
		}
		refused := 0
		for _, wrong := range wrongs {
			p := good()
			p[f.name] = wrong
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := oupwire.DecodeAny(oupwire.LookupRequest(r.method).Shapes[0].Params, text); err != nil {
				list = append(list, bad{fmt.Sprintf("wrong %s %v", f.name, wrong), p, -32602, ""})
				refused++
			}
		}
		if refused == 0 && f.name != "client" {
			t.Errorf("%s takes anything for %s", r.method, f.name)
		}
	}
	if _, about := good()["session_id"]; !about {
		return list
	}
	p := good()
	p["session_id"] = strings.Repeat("k", 1025)
	list = append(list, bad{"an oversized key", p, -32602, ""})
	p = sample(r.method, "nobody:local:x")
	list = append(list, bad{"a profile that is not there", p, -32602, "profile_unresolved"})
	if slices.ContainsFunc(fields(t, r.method), func(f field) bool { return f.name == "profile_id" }) {
		p = good()
		p["profile_id"] = ""
		list = append(list, bad{"an empty profile", p, -32602, ""})
		p = good()
		p["profile_id"] = "other"
		list = append(list, bad{"a profile that is not the session's", p, -32602, ""})
	}
	if r.session == "exists" {
		list = append(list, bad{"a session that is not there", sample(r.method, "_main:local:never"), -32100, "unknown_session"})
		if r.topic == "fold" {
			p = good()
			p["topic"] = "elsewhere"
			list = append(list, bad{"a topic that is not there", p, -32100, "unknown_session"})
		}
	}
	return list
}

// TestRows_refuseBadRequestsAndStayAsTheyAre covers the first sentence of "Bad input": every row and every way to be
// wrong, the same on both transports.
func TestRows_refuseBadRequestsAndStayAsTheyAre(t *testing.T) {
	w := newWorld(t)
	clients := map[string]*client{}
	for name, connect := range both {
		clients[name] = connect(w).hello()
	}
	main := clients["stdio"].open(sessionA)
	main.turn(sessionA, 1, "hello")
	before := w.state(main)
	checked := map[string]int{}
	for name, c := range clients {
		var greeted oupwire.ConfigCapabilitiesListResult
		c.do(oupwire.MethodConfigCapabilitiesList, params{}, &greeted)
		for _, r := range rows(greeted.Capabilities.SupportedMethods) {
			for _, b := range badRequests(t, r) {
				f := c.ask(r.method, b.params)
				checked[r.method]++
				switch {
				case f.Error == nil || f.Error.Code != b.code || f.kind() != b.kind:
					t.Errorf("%s over %s with %s: %.300s; want %d %q", r.method, name, b.what, f.text, b.code, b.kind)
				case !strings.Contains(f.Error.Message, r.method):
					t.Errorf("%s over %s with %s: the refusal does not name it: %s", r.method, name, b.what, f.Error.Message)
				}
			}
		}
	}
	if after := w.state(main); after != before {
		t.Errorf("refused requests have changed something:\n%s\nbefore\n%s", after, before)
	}
	if len(checked) < 35 {
		t.Errorf("only %d rows were walked", len(checked))
	}
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|"timestamp_unix":\d+|"duration_ms":\d+|"seq":\d+|"transcript_hash":"[0-9a-f]+"`)
	roots = regexp.MustCompile(`/[^"]*/(work|data)`)
)

// normal leaves out of an answer what is different on every run.
func normal(text string) string {
	for _, x := range []*regexp.Regexp{uuids, times, roots} {
		text = x.ReplaceAllString(text, "~")
	}
	return text
}

// TestRows_workTheSameOnBothTransports calls every row that is advertised, on a world of its own for each transport.
func TestRows_workTheSameOnBothTransports(t *testing.T) {
	answers := map[string][]string{}
	supported := map[string][]string{}
	for name, connect := range both {
		w := newWorld(t)
		c := connect(w).hello().open(sessionA)
		var greeted oupwire.ConfigCapabilitiesListResult
		c.do(oupwire.MethodConfigCapabilitiesList, params{}, &greeted)
		supported[name] = greeted.Capabilities.SupportedMethods
		c.turn(sessionA, 1, "hello")
		c.turn(sessionA, 2, "again")
		list := rows(supported[name])
		// Deleting comes last, and ending the server is for sockets alone.
		last := func(r reach) int { return strings.Index(" session/delete server/shutdown", r.method) }
		slices.SortStableFunc(list, func(a, b reach) int { return last(a) - last(b) })
		for _, r := range list {
			if r.method == oupwire.MethodServerShutdown {
				continue
			}
			f := c.ask(r.method, sample(r.method, sessionA))
			if r.method == oupwire.MethodTurnStart {
				c.terminal(77)
			}
			if r.method == oupwire.MethodTurnSteer {
				var to oupwire.TurnSteerResult
				if err := json.Unmarshal(f.Result, &to); err != nil {
					t.Fatal(err)
				}
				c.until(0, "the end of the turn that a steer begins", func(f *frame) bool {
					return strings.Contains(f.text, string(to.TurnID)) && strings.Contains(f.text, "turn_terminal")
				})
			}
			f.ID = nil
			text := string(f.Result)
			if f.Error != nil {
				text = fmt.Sprint(f.Error.Code, " ", f.Error.Message, " ", string(f.Error.Data))
				if !strings.Contains("unknown_turn unknown_approval user_question_unknown unknown_preview unknown_task", f.kind()) && r.method != oupwire.MethodSnapshotRestore {
					t.Errorf("%s over %s: %s", r.method, name, text)
				}
			}
			if r.method != oupwire.MethodClientHello && r.method != oupwire.MethodConfigCapabilitiesList && r.method != oupwire.MethodSessionStatusRead && r.method != oupwire.MethodSessionOpen {
				answers[name] = append(answers[name], r.method+" "+normal(text))
			}
		}
	}
	if !slices.Equal(answers["stdio"], answers["websocket"]) {
		for i := range answers["stdio"] {
			if a, b := answers["stdio"][i], answers["websocket"][i]; a != b {
				t.Errorf("over stdio\n%s\nover websocket\n%s", a, b)
			}
		}
	}
	extra := slices.DeleteFunc(slices.Clone(supported["websocket"]), func(m string) bool { return slices.Contains(supported["stdio"], m) })
	if !slices.Equal(extra, []string{oupwire.MethodServerShutdown}) {
		t.Errorf("over websocket there is %q beside what is over stdio", extra)
	}
	if len(answers["stdio"]) < 35 {
		t.Errorf("%d rows were called", len(answers["stdio"]))
	}
}
