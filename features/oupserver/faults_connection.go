package oupserver

import "github.com/octet-dev/octet/generated/oupwire"

func connectionFaults() []Fault {
	return []Fault{
		framed("OUP-VERSION-001", "speaks another protocol", oupwire.MethodConfigCapabilitiesList, func(f object) {
			if v := child(child(child(f, "result"), "capabilities"), "version"); v != nil {
				v["protocol"] = "another/v1"
			}
		}),
		act("OUP-FEATURE-001", "promises what needs to be named").over(sockets),
		act("OUP-FEATURE-002", "counts blank features"),
		act("OUP-FEATURE-003", "orders features as they please"),
		act("OUP-FEATURE-003", "counts known features alone").over(sockets),
		act("OUP-FEATURE-004", "refuses unknown features"),
		act("OUP-FEATURE-005", "advertises what was not named"),
		act("OUP-FEATURE-006", "lists what a gate closes"),
		act("OUP-FEATURE-007", "counts features without what they need"),
		act("OUP-FEATURE-008", "shares features among connections").over(sockets),
		act("OUP-FEATURE-009", "hides its own features"),
		act("OUP-FEATURE-010", "advertises a retired feature"),
		act("OUP-FEATURE-011", "tells pieces to those alone who name them"),
		act("OUP-FEATURE-012", "shows typed members to everybody"),
		act("OUP-FEATURE-012", "asks those alone that know types"),
		act("OUP-FEATURE-013", "tells the context to everybody"),
		act("OUP-FEATURE-013", "sends what a gate closes"),
		act("OUP-FEATURE-016", "looks at params before a gate"),
		act("OUP-FEATURE-017", "never closes an open gate"),
		act("OUP-CAPABILITY-001", "lists what it does not serve"),
		act("OUP-CAPABILITY-001", "calls what it lists as closed"),
		act("OUP-CAPABILITY-002", "keeps silent about a method"),
		act("OUP-CAPABILITY-002", "lists no reason"),
		act("OUP-CAPABILITY-003", "does not list the handshake"),
		act("OUP-CAPABILITY-004", "lists what it sends alone"),
		act("OUP-CAPABILITY-005", "lists capabilities behind an open alone"),
		act("OUP-CAPABILITY-006", "lists its end everywhere").over(stdio),
		act("OUP-CAPABILITY-007", "tells capabilities of nobody"),
		act("OUP-HELLO-001", "takes one hello"),
		act("OUP-HELLO-001", "needs a hello").over(sockets),
		act("OUP-HELLO-002", "reads one spelling of features"),
		act("OUP-HELLO-003", "takes an empty list for no features"),
		act("OUP-HELLO-004", "keeps the features of the first hello"),
		framed("OUP-HELLO-005", "forgets what the client said of itself", oupwire.MethodClientHello, func(f object) {
			if r := child(f, "result"); r != nil {
				r["client"] = nil
			}
		}),
		framed("OUP-HELLO-005", "says what the client said of its transport", oupwire.MethodClientHello, func(f object) {
			if r := child(f, "result"); r["client_transport"] != nil {
				r["transport"] = r["client_transport"]
			}
		}),
		act("OUP-HELLO-006", "refuses clients it does not know"),
		framed("OUP-ERROR-001", "gives no text with an error", oupwire.MethodSessionDelete, func(f object) {
			delete(child(f, "error"), "message")
		}),
		framed("OUP-ERROR-001", "gives data that is null", oupwire.MethodSessionTitleSet, func(f object) {
			if e := child(f, "error"); e != nil && e["data"] == nil {
				e["data"] = nil
			}
		}),
		act("OUP-ERROR-002", "names no method"),
		act("OUP-ERROR-002", "refuses what is outside like what is not offered"),
		act("OUP-ERROR-003", "gives no reason"),
		act("OUP-ERROR-003", "does not know what it does not offer"),
		act("OUP-ERROR-006", "takes broken params"),
		act("OUP-ERROR-007", "refuses a turn that will fail"),
		framed("OUP-ERROR-008", "gives no kind", oupwire.MethodApprovalRespond, func(f object) { delete(child(child(f, "error"), "data"), "kind") }),
		framed("OUP-ERROR-008", "gives half of a detail", oupwire.MethodUserQuestionRespond, func(f object) { delete(child(child(f, "error"), "data"), "question_id") }),
		act("OUP-ERROR-011", "does not name an unknown session"),
		framed("OUP-ERROR-012", "does not name an unknown task", oupwire.MethodTaskCancel, func(f object) { delete(child(child(f, "error"), "data"), "task_id") }),
		act("OUP-ERROR-013", "tells secrets of failures").over(sockets),
		act("OUP-ERROR-014", "changes what it refuses"),
		act("OUP-SERVICE-021", "makes up what it does not serve"),
		act("OUP-AUTH-001", "tells everybody who they are").over(stdio),
	}
}
