package oupserver

import (
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// mark is what ends a text that was cut.
const mark = "…"

// activities have a monitor tell people of something once the turn has ended, so many times.
func (t *turn) activities(count int, text string) {
	t.say("It is watched.")
	t.later = append(t.later, func() { t.ses.activities(count, text) })
}

// activities tells as many as one window has room for, and then once that there are more.
func (ses *session) activities(count int, text string) {
	s := ses.s
	if len(text) > oupwire.MaxBackgroundTextBytes && !s.does("tells of the background uncut") {
		text = text[:oupwire.MaxBackgroundTextBytes-len(mark)]
		if !s.does("cuts activities without a mark") {
			text += mark
		}
	}
	for i := range count {
		row := object{"origin_kind": string(oupwire.BackgroundOriginKindMonitor), "origin_id": "door", "text": text, "emitted_at_ms": s.clock.UnixMilli()}
		switch over := i - oupwire.MaxBackgroundRows; {
		case s.does("tells of everything in the background"):
		case over == 0 && !s.does("stops telling of the background without a word"):
			row["suppressed"] = true
		case over >= 0:
			return
		}
		ses.tell(oupwire.MethodBackgroundActivity, row)
	}
	if s.does("tells of what nobody owns") {
		ses.tellNow(oupwire.MethodBackgroundActivity, object{
			"session_id": " ", "origin_kind": string(oupwire.BackgroundOriginKindFleet), "origin_id": "all", "text": strings.ToUpper(text), "emitted_at_ms": s.clock.UnixMilli(),
		})
	}
}

func activityFaults() []Fault {
	return []Fault{
		act("OUP-BACKGROUND-001", "tells everybody of the background").over(sockets),
		act("OUP-BACKGROUND-002", "tells of what nobody owns"),
		act("OUP-BACKGROUND-003", "cuts activities without a mark"),
		act("OUP-BACKGROUND-003", "tells of the background uncut"),
		act("OUP-BACKGROUND-004", "stops telling of the background without a word"),
		act("OUP-BACKGROUND-004", "tells of everything in the background"),
		{Name: "keeps-nothing-of-the-background", Rule: "OUP-BACKGROUND-006", Doc: "keeps nothing of the background", drops: func(method string, _ object) bool {
			return method == oupwire.MethodBackgroundActivity
		}},
	}
}
