package faultypeer

import (
	"bytes"
	"encoding/json"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Faults that show when things come at the worst moment: together, in pieces, or across each other.
var featureRaceFaults = []Fault{
	on(frozen, "EXT04-FRAME-007", "drops-frames-behind-call", "drops what comes behind a call in the same read", byLines(untilCall)),
	on(current, "EXT04-FRAME-007", "ends-at-lone-byte", "takes a read of a single byte for the end of its input", byRead(noLoneByte)),
	on(frozen, "EXT04-ENV-005", "drops-third-call", "takes two calls out of one read and drops the others", byLines(twoCalls)),
	on(middle, "EXT04-ENV-006", "answers-late-cancel", "answers a cancellation that has crossed the answer to its call", acting("answer-late-cancel")),
	on(current, "EXT04-CANCEL-003", "handles-notices-first", "handles the notifications of a read in front of its requests", byLines(noticesFirst)),
	on(middle, "EXT04-CANCEL-003", "drops-cancelled-at-once", "drops a call that the same read cancels", byLines(uncancelled)),
	on(current, "EXT04-ENV-019", "ends-at-late-answer", "ends at an answer that a cancelled call waited for", quirk{full: true, does: "end-at-late-answer"}),
	on(current, "EXT04-CANCEL-004", "refuses-late-cancel", "refuses a cancellation that has crossed the answer to its call", acting("refuse-late-cancel")),
	on(frozen, "EXT04-SHUT-003", "drops-calls-before-shutdown", "drops calls that shutdown follows in the same read", byLines(shutdownAlone)),
	on(middle, "EXT04-PROC-001", "owes-nothing-to-the-end", "does not see the end of its input behind calls", moment("input ended", func(p *peer) {
		if p.calls > 0 {
			<-p.ctx.Done()
		}
	})),
}

var canonicalRaceFaults = []Fault{
	{Name: "drops-requests-behind-call", Rule: "EXT03-ORDER-005", API: "0.3", Doc: "drops what comes behind a call in the same read", quirk: byLines(untilCall)},
	{Name: "ends-at-single-byte", Rule: "EXT03-ORDER-005", API: "0.3", Doc: "takes a read of a single byte for the end of its input", quirk: byRead(noLoneByte)},
	{Name: "answers-crossing-cancel", Rule: "EXT03-ORDER-006", API: "0.3", Doc: "answers a cancellation that has crossed the answer to its call", quirk: moment("cancel unknown", func(p *peer) {
		if p.last == string(p.cancelling) {
			p.failure(p.cancelling, "request_cancelled", p.cancelData(nil))
		}
	})},
	{Name: "cancels-before-calling", Rule: "EXT03-CANCEL-002", API: "0.3", Doc: "handles the notifications of a read in front of its requests", quirk: byLines(noticesFirst)},
	{Name: "drops-call-of-cancelled-read", Rule: "EXT03-CANCEL-002", API: "0.3", Doc: "drops a call that the same read cancels", quirk: byLines(uncancelled)},
	{Name: "shuts-down-past-calls", Rule: "EXT03-SHUT-004", API: "0.3", Doc: "drops calls that shutdown follows in the same read", quirk: byLines(shutdownAlone)},
}

// byLines changes the lines of a single read.
func byLines(f func(lines [][]byte) [][]byte) quirk {
	return byRead(func(b []byte) []byte {
		if lines := bytes.SplitAfter(b, []byte{'\n'}); len(lines) > 1 {
			return bytes.Join(f(lines), nil)
		}
		return b
	})
}

func calls(line []byte) bool {
	return bytes.Contains(line, []byte(`"method":"`+featurewire.MethodToolCall+`"`))
}

func cancels(line []byte) bool {
	return bytes.Contains(line, []byte(`"method":"`+featurewire.MethodCancelRequest+`"`))
}

func shutsDown(line []byte) bool {
	return bytes.Contains(line, []byte(`"method":"`+featurewire.MethodShutdown+`"`))
}

// untilCall keeps what stands in front of a call, and the call.
func untilCall(lines [][]byte) [][]byte {
	for i, line := range lines {
		if calls(line) {
			return lines[:i+1]
		}
	}
	return lines
}

// twoCalls drops the calls behind the second.
func twoCalls(lines [][]byte) [][]byte {
	n := 0
	return without(lines, func(line []byte) bool {
		if calls(line) {
			n++
		}
		return calls(line) && n > 2
	})
}

// noticesFirst moves cancellations to the front.
func noticesFirst(lines [][]byte) [][]byte {
	notices := without(lines, func(line []byte) bool { return !cancels(line) })
	return append(notices, without(lines, cancels)...)
}

// uncancelled drops the calls that a cancellation among the lines names.
func uncancelled(lines [][]byte) [][]byte {
	named := map[string]bool{}
	for _, line := range lines {
		if cancels(line) {
			named[string(at(json.RawMessage(line), "params", "id"))] = true
		}
	}
	return without(lines, func(line []byte) bool { return calls(line) && named[string(at(json.RawMessage(line), "id"))] })
}

// shutdownAlone drops the calls beside a shutdown.
func shutdownAlone(lines [][]byte) [][]byte {
	for _, line := range lines {
		if shutsDown(line) {
			return without(lines, calls)
		}
	}
	return lines
}

func without(lines [][]byte, drop func([]byte) bool) [][]byte {
	var kept [][]byte
	for _, line := range lines {
		if !drop(line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// noLoneByte leaves nothing of a single byte.
func noLoneByte(b []byte) []byte {
	if len(b) == 1 {
		return nil
	}
	return b
}
