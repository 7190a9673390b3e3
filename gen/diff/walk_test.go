package diff

import "testing"

// A difference that claims too much must not become a breaking change.
func TestJudge_believesNoWitnessUnchecked(t *testing.T) {
	spec := func(most string) *tree {
		s := fragment(t, `{"models": {"Params": {"type": "object", "properties": {"a": {"type": "string", "x-max-bytes": `+most+`}}}}}`)
		return newTree(Old, s.Wires[0], "0.4")
	}
	old, new := spec("4"), spec("2")
	root := pair{old.spotOf(old.modelOf("Params")), new.spotOf(new.modelOf("Params"))}
	for _, c := range []struct {
		name, text, at string
		want           Verdict
	}{
		{"legal and refused", `{"a":"aaa"}`, "/a", Breaking},
		{"accepted by both", `{"a":"aa"}`, "/a", Unknown},
		{"illegal for the writer", `{"a":"aaaaa"}`, "/a", Unknown},
		{"refused elsewhere", `{"a":"aaa"}`, "/b", Unknown},
		{"no JSON", `{"a":`, "/a", Unknown},
	} {
		w := newWalker(map[foldKey]struct{}{})
		w.walk(root)
		lying := difference{in: root, loss: func(way) outcome { return broken(c.text, c.at) }}
		if got := w.judge(lying, root, forward); got.verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got.verdict, got.note, c.want)
		}
	}
}
