package oupserver

import "github.com/octet-dev/octet/generated/oupwire"

// Plays are what servers may do, or what clients have to stand, beside a conversation that goes well. They have no
// rule: what a client makes of them is judged.
func Plays() []Fault {
	restart := func(s *Server, what string, frame object) int {
		if s.once("restart", what, frame) {
			return closeRestart
		}
		return 0
	}
	return []Fault{
		{Doc: "tells what nobody knows", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if s.once("news", what, frame) {
				return []object{{"jsonrpc": version, "method": "nobody/knows", "params": object{"a": 1}}}, 0
			}
			return nil, 0
		}},
		{Doc: "answers what nobody asked", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if s.once("answer", what, frame) {
				return []object{{"jsonrpc": version, "id": "nobody-asked", "result": object{}}}, 0
			}
			return nil, 0
		}},
		{Doc: "asks its client back", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if s.once("request", what, frame) {
				return []object{{"jsonrpc": version, "id": "of-the-server", "method": "client/answers", "params": object{}}}, 0
			}
			return nil, 0
		}},
		{Doc: "fails nobody with an error of no form", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if s.once("failure", what, frame) {
				return []object{{"jsonrpc": version, "id": "nobody", "error": object{"code": "7", "message": 7}}}, 0
			}
			return nil, 0
		}},
		{Doc: "adds members to everything", frame: func(_ *Server, _ *conn, _ string, frame object) {
			for _, o := range []object{frame, child(frame, "params"), child(frame, "result"), child(child(frame, "result"), "opened"), child(child(child(frame, "params"), "payload"), "data")} {
				if o != nil {
					o["additional"] = object{"a": 1}
				}
			}
		}},
		{Doc: "sends null for what it has not", frame: func(_ *Server, _ *conn, what string, frame object) {
			if opened := child(child(frame, "result"), "opened"); opened != nil {
				opened["reasoning_effort"], opened["panes"] = nil, nil
			}
			if what == oupwire.MethodProjectionEnvelope || what == oupwire.MethodTurnStarted {
				child(frame, "params")["topic"] = nil
			}
		}},
		{Doc: "uses new words", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if s.once("words", what, frame) {
				key := child(frame, "params")["session_id"]
				return []object{
					{"jsonrpc": version, "method": oupwire.MethodProgressUpdated, "params": object{"session_id": key, "metadata": object{"kind": "dancing", "steps": 3}}},
					{"jsonrpc": version, "method": oupwire.MethodWarning, "params": object{"session_id": key, "code": "of-a-new-kind", "message": "nothing"}},
				}, 0
			}
			return nil, 0
		}},
		{Doc: "tells session events of a new kind", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if s.once("bridged", what, frame) {
				key := child(frame, "params")["session_id"]
				return []object{{"jsonrpc": version, "method": oupwire.MethodSessionEvent, "params": object{"session_id": key, "kind": "of-a-new-kind", "payload": []any{1}}}}, 0
			}
			return nil, 0
		}},
		{Doc: "names the kind of its events", frame: func(_ *Server, _ *conn, what string, frame object) {
			if p := child(frame, "params"); p != nil && p["kind"] == nil {
				p["kind"] = what
			}
		}},
		{Doc: "takes its time", does: []string{"takes its time"}},
		{Doc: "starts anew in the middle", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			return nil, restart(s, what, frame)
		}},
		{Doc: "starts anew twice", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if opened := child(child(frame, "result"), "opened"); opened != nil && s.played["restart"] > 0 && s.played["again"] == 0 {
				s.played["again"]++
				return nil, closeRestart
			}
			return nil, restart(s, what, frame)
		}},
		{Doc: "starts anew and repeats itself", does: []string{"tells again what it told"}, more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			return nil, restart(s, what, frame)
		}},
		{Doc: "starts anew and has forgotten what it told", does: []string{"has forgotten what it told"}, more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			return nil, restart(s, what, frame)
		}},
		{Doc: "starts anew as another server", does: []string{"is another server"}, more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			return nil, restart(s, what, frame)
		}},
		{Doc: "loses events", more: func(s *Server, _ *conn, what string, frame object) ([]object, int) {
			if !s.once("loss", what, frame) {
				return nil, 0
			}
			p := child(frame, "params")
			seq, _ := number(child(p, "cursor"), "seq")
			return []object{{"jsonrpc": version, "method": oupwire.MethodProtocolReplayLossy, "params": object{
				"session_id": p["session_id"], "dropped_count": 1, "last_durable_cursor": object{"stream": p["session_id"], "seq": seq - 1},
			}}}, 0
		}},
		{Doc: "leaves a gap", event: func(s *Server, _ *conn, what string, params object) bool {
			return !s.once("gap", what, object{"params": params})
		}},
		{Doc: "repeats its pieces", more: func(_ *Server, _ *conn, what string, frame object) ([]object, int) {
			if what == oupwire.MethodProjectionEnvelope {
				return []object{frame}, 0
			}
			return nil, 0
		}},
		{Doc: "speaks in two parts at once", does: []string{"speaks in two parts at once"}},
		{Doc: "starts anew behind the start of a turn", more: func(s *Server, _ *conn, what string, _ object) ([]object, int) {
			if what == oupwire.MethodTurnStarted && s.played["start"] == 0 {
				s.played["start"]++
				return nil, closeRestart
			}
			return nil, 0
		}},
		{Doc: "says more than one thing", does: []string{"says more than one thing"}},
		{Doc: "corrects itself", event: func(_ *Server, _ *conn, what string, params object) bool {
			if data := piece(what, params, "assistant_persisted"); data != nil {
				data["text"] = "Four five six."
			}
			return true
		}},
		{Doc: "speaks behind its end", more: func(_ *Server, _ *conn, what string, frame object) ([]object, int) {
			return behind(what, frame, object{"type": "assistant_persisted", "data": object{
				"text": "And more.", "assistant_segment_id": "late", "meta": object{"message_id": "late", "persisted_at": "2026-01-01T00:00:00Z"},
			}}), 0
		}},
		{Doc: "ends twice", more: func(_ *Server, _ *conn, what string, frame object) ([]object, int) {
			return behind(what, frame, object{"type": "turn_terminal", "data": object{"outcome": errored, "error": object{"code": "runtime_error", "message": "no"}}}), 0
		}},
		versioned("speaks another protocol", func(v object) { v["protocol"] = "another/v1" }),
		versioned("is older", func(v object) { v["schema_version"] = oupwire.SchemaVersion - 1 }),
		versioned("is newer", func(v object) { v["schema_version"] = oupwire.SchemaVersion + 1 }),
		described("gives no reasons", func(c object) {
			for _, row := range list(c, "unsupported") {
				delete(row.(object), "reason")
			}
		}),
		described("serves turns alone", func(c object) {
			var kept []any
			for _, m := range list(c, "supported_methods") {
				switch m {
				case oupwire.MethodClientHello, oupwire.MethodConfigCapabilitiesList, oupwire.MethodSessionOpen, oupwire.MethodTurnStart, oupwire.MethodTurnInterrupt, oupwire.MethodApprovalRespond, oupwire.MethodUserQuestionRespond:
					kept = append(kept, m)
				}
			}
			c["supported_methods"] = kept
		}),
		framed("", "refuses by a success", oupwire.MethodTurnStart, func(f object) {
			if child(f, "result") != nil {
				f["result"] = object{"unsupported": object{"method": oupwire.MethodTurnStart}}
			}
		}),
		framed("", "opens without capabilities", oupwire.MethodSessionOpen, func(f object) {
			delete(child(child(f, "result"), "opened"), "capabilities")
			delete(child(f, "params"), "capabilities")
		}),
		{Doc: "confirms another key", does: []string{"confirms another key"}},
	}
}

// FindPlay returns what a server does in a play.
func FindPlay(doc string) (Fault, bool) {
	for _, f := range Plays() {
		if f.Doc == doc {
			return f, true
		}
	}
	return Fault{}, false
}

// once is true for the second piece of an answer, the first time that there is one.
func (s *Server) once(name, what string, frame object) bool {
	if piece(what, child(frame, "params"), "assistant_delta") == nil {
		return false
	}
	s.played[name]++
	return s.played[name] == 2
}

// piece is the data of a piece of one type; nil for every other frame.
func piece(what string, params object, kind string) object {
	payload := child(params, "payload")
	if what != oupwire.MethodProjectionEnvelope || text(payload, "type") != kind {
		return nil
	}
	return child(payload, "data")
}

// behind is one more piece behind the end of a turn.
func behind(what string, frame object, payload object) []object {
	params := child(frame, "params")
	if piece(what, params, "turn_terminal") == nil {
		return nil
	}
	late := copied(params)
	seq, _ := number(late, "seq")
	cursor, _ := number(child(late, "cursor"), "seq")
	late["seq"], late["payload"] = seq+1, payload
	child(late, "cursor")["seq"] = cursor + 1
	return []object{{"jsonrpc": version, "method": what, "params": late}}
}

// described is a play that changes capabilities wherever they are told.
func described(doc string, change func(capabilities object)) Fault {
	return Fault{Doc: doc, frame: func(_ *Server, _ *conn, _ string, frame object) {
		for _, o := range []object{child(frame, "result"), child(child(frame, "result"), "opened"), child(frame, "params")} {
			if c := child(o, "capabilities"); c != nil {
				told := copied(c)
				change(told)
				o["capabilities"] = told
			}
		}
	}}
}

func versioned(doc string, change func(version object)) Fault {
	return described(doc, func(c object) {
		if v := child(c, "version"); v != nil {
			change(v)
		}
	})
}
