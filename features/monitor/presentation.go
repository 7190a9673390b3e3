package monitor

import (
	"net/netip"
	"net/url"
	"slices"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// presented judges what the model of a snapshot cannot tell.
func presented(m *Monitor, f wire.Frame, o *owned) {
	s := o.params.get("snapshot")
	if n := compact(s.raw); n > fw.MaxPresentationBytes {
		m.report("EXT04-PRES-001", f, -1, "a snapshot of %d bytes; the bound is %d", n, fw.MaxPresentationBytes)
	}
	if revision, ok := s.get("revision").natural(); ok {
		if revision <= m.held.snapshot {
			m.report("EXT04-PRES-002", f, -1, "revision %d behind %d", revision, m.held.snapshot)
		}
		m.held.snapshot = max(m.held.snapshot, revision)
	}
	m.referred(f, s)
	for _, activity := range s.get("activities").items() {
		m.referred(f, activity)
		reasoning, ok := activity.at("/metrics/reasoning_tokens").integer()
		if output, also := activity.at("/metrics/output_tokens").integer(); ok && also && reasoning > output {
			m.report("EXT04-PRES-001", f, -1, "%d reasoning_tokens of %d output_tokens", reasoning, output)
		}
	}
	for _, action := range s.get("actions").items() {
		if c := action.get("command"); c.kind() == text && !slices.Contains(m.offer.at("/contributes/commands").texts(), c.text()) {
			m.report("EXT04-PRES-005", f, -1, "an action with the command %s, which the manifest does not declare", orNothing(c))
		}
	}
	m.collection(f, s.get("collection"))
}

// collection judges the nodes of a snapshot.
func (m *Monitor) collection(f wire.Frame, c tree) {
	parents := map[string]string{}
	for _, node := range c.get("nodes").items() {
		m.referred(f, node)
		id, parent := node.get("id").text(), node.get("parent_id")
		parents[id] = parent.text()
		if c.get("kind").text() == string(fw.PresentationCollectionKindList) && parent.kind() == text {
			m.report("EXT04-PRES-004", f, -1, "the node %q of a list has the parent %s", id, orNothing(parent))
			return
		}
	}
	for id := range parents {
		levels := 1
		for at := parents[id]; at != ""; at = parents[at] {
			levels++
			if _, known := parents[at]; !known || levels > fw.MaxPresentationLevels {
				m.report("EXT04-PRES-004", f, -1, "the node %q has a parent that is missing, or more than %d levels above it", id, fw.MaxPresentationLevels)
				return
			}
		}
	}
	detail := c.get("detail")
	if detail.kind() != object {
		return
	}
	m.referred(f, detail)
	if named, selected := detail.get("node_id"), c.get("selected_node_id"); named.text() != selected.text() {
		m.report("EXT04-PRES-004", f, -1, "detail is about the node %s; selected_node_id is %s", orNothing(named), orNothing(selected))
	}
}

// referred judges the addresses among the references of an item.
func (m *Monitor) referred(f wire.Frame, item tree) {
	for _, r := range item.get("references").items() {
		if r.get("kind").text() == string(fw.PresentationReferenceKindURL) && !presentable(r.get("id").text()) {
			m.report("EXT04-PRES-006", f, -1, "a reference to %s", orNothing(r.get("id")))
		}
	}
}

// presentable reports whether a person may be led to an address.
func presentable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || foreign(u.Hostname()) {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return true
	}
	ip = ip.Unmap()
	return !(ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip.IsUnspecified() || ip.IsMulticast())
}
