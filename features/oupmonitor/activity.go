package oupmonitor

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// activity judges what is told of the background.
func (m *Monitor) activity(index int, params object) {
	if m.asked && !slices.Contains(m.named, oupwire.FeatureEventBackgroundActivityV1) {
		m.add(index, "OUP-BACKGROUND-001", "%s is sent, and %s was not named", oupwire.MethodBackgroundActivity, oupwire.FeatureEventBackgroundActivityV1)
	}
	if strings.TrimSpace(text(params, "session_id")) == "" {
		m.add(index, "OUP-BACKGROUND-002", "%s names no session", oupwire.MethodBackgroundActivity)
	}
	if n := len(text(params, "text")); n > oupwire.MaxBackgroundTextBytes {
		m.add(index, "OUP-BACKGROUND-003", "the text of an activity has %d bytes, at most %d", n, oupwire.MaxBackgroundTextBytes)
	}
}
