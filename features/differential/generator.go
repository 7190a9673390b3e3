package differential

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/generated/oupwire"
)

// maxText bounds what is asked about, so that a run asks much instead of something big.
const maxText = 1 << 18

// Generator makes questions up. What it makes follows from its seed and its vectors alone.
type Generator struct {
	rng     *rand.Rand
	seeds   []vectors.Question
	byOp    map[string][]int
	ops     []string
	models  map[string][]string // the models of each wire that vectors are about
	bounded []int               // bounds that vectors of frames have
}

// NewGenerator returns a generator whose questions are changed ones of the vectors.
func NewGenerator(seed uint64, all []vectors.Vector) *Generator {
	g := &Generator{rng: rand.New(rand.NewPCG(seed, 0x6f63746574)), byOp: map[string][]int{}, models: map[string][]string{}}
	for _, v := range all {
		q := v.Question()
		if len(q.Offer)+len(q.Selection) > maxText || q.Text != nil && len(*q.Text) > maxText || q.Base64 != nil && len(*q.Base64) > maxText {
			continue
		}
		// Operations of two wires are different readers: each gets its share.
		key := v.Op + " " + v.Wire
		if len(g.byOp[key]) == 0 {
			g.ops = append(g.ops, key)
		}
		g.byOp[key] = append(g.byOp[key], len(g.seeds))
		g.seeds = append(g.seeds, q)
		if v.Op == "model" && !slices.Contains(g.models[v.Wire], q.Model) {
			g.models[v.Wire] = append(g.models[v.Wire], q.Model)
		}
		if v.Op == "frame" && !slices.Contains(g.bounded, q.Bound) {
			g.bounded = append(g.bounded, q.Bound)
		}
	}
	return g
}

// Next makes the next question.
func (g *Generator) Next() vectors.Question {
	key := pick(g.rng, g.ops)
	if op, _, _ := strings.Cut(key, " "); op != "model" && g.rng.IntN(2) == 0 { // models are most of what can differ
		key = pick(g.rng, slices.DeleteFunc(slices.Clone(g.ops), func(k string) bool { return !strings.HasPrefix(k, "model ") }))
	}
	q := g.seeds[pick(g.rng, g.byOp[key])]
	donor := g.seeds[pick(g.rng, g.byOp[key])]
	switch q.Op {
	case "frame":
		text := g.frame(unBase64(q.Base64), unBase64(donor.Base64))
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		q.Base64 = &encoded
		if g.rng.IntN(4) == 0 {
			q.Bound = max(pick(g.rng, []int{len(text) - 1, len(text), len(text) + 1, pick(g.rng, g.bounded)}), 1)
		}
	case "negotiate":
		if g.rng.IntN(3) > 0 {
			q.Selection = g.json(q.Selection, donor.Selection)
		}
		// What a client of OUP wants is no document of the wire.
		if apiWires[q.API] != oupwire.Wire && g.rng.IntN(3) == 0 {
			q.Offer = g.json(q.Offer, donor.Offer)
		}
	default:
		text := g.text(*q.Text, *donor.Text)
		q.Text = &text
		if q.Op == "model" && g.rng.IntN(8) == 0 {
			q.Model = pick(g.rng, g.models[q.Wire])
		}
	}
	return q
}

func unBase64(text *string) string {
	if text == nil {
		return ""
	}
	data, err := base64.StdEncoding.DecodeString(*text)
	if err != nil {
		return ""
	}
	return string(data)
}

// text changes a text that should be JSON: mostly as a tree, now and then as bytes.
func (g *Generator) text(text, other string) string {
	root, donor := parse(text), parse(other)
	if donor == nil {
		donor = &node{scalar: "null"}
	}
	if root != nil {
		for range 1 + g.rng.IntN(3) {
			change(g.rng, root, donor)
		}
		text = root.String()
		if g.rng.IntN(6) == 0 {
			text = root.spaced(g.rng)
		}
	}
	if root == nil || g.rng.IntN(12) == 0 {
		text = scratchText(g.rng, text, oddBytes)
	}
	// A question is JSON itself: what is no UTF-8 cannot be asked.
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// json changes a value that must stay JSON, with names that stand once: it is part of the question.
func (g *Generator) json(value, other json.RawMessage) json.RawMessage {
	root, donor := parse(string(value)), parse(string(other))
	if root == nil || donor == nil {
		return value
	}
	// How deep the whole message may be is not asked here.
	const deepest = 20
	for range 1 + g.rng.IntN(3) {
		changed := root.clone()
		change(g.rng, changed, donor)
		if text := changed.String(); len(text) <= maxText && askable(text, deepest) {
			root = changed
		}
	}
	return json.RawMessage(root.String())
}

func (g *Generator) frame(text, other string) string {
	body, ended := strings.CutSuffix(text, "\n")
	if g.rng.IntN(2) == 0 {
		otherBody, _ := strings.CutSuffix(other, "\n")
		body = g.text(body, otherBody)
	}
	if ended {
		body += "\n"
	}
	if g.rng.IntN(2) == 0 {
		body = scratchText(g.rng, body, append(wrongBytes, oddBytes...))
	}
	if g.rng.IntN(10) == 0 {
		body += other
	}
	return body[:min(len(body), maxText)]
}
