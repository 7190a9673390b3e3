package presentation

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Judge holds a snapshot to the rules that its model cannot tell: its size, its tree, its numbers, where its
// references lead, and that its actions run commands of the extension. The error names the first fault.
//
// Rules: EXT04-PRES-001, EXT04-PRES-004, EXT04-PRES-005, EXT04-PRES-006.
func Judge(s featurewire.PresentationSnapshot, commands []string) error {
	if n := len(s.AppendJSON(nil)); n > featurewire.MaxPresentationBytes {
		return fmt.Errorf("the snapshot has %d bytes, more than %d; show less", n, featurewire.MaxPresentationBytes)
	}
	for _, a := range s.Activities.Or(nil) {
		if err := judgeActivity(a); err != nil {
			return fmt.Errorf("activity %q: %w", a.ID, err)
		}
	}
	for _, a := range s.Actions.Or(nil) {
		if !slices.Contains(commands, a.Command) {
			return fmt.Errorf("action %q: command %q is not declared; declare it in contributes", a.ID, a.Command)
		}
	}
	collection, has := s.Collection.Get()
	if !has {
		return nil
	}
	return judgeCollection(collection)
}

func judgeActivity(a featurewire.PresentationActivity) error {
	if m, has := a.Metrics.Get(); has && m.ReasoningTokens > m.OutputTokens {
		return fmt.Errorf("%d reasoning tokens of %d output tokens; they are part of the output", m.ReasoningTokens, m.OutputTokens)
	}
	return judgeReferences(a.References)
}

func judgeCollection(c featurewire.PresentationCollection) error {
	parents := make(map[string]string, len(c.Nodes)) // id of a node to that of the one above it; "" for none
	above := make(map[string]bool, len(c.Nodes))     // whether the node names one
	for _, node := range c.Nodes {
		if err := judgeReferences(node.References); err != nil {
			return fmt.Errorf("node %q: %w", node.ID, err)
		}
		parent, has := node.ParentID.Get()
		if has && c.Kind == featurewire.PresentationCollectionKindList {
			return fmt.Errorf("node %q of a list has a parent; send a tree", node.ID)
		}
		parents[node.ID], above[node.ID] = parent, has
	}
	for _, node := range c.Nodes {
		levels := 1
		for at := node.ID; above[at]; at = parents[at] {
			if _, known := parents[parents[at]]; !known {
				return fmt.Errorf("node %q is below %q, which is no node", at, parents[at])
			}
			if levels++; levels > featurewire.MaxPresentationLevels {
				return fmt.Errorf("node %q is deeper than %d levels, or in a circle", node.ID, featurewire.MaxPresentationLevels)
			}
		}
	}
	detail, has := c.Detail.Get()
	if !has {
		return nil
	}
	if named, selected := text(detail.NodeID), text(c.SelectedNodeID); named != selected {
		return fmt.Errorf("the detail is about node %s while %s is selected", named, selected)
	}
	if err := judgeReferences(detail.References); err != nil {
		return fmt.Errorf("detail: %w", err)
	}
	return nil
}

// text quotes a member, so that an empty one differs from none.
func text(member wirejson.Opt[string]) string {
	if value, has := member.Get(); has {
		return fmt.Sprintf("%q", value)
	}
	return "no node"
}

func judgeReferences(references wirejson.Opt[[]featurewire.PresentationReference]) error {
	for _, r := range references.Or(nil) {
		if r.Kind != featurewire.PresentationReferenceKindURL {
			continue
		}
		if err := judgeAddress(r.ID); err != nil {
			return fmt.Errorf("reference %q: %w", r.ID, err)
		}
	}
	return nil
}

// judgeAddress refuses addresses that no extension may lead a person to: what is not the web, what carries
// a password, and what lies inside this machine or its network.
func judgeAddress(address string) error {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f }) {
		return fmt.Errorf("the address holds white space or a control character")
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return fmt.Errorf("the address cannot be read")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("the address is no absolute http or https address")
	case u.User != nil:
		return fmt.Errorf("the address carries credentials")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case host == "":
		return fmt.Errorf("the address names no host")
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "local" || strings.HasSuffix(host, ".local"):
		return fmt.Errorf("the address lies in the local network")
	case numeric(host):
		// Resolvers read 127.1, 0x7f.0.0.1 and 2130706433 as addresses of version 4.
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Errorf("the address is a number that is no plain IP address")
		}
	}
	if ip, err := netip.ParseAddr(host); err == nil && !public(ip) {
		return fmt.Errorf("the address lies in the local network")
	}
	return nil
}

// numeric reports whether the last label of a host name is a number, which makes the name an address.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.HasPrefix(last, "0x") {
		return true
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// embedded are the prefixes of version 6 whose last 32 bits are an address of version 4.
var embedded = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("::/96")}

// public reports whether an address is none of those that mean this machine, its network or many.
func public(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	for _, prefix := range embedded {
		if ip.Is6() && prefix.Contains(ip) && !ip.IsLoopback() && !ip.IsUnspecified() {
			bytes := ip.As16()
			return public(netip.AddrFrom4([4]byte(bytes[12:])))
		}
	}
	return !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() && !ip.IsLinkLocalMulticast() &&
		!ip.IsInterfaceLocalMulticast() && !ip.IsMulticast() && !ip.IsUnspecified()
}
