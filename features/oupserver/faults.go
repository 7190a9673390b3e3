package oupserver

import "slices"

// Fault is a server that breaks exactly one rule.
type Fault struct {
	Name string
	Rule string
	// Doc says what it does, behind "a server that".
	Doc string
	// Transport is the one on which it shows; empty for both.
	Transport string

	does  []string // acts that the server knows
	frame func(s *Server, c *conn, what string, frame object)
	bytes func(s *Server, what string, text []byte) []byte
	event func(s *Server, c *conn, method string, params object) bool // false: not sent
	drops func(method string, params object) bool                     // not stored
	// more is called behind a frame that was queued: what it returns is queued as it is, and a code ends the connection.
	more func(s *Server, c *conn, what string, frame object) (frames []object, code int)
}

func (f Fault) unstored(method string, params object) bool {
	return f.drops != nil && f.drops(method, params)
}

// Faults lists every fault, ordered by area.
func Faults() []Fault {
	return slices.Concat(frameFaults(), connectionFaults(), ingressFaults(), sessionFaults(), turnFaults(), stateFaults(), taskFaults(), activityFaults(), serviceFaults())
}

// little is what the server does that serves a few methods and features, and says so of the rest.
const little = "serves little"

// Variants lists servers that keep every rule, and are otherwise than the one without a fault.
func Variants() []Fault {
	return []Fault{act("", little), act("", many)}
}

// Find returns a fault or a variant by name; the empty name is none.
func Find(name string) (Fault, bool) {
	if name == "" {
		return Fault{}, true
	}
	for _, f := range slices.Concat(Variants(), Faults()) {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}

// act is a fault that the server knows by a sentence, which is what it does and, with hyphens, what it is called.
func act(rule, does string) Fault {
	return Fault{Name: named(does), Rule: rule, Doc: does, does: []string{does}}
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

// over is a fault that shows on one transport alone.
func (f Fault) over(transport string) Fault {
	f.Transport = transport
	return f
}
