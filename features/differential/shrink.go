package differential

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/oupwire"
)

// apiWires are the wires whose negotiations an API version names.
var apiWires = func() map[string]string {
	wires := map[string]string{}
	for wire, versions := range map[string][]string{
		featurewire.Wire: featurewire.Versions, canonicalwire.Wire: canonicalwire.Versions, oupwire.Wire: oupwire.Versions,
	} {
		for _, version := range versions {
			wires[version] = wire
		}
	}
	return wires
}()

// Shrinking is bounded, as a finding in a long text is worth seeing at all.
const (
	rounds   = 60      // how often a finding is made smaller
	mostKept = 4 << 20 // bytes of all texts that are tried in one round
)

// shrink returns a finding of the same kind whose question is smaller. An error comes with the smallest that was
// found before it.
func (p *panel) shrink(f Finding) (Finding, error) {
	for range rounds {
		smaller := candidates(f.Question)
		found := false
		for at := 0; at < len(smaller) && !found; at += batch {
			differing, err := p.ask(smaller[at:min(at+batch, len(smaller))])
			if err != nil {
				return f, err
			}
			if i := slices.IndexFunc(differing, func(d Finding) bool { return d.kind() == f.kind() }); i >= 0 {
				f, found = differing[i], true
			}
		}
		if !found {
			return f, nil
		}
	}
	return f, nil
}

// candidates are questions that say less, those that say least first.
func candidates(q vectors.Question) []vectors.Question {
	var out []vectors.Question
	switch q.Op {
	case "frame":
		for _, text := range shorter(unBase64(q.Base64)) {
			c := q
			encoded := base64.StdEncoding.EncodeToString([]byte(text))
			c.Base64 = &encoded
			out = append(out, c)
		}
	case "negotiate":
		for _, text := range shorterJSON(string(q.Selection)) {
			c := q
			c.Selection = json.RawMessage(text)
			out = append(out, c)
		}
		for _, text := range shorterJSON(string(q.Offer)) {
			c := q
			c.Offer = json.RawMessage(text)
			out = append(out, c)
		}
	default:
		for _, text := range append(shorterJSON(*q.Text), shorter(*q.Text)...) {
			c := q
			c.Text = &text
			out = append(out, c)
		}
	}
	return out
}

// shorter cuts pieces out of a text, large ones first.
func shorter(text string) []string {
	var out []string
	for size := len(text) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(text); at += size {
			if len(out) == 4*batch || len(out)*len(text) > mostKept {
				return out
			}
			out = append(out, text[:at]+text[at+size:])
		}
	}
	return out
}

// shorterJSON leaves members and items of a value away, and cuts its strings.
func shorterJSON(text string) []string {
	root := parse(text)
	if root == nil {
		return nil
	}
	var out []string
	tried := 0
	add := func() {
		tried += len(text)
		if changed := root.String(); len(changed) < len(text) {
			out = append(out, changed)
		}
	}
	for _, n := range root.places(nil) {
		if tried > mostKept {
			break
		}
		members, items, scalar := n.members, n.items, n.scalar
		for i := range members {
			if tried > mostKept {
				break
			}
			n.members = slices.Delete(slices.Clone(members), i, i+1)
			add()
		}
		n.members = members
		for i := range items {
			if tried > mostKept {
				break
			}
			n.items = slices.Delete(slices.Clone(items), i, i+1)
			add()
		}
		n.items = items
		if len(scalar) > 4 && scalar[0] == '"' {
			n.scalar = scalar[:1+(len(scalar)-2)/2] + `"`
			add()
			n.scalar = scalar
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(a) - len(b) })
	return out
}
