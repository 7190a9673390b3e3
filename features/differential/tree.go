package differential

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value that keeps what readers may disagree about: the spelling of every scalar and of every name,
// the order of members, and names that stand twice.
type node struct {
	scalar  string // the literal of a scalar, quotes included; empty for the others
	members []member
	items   []*node
	object  bool
}

type member struct {
	name  string // the literal, with its quotes
	value *node
}

// parse reads a text, or returns nil if it is no JSON. Names are spelled anew; scalars keep the value they have for
// encoding/json.
func parse(text string) *node {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	root := parseValue(dec)
	if root == nil {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil
	}
	return root
}

func parseValue(dec *json.Decoder) *node {
	token, err := dec.Token()
	if err != nil {
		return nil
	}
	switch v := token.(type) {
	case json.Delim:
		return parseComposite(dec, v == '{')
	case json.Number:
		return &node{scalar: v.String()}
	default:
		return &node{scalar: literal(v)}
	}
}

func parseComposite(dec *json.Decoder, object bool) *node {
	n := &node{object: object}
	for dec.More() {
		if !object {
			item := parseValue(dec)
			if item == nil {
				return nil
			}
			n.items = append(n.items, item)
			continue
		}
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		value := parseValue(dec)
		if value == nil {
			return nil
		}
		n.members = append(n.members, member{literal(name), value})
	}
	if _, err := dec.Token(); err != nil {
		return nil
	}
	return n
}

// literal spells a scalar without the escapes that encoding/json adds for HTML.
func literal(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (n *node) clone() *node {
	c := &node{scalar: n.scalar, object: n.object}
	for _, m := range n.members {
		c.members = append(c.members, member{m.name, m.value.clone()})
	}
	for _, item := range n.items {
		c.items = append(c.items, item.clone())
	}
	return c
}

// places appends every node of a tree, the root first.
func (n *node) places(to []*node) []*node {
	to = append(to, n)
	for _, m := range n.members {
		to = m.value.places(to)
	}
	for _, item := range n.items {
		to = item.places(to)
	}
	return to
}

// write appends the text of a tree, with white space where space says so.
func (n *node) write(to *strings.Builder, space func() string) {
	to.WriteString(space())
	switch {
	case n.scalar != "":
		to.WriteString(n.scalar)
	case n.object:
		to.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				to.WriteByte(',')
			}
			to.WriteString(space())
			to.WriteString(m.name)
			to.WriteString(space())
			to.WriteByte(':')
			m.value.write(to, space)
		}
		to.WriteString(space())
		to.WriteByte('}')
	default:
		to.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				to.WriteByte(',')
			}
			item.write(to, space)
		}
		to.WriteString(space())
		to.WriteByte(']')
	}
	to.WriteString(space())
}

// String is the compact text.
func (n *node) String() string {
	var text strings.Builder
	n.write(&text, func() string { return "" })
	return text.String()
}

// spaced is the text with white space at random places.
func (n *node) spaced(rng *rand.Rand) string {
	var text strings.Builder
	n.write(&text, func() string {
		if rng.IntN(8) > 0 {
			return ""
		}
		return pick(rng, []string{" ", "\t", "\n", "\r", "  \r\n"})
	})
	return text.String()
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// askable reports whether a text can be part of a question: strict JSON, at most so deep.
func askable(text string, deepest int) bool {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	for {
		if _, err := dec.ReadToken(); err != nil || dec.StackDepth() > deepest {
			return false
		}
		if dec.StackDepth() == 0 {
			_, err := dec.ReadToken()
			return err == io.EOF
		}
	}
}
