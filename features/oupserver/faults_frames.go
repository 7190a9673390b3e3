package oupserver

import (
	"bytes"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// The transports of faults.
const (
	stdio   = string(oupwire.TransportStdio)
	sockets = string(oupwire.TransportWebsocket)
)

// spelled is a fault that spells its frames otherwise.
func spelled(rule, doc string, change func(what string, text []byte) []byte) Fault {
	return Fault{Name: named(doc), Rule: rule, Doc: doc, bytes: func(_ *Server, what string, text []byte) []byte { return change(what, text) }}
}

// framed is a fault that changes the frames of one kind.
func framed(rule, doc, kind string, change func(frame object)) Fault {
	return Fault{Name: named(doc), Rule: rule, Doc: doc, frame: func(_ *Server, _ *conn, what string, frame object) {
		if what == kind {
			change(frame)
		}
	}}
}

// told is a fault that changes events of one kind before they are sent.
func told(rule, doc, method string, change func(params object) bool) Fault {
	return Fault{Name: named(doc), Rule: rule, Doc: doc, event: func(_ *Server, _ *conn, m string, params object) bool {
		return m != method || change(params)
	}}
}

func frameFaults() []Fault {
	return []Fault{
		spelled("OUP-FRAME-001", "puts blanks between members", func(_ string, text []byte) []byte { return bytes.Replace(text, []byte(`,"`), []byte(`, "`), 1) }),
		spelled("OUP-FRAME-001", "breaks its frames into lines", func(what string, text []byte) []byte {
			if what != oupwire.MethodSessionOpen {
				return text
			}
			return bytes.Replace(text, []byte(`,"`), []byte(",\r\""), 1)
		}),
		framed("OUP-FRAME-001", "leaves jsonrpc out", oupwire.MethodSessionOpen, func(f object) { delete(f, "jsonrpc") }),
		framed("OUP-FRAME-003", "writes frames over the bound", oupwire.MethodSessionStatusRead, func(f object) {
			if r := child(f, "result"); r != nil {
				r["additional"] = strings.Repeat("x", oupwire.MaxTextFrameBytes)
			}
		}),
		act("OUP-FRAME-005", "takes no frame of the bound"),
		act("OUP-FRAME-005", "passes frames over the bound over").over(stdio),
		act("OUP-FRAME-005", "tells no bound"),
		framed("OUP-FRAME-008", "answers an empty id with null", oupwire.MethodConfigCapabilitiesList, func(f object) {
			if f["id"] == "" {
				f["id"] = nil
			}
		}),
		framed("OUP-FRAME-008", "trims ids", oupwire.MethodConfigCapabilitiesList, func(f object) {
			id, _ := f["id"].(string)
			f["id"] = strings.TrimSpace(id)
		}),
		{Name: "answers-twice", Rule: "OUP-FRAME-009", Doc: "answers twice", frame: func(s *Server, c *conn, what string, frame object) {
			if what == oupwire.MethodSessionStatusRead {
				c.queue = append(c.queue, encode(frame))
			}
		}},
		spelled("OUP-FRAME-009", "does not answer every request", func(what string, text []byte) []byte {
			if what == oupwire.MethodSessionStatusRead {
				return nil
			}
			return text
		}),
		act("OUP-FRAME-010", "takes an id that is no string"),
		act("OUP-FRAME-011", "answers a batch one by one"),
		act("OUP-FRAME-012", "takes a request without params"),
		act("OUP-FRAME-014", "refuses params that are null"),
		act("OUP-FRAME-015", "takes a method beside a result"),
		act("OUP-FRAME-016", "takes every version"),
		act("OUP-FRAME-017", "passes answers of a client over"),
		act("OUP-FRAME-018", "judges the id before the version"),
		act("OUP-FRAME-019", "names the id of a faulty frame"),
		act("OUP-FRAME-020", "ends behind a faulty frame"),
		act("OUP-FRAME-021", "answers an unknown notification"),
		act("OUP-FRAME-022", "answers a notification with broken params"),
		act("OUP-FRAME-023", "refuses a notification without params"),
		act("OUP-FRAME-026", "refuses members that no model lists"),
		framed("OUP-FRAME-028", "sends null for what it has not", oupwire.MethodSessionOpen, func(f object) {
			if opened := child(child(f, "result"), "opened"); opened != nil {
				opened["reasoning_effort"] = nil
			}
		}),
		act("OUP-FRAME-029", "refuses null for an optional member"),
		act("OUP-FRAME-031", "needs every list"),
		act("OUP-FRAME-033", "refuses what is too large to answer"),
		act("OUP-FRAME-034", "sends texts uncut"),
		act("OUP-FRAME-035", "takes one line of a write").over(stdio),
		framed("OUP-FRAME-036", "answers with other members", oupwire.MethodTurnStart, func(f object) {
			if child(f, "result") != nil {
				f["result"] = object{"ok": true}
			}
		}),
		told("OUP-FRAME-036", "tells what is of another type", oupwire.MethodTurnStarted, func(p object) bool { p["timestamp"] = 7; return true }),
		act("OUP-STDIO-001", "prints a banner").over(stdio),
		act("OUP-STDIO-001", "ends lines with CR LF").over(stdio),
		act("OUP-STDIO-002", "keeps a CR").over(stdio),
		act("OUP-STDIO-003", "drops a last line without LF").over(stdio),
		act("OUP-STDIO-004", "reads the end of a long line as another").over(stdio),
		act("OUP-STDIO-005", "passes blank lines over").over(stdio),
		act("OUP-STDIO-006", "passes bytes that are no UTF-8 over").over(stdio),
		act("OUP-STDIO-007", "beats over standard streams").over(stdio),
		act("OUP-STDIO-008", "goes on behind the end of its input").over(stdio),
		act("OUP-STDIO-010", "has no set for standard streams").over(stdio),
		act("OUP-STDIO-011", "names sessions otherwise over standard streams").over(stdio),
		act("OUP-STDIO-012", "keeps silent about what needs an identity").over(stdio),
		act("OUP-STDIO-012", "does not say who is needed").over(stdio),
		act("OUP-STDIO-013", "binds no profile").over(stdio),
		act("OUP-STDIO-014", "keeps the profile of an open that failed").over(stdio),
		act("OUP-SOCKET-001", "reads binary messages").over(sockets),
		act("OUP-SOCKET-002", "lets everybody in").over(sockets),
		act("OUP-SOCKET-003", "lets every origin in").over(sockets),
		act("OUP-SOCKET-004", "needs an origin").over(sockets),
		act("OUP-SOCKET-005", "takes any place that has the token").over(sockets),
		act("OUP-SOCKET-006", "does not decode the query").over(sockets),
		act("OUP-SOCKET-007", "selects no subprotocol").over(sockets),
		act("OUP-SOCKET-007", "echoes the credential").over(sockets),
		act("OUP-SOCKET-008", "needs a subprotocol").over(sockets),
		act("OUP-SOCKET-010", "reads features of the header alone").over(sockets),
		act("OUP-SOCKET-011", "stays behind a frame over the bound").over(sockets),
		act("OUP-SOCKET-012", "never beats").over(sockets),
		act("OUP-SOCKET-012", "tells the time with its heart").over(sockets),
		act("OUP-SOCKET-014", "answers a ping").over(sockets),
		act("OUP-SOCKET-022", "tells the token with its features").over(sockets),
		act("OUP-CLOSE-001", "stops turns with their socket").over(sockets),
		act("OUP-CLOSE-002", "cancels approvals with their socket").over(sockets),
		act("OUP-CLOSE-003", "forgets sessions with their socket").over(sockets),
	}
}
