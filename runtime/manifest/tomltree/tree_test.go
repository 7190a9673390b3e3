package tomltree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// render writes a tree as one line, every value with its place.
func render(n *Node) string {
	var b strings.Builder
	switch n.Kind {
	case Table:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%s@%d:%d=%s", m.Key, m.Line, m.Column, render(m.Value))
		}
		b.WriteByte('}')
	case Array:
		b.WriteByte('[')
		for i, e := range n.Elems {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(render(e))
		}
		b.WriteByte(']')
	case Integer:
		fmt.Fprintf(&b, "%d", n.Int)
	case Boolean:
		fmt.Fprintf(&b, "%t", n.Bool)
	default:
		fmt.Fprintf(&b, "%q", n.Text)
	}
	if n.Kind != Table {
		fmt.Fprintf(&b, "@%d:%d", n.Line, n.Column)
	}
	return b.String()
}

func TestParse_tree(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `{}`},
		{
			"scalars", "a = 'x'\nb=1_0\n c = true\nd = 1.5\ne = 1979-05-27\n",
			`{a@1:1="x"@1:5 b@2:1=10@2:3 c@3:2=true@3:6 d@4:1="1.5"@4:5 e@5:1="1979-05-27"@5:5}`,
		},
		{"bases", "a = [0x1F, 0o17, 0b11, -7, +8]", `{a@1:1=[31@1:6 15@1:12 3@1:18 -7@1:24 8@1:28]@1:1}`},
		{"header", "[a.b]\nc = 1\n[a]\nd = 2\n", `{a@1:2={b@1:4={c@2:1=1@2:5} d@4:1=2@4:5}}`},
		{"dotted", "a.b = 1\na.c = 2\n[a.d]\n", `{a@1:1={b@1:3=1@1:7 c@2:3=2@2:7 d@3:4={}}}`},
		{
			"list of tables", "[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3\n",
			`{a@1:3=[{x@2:1=1@2:5} {x@4:1=2@4:5 b@5:4={y@6:1=3@6:5}}]@1:3}`,
		},
		{"inline", "a = { b = 'x', c.d = 2 }\n", `{a@1:1={b@1:7="x"@1:11 c@1:16={d@1:18=2@1:22}}}`},
		{"several lines", "a = [\n  'x',\n  { b = 1 },\n]\n", `{a@1:1=["x"@2:3 {b@3:5=1@3:9}]@1:1}`},
		{"columns are characters", "a = ['é€', 1]\n", `{a@1:1=["é€"@1:6 1@1:12]@1:1}`},
		{"quoted keys", "\"a b\".'c' = 1\n", `{a b@1:1={c@1:7=1@1:13}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, faults := Parse([]byte(c.text))
			if len(faults) > 0 {
				t.Fatalf("faults %+v", faults)
			}
			if got := render(tree); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestParse_hugeIntegerIsKept(t *testing.T) {
	tree, faults := Parse([]byte("a = [{ b = 9223372036854775808 }]\n"))
	if len(faults) > 0 {
		t.Fatalf("faults %+v", faults)
	}
	if n := tree.Get("a").Value.Elems[0].Get("b").Value; n.Kind != Integer || !n.Huge {
		t.Errorf("node %+v, want a huge integer", n)
	}
}

func TestParse_faults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"syntax", "a = 1\nb = \n", []string{"2:5"}},
		{"unclosed", "a = [1,\n", []string{"1:8"}},
		{"not UTF-8", "a = 'é'\nb = 'é\xff'\n", []string{"2:7"}},
		{"key twice", "a = 1\nb = 2\na = 3\nb = 4\n", []string{"3:1", "4:1"}},
		{"table twice", "[a]\nx = 1\n[a]\nx = 2\n", []string{"3:2"}},
		{"keys of a refused table are passed over", "[a]\n[a]\nx = 1\nx = 2\n", []string{"2:2"}},
		{"value reopened as a table", "a = 1\n[a]\n", []string{"2:2"}},
		{"value on the way to a table", "a = 1\n[a.b]\n", []string{"2:2"}},
		{"inline table extended", "a = { b = 1 }\n[a.c]\n", []string{"2:2"}},
		{"inline key twice", "a = { b = 1, b = 2 }\n", []string{"1:14"}},
		{"list reopened as a table", "[[a]]\n[a]\n", []string{"2:2"}},
		{"inline list extended", "a = [{}]\n[[a]]\n", []string{"2:3"}},
		{"dotted table reopened", "a.b = 1\n[a]\n", []string{"2:2"}},
		{"header table extended by a dotted key", "[a.b]\nx = 1\n[a]\nb.y = 2\n", []string{"4:1"}},
		{"day that does not exist", "a = 1979-02-30\n", []string{"1:13"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := Parse([]byte(c.text))
			var got []string
			for _, f := range faults {
				got = append(got, fmt.Sprintf("%d:%d", f.Line, f.Column))
				if f.Message == "" {
					t.Errorf("fault at %s says nothing", f.Position)
				}
			}
			if strings.Join(got, " ") != strings.Join(c.want, " ") {
				t.Errorf("faults at %v, want %v: %+v", got, c.want, faults)
			}
		})
	}
}

// TestLines_anyOrder asks for places forwards, backwards and across lines.
func TestLines_anyOrder(t *testing.T) {
	l := newLines([]byte("aé\nxyz\n€ü!"))
	for _, c := range []struct{ offset, line, column int }{
		{0, 1, 1}, {3, 1, 3}, {1, 1, 2}, {4, 2, 1}, {6, 2, 3}, {4, 2, 1}, {8, 3, 1}, {13, 3, 3}, {11, 3, 2}, {3, 1, 3},
	} {
		if got := l.at(c.offset); got != (Position{c.line, c.column}) {
			t.Errorf("offset %d is at %s, want line %d, column %d", c.offset, got, c.line, c.column)
		}
	}
}

// FuzzParse holds the tree to the decoder's own idea of what a document is.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1\n", "[a.b]\nc.d = 1\n[[a.e]]\n[a.e.f]\n", "a = { b = [1, 'x', { c = true }] }\n",
		"a.b = 1\n[a.c]\n", "[[a]]\n[[a.b]]\n[[a]]\n", "\"\" = 1\n", "a = \"\"\"\nx\"\"\"\n", "a = 1\n[a]\n",
		"[a]\nb.c = 1\n[a.b.d]\n", "a = 9223372036854775808\n", "a = 1979-02-30\n", "a = \"\\uD800\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, faults := Parse(data)
		var decoded map[string]any
		err := toml.Unmarshal(data, &decoded)
		if (err != nil) != (len(faults) > 0) && (tree == nil || !hasHuge(tree)) {
			t.Errorf("faults %+v, decoder says %v", faults, err)
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Column < 1 || fault.Line > strings.Count(string(data), "\n")+1 {
				t.Errorf("fault outside the document: %+v", fault)
			}
		}
	})
}
