//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// plan says which program to measure and what to send it. Programs in Python and TypeScript write one: they have the
// names of their wires from their own bindings.
type plan struct {
	Row     string `json:"row"`
	Subject string `json:"subject"`
	// Case names what a start is measured to; empty where calls are measured.
	Case    string   `json:"case"`
	Command []string `json:"command"`
	// Environment is added to that of the caller, as NAME=VALUE.
	Environment []string `json:"environment"`
	// Framing is lines, or headers for a Content-Length in front of every message.
	Framing string `json:"framing"`
	// Opening is sent before the first call, in order.
	Opening []opening `json:"opening"`
	// Call is a request with the words %ID% and %TEXT% where its id and its text go. Without one the program runs to
	// its end.
	Call    string  `json:"call"`
	Seconds float64 `json:"seconds"`
}

type opening struct {
	Send string `json:"send"`
	// Answered says that the next message waits for an answer to this one.
	Answered bool `json:"answered"`
}

func readPlan(from io.Reader) (plan, error) {
	var made plan
	decoder := json.NewDecoder(from)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&made); err != nil {
		return plan{}, fmt.Errorf("plan: %w", err)
	}
	switch {
	case len(made.Command) == 0:
		return plan{}, errors.New("plan names no command")
	case made.Seconds <= 0:
		return plan{}, errors.New("plan gives no seconds")
	case made.Framing != "lines" && made.Framing != "headers":
		return plan{}, fmt.Errorf("plan has framing %q: lines or headers", made.Framing)
	case made.Case == "" && !strings.Contains(made.Call, "%ID%"):
		return plan{}, errors.New("plan has no call to measure")
	}
	return made, nil
}

// warmUp is how long a program is called before its first case.
func (p plan) warmUp() time.Duration { return p.duration() / 4 }

func (p plan) duration() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

// firstID leaves room for millions of ids of one length: so every call of a case has the same bytes, and every answer.
const firstID = 1_000_000

// request is a call ready to be sent, its id in a place of fixed length.
type request struct {
	frame []byte
	at    int
}

func (p plan) request(size int) request {
	before, after, _ := strings.Cut(strings.Replace(p.Call, "%TEXT%", strings.Repeat("octet ", size/6+1)[:size], 1), "%ID%")
	id := strconv.Itoa(firstID)
	message := []byte(before + id + after)
	frame := p.frame(message)
	return request{frame, bytes.Index(frame, message) + len(before)}
}

func (r request) number(id int) []byte {
	strconv.AppendInt(r.frame[r.at:r.at], int64(id), 10)
	return r.frame
}

func (p plan) frame(message []byte) []byte {
	if p.Framing == "headers" {
		return fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(message), message)
	}
	return append(bytes.Clone(message), '\n')
}
