package agents

import (
	"encoding/json"
	"errors"

	"github.com/octet-dev/octet/generated/featurewire"
)

// fact is the body of an event.
type fact map[string]any

// eventLog holds the newest events of one child, by sequence, without a gap.
type eventLog struct {
	entries []featurewire.AgentEventEntry
	bytes   int
	last    int64 // sequence of the newest event ever; the first one has 1
}

var (
	errAhead   = errors.New("after_sequence lies ahead of the last event")
	errExpired = errors.New("the events behind after_sequence are not kept any more")
)

// add appends an event; the oldest ones make room. One that is too large is told of instead.
func (l *eventLog) add(f fact) {
	body, err := json.Marshal(f)
	if err != nil || len(body) > featurewire.MaxAgentEventBytes {
		body, _ = json.Marshal(fact{"type": "observation_error", "event": f["type"]})
	}
	l.last++
	l.entries = append(l.entries, featurewire.AgentEventEntry{Sequence: l.last, Event: body})
	l.bytes += len(body)
	for len(l.entries) > featurewire.MaxAgentLogRecords || l.bytes > featurewire.MaxAgentLogBytes {
		l.bytes -= len(l.entries[0].Event)
		l.entries = l.entries[1:]
	}
}

// behind returns what follows a cursor, as much as one answer holds, and whether there is more.
func (l *eventLog) behind(cursor int64) (list []featurewire.AgentEventEntry, more bool, err error) {
	first := l.last - int64(len(l.entries)) + 1
	switch {
	case cursor > l.last:
		return nil, false, errAhead
	case cursor < first-1:
		return nil, false, errExpired
	}
	bytes := 0
	for _, e := range l.entries[cursor-first+1:] {
		size := len(e.AppendJSON(nil)) + 1
		if len(list) >= featurewire.MaxAgentEvents || bytes+size > featurewire.MaxAgentEventsBytes {
			return list, true, nil
		}
		bytes += size
		list = append(list, e)
	}
	return list, false, nil
}
