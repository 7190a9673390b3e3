package faultyhost

import (
	"bufio"
	"bytes"
	"slices"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
)

// What a host does otherwise at odd moments.
const (
	takesReads        = "takes reads"
	takesLastFirst    = "takes last first"
	endsAtUnknown     = "ends at unknown"
	refusesAhead      = "refuses ahead"
	endsAtLateAnswers = "ends at late answers"
	losesTheLast      = "loses the last"
	takesAnyEnd       = "takes any end"
	crashesAtTheEnd   = "crashes at the end"
	takesHalf         = "takes half"

	looksBehindShutdown  = "looks behind shutdown"
	answersEarly         = "answers early"
	endsAtUnknownCancel  = "ends at unknown cancel"
	answersCancellations = "answers cancellations"
	passesNotices        = "passes notices"
	takesAnyKind         = "takes any kind"
)

// unknownMethod is a method that no version has.
const unknownMethod = "peer/unknown"

// racing are faults that show at odd moments.
var racing = []Fault{
	{"takes-reads-for-lines", "EXT04-FRAME-013", current, "takes what one read gives for a line", doing(takesReads)},
	{"takes-reads-for-lines", "EXT03-READ-025", canonical, "takes what one read gives for a line", doing(takesReads)},
	{"takes-last-first", "EXT04-ORDER-010", current, "begins with the last of the frames that one read gives", doing(takesLastFirst)},
	{"loses-the-last", "EXT03-FRAME-015", canonical, "drops an answer behind which the extension ends", doing(losesTheLast)},
	{"loses-the-last", "EXT04-ORDER-010", middle, "drops an answer behind which the extension ends", doing(losesTheLast)},
	{"ends-at-unknown", "EXT03-METHOD-006", canonical, "ends at a request that it does not know", doing(endsAtUnknown)},
	{"refuses-what-is-ahead", "EXT03-INIT-034", canonical, "ends at a request that comes with the answer to initialize", doing(refusesAhead)},
	{"answers-early", "EXT03-ORDER-009", canonical, "answers what comes in front of the contract", doing(answersEarly)},
	{"answers-cancellations", "EXT03-CANCEL-014", canonical, "answers a cancellation by the extension", doing(answersCancellations)},
	{"forgets-cancelled", "EXT03-CANCEL-015", canonical, "never answers a request that its extension has cancelled", ignores(unknownMethod, "")},
	{"forgets-cancelled", "EXT04-CANCEL-014", current, "never answers a request that its extension has cancelled", ignores(unknownMethod, "")},
	{"ends-at-unknown-cancellations", "EXT03-CANCEL-016", canonical, "ends at a cancellation of what nobody asked", doing(endsAtUnknownCancel)},
	{"ends-at-late-answers", "EXT03-CANCEL-012", canonical, "ends at an answer to what it has cancelled", doing(endsAtLateAnswers)},
	{"ends-at-late-answers", "EXT04-CANCEL-011", current, "ends at an answer to what it has cancelled", doing(endsAtLateAnswers)},
	{"cancels-the-settled", "EXT04-CANCEL-013", current, "cancels a call that was answered", quirk{ended: func(h *host) {
		select {
		case <-h.interrupt:
			h.notify(dialect.Cancel, h.d.Cancel("2", "user"))
		case <-time.After(5 * grace): // on a busy machine an interrupt takes its time
		}
	}}},
	{"forgets-orphans", "EXT04-PARENT-005", middle, "leaves a request alone whose call has ended", ignores(featurewire.MethodConfirmationRequest, "")},
	{"answers-orphans", "EXT04-PARENT-006", current, "answers what it has cancelled with its call", instead(featurewire.MethodConfirmationRequest, "", func(h *host, q question, sound [][]byte) [][]byte {
		return slices.Insert(sound, 0, h.d.Notification(dialect.Cancel, h.d.Cancel(q.id, "parent")))
	})},
	{"looks-behind-shutdown", "EXT03-SHUT-011", canonical, "answers what comes behind shutdown", doing(looksBehindShutdown)},
	{"takes-ends-for-crashes", "EXT03-SHUT-010", canonical, "takes the end of the output for a crash while it waits for one", doing(crashesAtTheEnd)},
	{"takes-crashes-for-ends", "EXT03-PROC-014", canonical, "takes the end of the output for an empty result", doing(takesAnyEnd)},
	{"repeats-calls", "EXT03-ORDER-010", canonical, "makes a call again that ended without an answer", doing(repeatsCalls)},
	{"takes-half-a-frame", "EXT03-FRAME-014", canonical, "takes what the end of the output leaves for a frame", doing(takesHalf)},
}

// pour reads as a host does that confuses reads and lines.
func (h *host) pour() {
	r := bufio.NewReaderSize(h.child.Stdout(), 1<<16)
	buffer := make([]byte, 1<<16)
	for {
		n, err := r.Read(buffer)
		pieces := [][]byte{bytes.Clone(buffer[:n])}
		if h.quirk.does == takesLastFirst {
			pieces = bytes.SplitAfter(pieces[0], []byte("\n"))
			slices.Reverse(pieces)
		}
		for _, piece := range pieces {
			if len(piece) > 0 {
				h.lines <- line{payload: bytes.TrimSuffix(piece, []byte("\n")), ended: true}
			}
		}
		if err != nil {
			return
		}
	}
}

// lost reports whether an answer is dropped because the extension ends behind it.
func (h *host) lost() bool {
	if h.quirk.does != losesTheLast {
		return false
	}
	select {
	case <-h.child.Exited():
		return true
	case <-time.After(grace / 4):
		return false
	}
}
