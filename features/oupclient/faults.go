package oupclient

// Fault is a client that breaks exactly one rule.
type Fault struct {
	Name string
	Rule string
	// Doc says what it does, behind "a client that".
	Doc string
	// Transport is the one on which it shows; empty for WebSocket.
	Transport string

	does []string
}

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{
		act("OUP-FRAME-002", "breaks its frames into lines"),
		act("OUP-FRAME-002", "leaves jsonrpc out"),
		act("OUP-FRAME-002", "answers its server"),
		act("OUP-FRAME-004", "writes frames over the bound"),
		act("OUP-FRAME-006", "numbers its requests"),
		act("OUP-FRAME-007", "uses one id twice"),
		act("OUP-FRAME-013", "leaves params out"),
		act("OUP-FRAME-024", "ends at an unknown notification"),
		act("OUP-FRAME-025", "ends at an answer it did not ask for"),
		act("OUP-FRAME-027", "refuses members it does not know"),
		act("OUP-FRAME-030", "takes null for a value"),
		act("OUP-FRAME-032", "ends at a new word"),
		act("OUP-FRAME-037", "sends params of another type"),
		act("OUP-FRAME-038", "ends at a request"),
		act("OUP-FRAME-039", "ends at an error of no form"),
		act("OUP-SOCKET-009", "offers its token alone"),
		act("OUP-SOCKET-017", "does not come back"),
		act("OUP-QUEUE-010", "goes on behind a loss"),
		act("OUP-VERSION-002", "talks to everybody"),
		act("OUP-VERSION-003", "refuses newer servers"),
		act("OUP-CAPABILITY-008", "calls what is not listed"),
		act("OUP-CAPABILITY-009", "needs reasons"),
		act("OUP-CAPABILITY-010", "takes a refusal for a success"),
		act("OUP-CAPABILITY-011", "needs capabilities of an open"),
		act("OUP-KEY-013", "keeps its own key"),
		act("OUP-LEDGER-016", "counts events for its cursor"),
		act("OUP-REPLAY-019", "believes the cursor of an answer"),
		act("OUP-REPLAY-020", "takes a repetition for news", "keeps its pieces"),
		act("OUP-REPLAY-021", "comes back without a cursor"),
		act("OUP-REPLAY-022", "insists on its cursor"),
		act("OUP-REPLAY-023", "tries a foreign cursor again"),
		act("OUP-REPLAY-024", "goes on behind a gap"),
		act("OUP-STREAM-018", "puts all pieces together"),
		act("OUP-STREAM-019", "keeps its pieces"),
		act("OUP-STREAM-019", "replaces everything it has"),
		act("OUP-STREAM-020", "listens behind the end"),
		act("OUP-STREAM-021", "takes the last end"),
		again("OUP-STREAM-022", "takes a repetition for news", "keeps its pieces"),
		act("OUP-OPEN-014", "starts before it opens"),
		act("OUP-TURN-001", "has one turn id"),
		act("OUP-TURN-016", "ends when it is accepted"),
		act("OUP-TURN-017", "ends with the first text"),
		act("OUP-APPROVAL-020", "decides about another request"),
		act("OUP-APPROVAL-020", "approves everything"),
		act("OUP-QUESTION-010", "answers one question"),
		act("OUP-PROGRESS-004", "ends at a kind beside an event"),
		act("OUP-PROGRESS-012", "ends at a session event it does not know"),
	}
}

// Find returns a fault by name; the empty name is none.
func Find(name string) (Fault, bool) {
	if name == "" {
		return Fault{}, true
	}
	for _, f := range Faults() {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}

// act is a fault that the client knows by a sentence, which is what it does and, with hyphens, what it is called.
func act(rule, does string, more ...string) Fault {
	return Fault{Name: named(does), Rule: rule, Doc: does, does: append([]string{does}, more...)}
}

// again is a fault whose act breaks another rule as well, in another conversation.
func again(rule, does string, more ...string) Fault {
	f := act(rule, does, more...)
	f.Name += "-too"
	return f
}

func named(sentence string) string {
	name := []byte(sentence)
	for i, b := range name {
		if b == ' ' {
			name[i] = '-'
		}
	}
	return string(name)
}
