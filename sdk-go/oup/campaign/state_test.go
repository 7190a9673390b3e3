package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/oup"
)

// state is what a client makes of the events of one session: everything that is kept, in its order.
type state struct {
	lines  []string          // one for each event that is kept
	text   map[string]string // answer of each turn, as a reader would show it
	ended  map[string]int    // how often each turn has ended
	asked  map[string]bool   // requests for approval: whether they are decided
	gaps   int
	cursor oup.Cursor // behind which it goes on
}

func newState() *state {
	return &state{text: map[string]string{}, ended: map[string]int{}, asked: map[string]bool{}}
}

// copied returns a copy, as one that is stored.
func (s *state) copied() *state {
	return &state{
		lines: slices.Clone(s.lines), text: maps.Clone(s.text), ended: maps.Clone(s.ended), asked: maps.Clone(s.asked),
		gaps: s.gaps, cursor: s.cursor,
	}
}

// apply takes an event in, and reports whether the state may be stored behind it.
func (s *state) apply(ev oup.Event) (storable bool) {
	switch body := ev.Body.(type) {
	case oup.Opened:
		return true // every client opens in its own time
	case oup.Approval:
		// Told again at every opening while it is pending.
		if _, known := s.asked[body.ApprovalID]; !known {
			s.asked[body.ApprovalID] = false
		}
		return false
	case oup.ApprovalDecided:
		s.asked[body.ApprovalID] = true
	case oup.ApprovalCancelled:
		s.asked[body.ApprovalID] = true
	case oup.Gap:
		if !body.Replayed {
			s.gaps++
		}
		return false
	case oup.Delta:
		s.text[ev.Turn] += body.Text
	case oup.Ended:
		s.ended[ev.Turn]++
	}
	if row := oupwire.LookupNotification(ev.Method); row == nil || row.Durable != "yes" {
		return false
	}
	body := ""
	if encoder, is := ev.Body.(wirejson.Encoder); is {
		body = string(encoder.AppendJSON(nil))
	}
	s.lines = append(s.lines, fmt.Sprintf("%s %s %d %d %s", ev.Method, ev.Thread, ev.Number, ev.Cursor.Seq, body))
	return ev.Cursor.Seq > 0
}

// hash is the state in few letters.
func (s *state) hash() string {
	h := sha256.New()
	for _, line := range s.lines {
		fmt.Fprintln(h, line)
	}
	for _, turn := range slices.Sorted(maps.Keys(s.text)) {
		fmt.Fprintln(h, turn, s.text[turn])
	}
	for _, id := range slices.Sorted(maps.Keys(s.asked)) {
		fmt.Fprintln(h, id, s.asked[id])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// differs says where two states part.
func (s *state) differs(from *state) string {
	for i := range max(len(s.lines), len(from.lines)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(nothing)"
		}
		if at(s.lines) != at(from.lines) {
			before := strings.Join(s.lines[max(0, i-2):min(i, len(s.lines))], "\n      ")
			return fmt.Sprintf("event %d behind\n      %s\n got  %s\n want %s", i, before, at(s.lines), at(from.lines))
		}
	}
	return fmt.Sprintf("texts %v and %v, requests %v and %v", s.text, from.text, s.asked, from.asked)
}

// faults says what no session may look like, whatever others saw.
func (s *state) faults() string {
	for turn, times := range s.ended {
		if times != 1 {
			return fmt.Sprintf("the turn %s has ended %d times", turn, times)
		}
	}
	for id, decided := range s.asked {
		if !decided {
			return fmt.Sprintf("the request %s is pending, and no turn runs", id)
		}
	}
	numbers := map[string]int64{}
	for _, line := range s.lines {
		var method, thread string
		var number int64
		if _, err := fmt.Sscan(line, &method, &thread, &number); err != nil || method != oupwire.MethodProjectionEnvelope {
			continue // shows no place in a stream
		}
		if numbers[thread]++; numbers[thread] != number {
			return fmt.Sprintf("the stream %s has %d where %d belongs", thread, number, numbers[thread])
		}
	}
	return ""
}
