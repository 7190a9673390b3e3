package tomltree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// origin says how a table came to be, which decides what may still be added to it.
type origin int

const (
	implied origin = iota // by a longer header: may still get a header of its own
	header                // by its own header: no second one
	dotted                // by a dotted key: no header, but further dotted keys in the same table
	inline                // by braces or brackets: complete
	listed                // an array whose elements come from [[headers]]
)

// errClash ends one definition; the builder has noted the fault.
var errClash = errors.New("defined twice")

type builder struct {
	data   []byte
	parser unstable.Parser
	root   *Node
	table  *Node    // the table of the header last read; nil if that header was refused
	path   []string // its keys
	faults []Fault
	lines  *lines
}

func (b *builder) run() {
	b.table = b.root
	for b.parser.NextExpression() {
		e := b.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			b.open(e, false)
		case unstable.ArrayTable:
			b.open(e, true)
		default:
			if b.table != nil {
				b.keyValue(b.table, b.path, e)
			}
		}
	}
	if err := b.parser.Error(); err != nil {
		b.faults = append(b.faults, b.syntax(err))
		return
	}
	if len(b.faults) == 0 {
		b.secondOpinion()
	}
}

// secondOpinion asks the decoder of the library, which also looks at what the tree does not care for,
// such as the days of a month.
func (b *builder) secondOpinion() {
	var any map[string]any
	err := toml.Unmarshal(b.data, &any)
	var located *toml.DecodeError
	switch {
	case err == nil || hasHuge(b.root):
	case errors.As(err, &located):
		line, column := located.Position()
		b.faults = append(b.faults, Fault{
			Position: Position{Line: line, Column: column},
			Message:  strings.TrimPrefix(located.Error(), "toml: "),
		})
	default:
		b.faults = append(b.faults, Fault{
			Position: Position{Line: 1, Column: 1},
			Message:  strings.TrimPrefix(err.Error(), "toml: "),
		})
	}
}

// hasHuge: the decoder refuses integers beyond 64 bits, which the tree keeps for a better message.
func hasHuge(n *Node) bool {
	if n.Huge {
		return true
	}
	for _, e := range n.Elems {
		if hasHuge(e) {
			return true
		}
	}
	for _, m := range n.Members {
		if hasHuge(m.Value) {
			return true
		}
	}
	return false
}

func (b *builder) syntax(err error) Fault {
	fault := Fault{Position: Position{Line: 1, Column: 1}, Message: err.Error()}
	var parse *unstable.ParserError
	if errors.As(err, &parse) {
		fault.Position = b.lines.at(int(b.parser.Range(parse.Highlight).Offset))
		fault.Path = parse.Key
	}
	return fault
}

// open handles [a.b] and [[a.b]].
func (b *builder) open(e *unstable.Node, list bool) {
	b.table, b.path = nil, nil
	at := b.root
	var path []string
	for it := e.Key(); it.Next(); {
		key, pos := string(it.Node().Data), b.place(it.Node())
		path = append(path, key)
		var err error
		switch {
		case !it.IsLast():
			at, err = b.through(at, key, pos, path)
		case list:
			at, err = b.appendTable(at, key, pos, path)
		default:
			at, err = b.define(at, key, pos, path)
		}
		if err != nil {
			return
		}
	}
	b.table, b.path = at, path
}

// through goes one step down on the way to a header's last key.
func (b *builder) through(at *Node, key string, pos Position, path []string) (*Node, error) {
	m := at.Get(key)
	if m == nil {
		return at.add(key, pos, &Node{Kind: Table, Position: pos, origin: implied}), nil
	}
	v := m.Value
	if v.origin == listed {
		return v.Elems[len(v.Elems)-1], nil
	}
	if v.Kind != Table || v.origin == inline {
		return nil, b.clash(m, pos, path)
	}
	return v, nil
}

func (b *builder) define(at *Node, key string, pos Position, path []string) (*Node, error) {
	m := at.Get(key)
	if m == nil {
		return at.add(key, pos, &Node{Kind: Table, Position: pos, origin: header}), nil
	}
	if m.Value.Kind != Table || m.Value.origin != implied {
		return nil, b.clash(m, pos, path)
	}
	m.Value.origin, m.Value.Position = header, pos
	return m.Value, nil
}

func (b *builder) appendTable(at *Node, key string, pos Position, path []string) (*Node, error) {
	m := at.Get(key)
	elem := &Node{Kind: Table, Position: pos, origin: header}
	if m == nil {
		at.add(key, pos, &Node{Kind: Array, Position: pos, origin: listed, Elems: []*Node{elem}})
		return elem, nil
	}
	if m.Value.origin != listed {
		return nil, b.clash(m, pos, path)
	}
	m.Value.Elems = append(m.Value.Elems, elem)
	return elem, nil
}

// keyValue handles a.b = value inside a table.
func (b *builder) keyValue(at *Node, path []string, e *unstable.Node) {
	path = append([]string(nil), path...)
	for it := e.Key(); it.Next(); {
		key, pos := string(it.Node().Data), b.place(it.Node())
		path = append(path, key)
		m := at.Get(key)
		switch {
		case it.IsLast() && m == nil:
			slot := at.add(key, pos, &Node{Position: pos})
			*slot = *b.value(e.Value(), pos, path)
		case it.IsLast():
			_ = b.clash(m, pos, path)
		case m == nil:
			at = at.add(key, pos, &Node{Kind: Table, Position: pos, origin: dotted})
		case m.Value.Kind == Table && m.Value.origin == dotted:
			at = m.Value
		default:
			_ = b.clash(m, pos, path)
			return
		}
	}
}

// value converts a value; pos is where it starts if it does not say so itself.
func (b *builder) value(e *unstable.Node, pos Position, path []string) *Node {
	if e.Raw.Length > 0 {
		pos = b.place(e)
	}
	n := &Node{Position: pos, Text: string(e.Data)}
	switch e.Kind {
	case unstable.String:
		n.Kind = String
	case unstable.Bool:
		n.Kind, n.Bool = Boolean, n.Text == "true"
	case unstable.Integer:
		n.Kind = Integer
		n.Int, n.Huge = integer(n.Text)
	case unstable.Float:
		n.Kind = Float
	case unstable.Array:
		n.Kind, n.origin = Array, inline
		for it := e.Children(); it.Next(); {
			n.Elems = append(n.Elems, b.value(it.Node(), pos, append(path, strconv.Itoa(len(n.Elems)))))
		}
	case unstable.InlineTable:
		n.Kind = Table
		for it := e.Children(); it.Next(); {
			b.keyValue(n, path, it.Node())
		}
		n.origin = inline
	default:
		n.Kind = DateTime
	}
	return n
}

// integer reads every spelling of TOML: signs, underscores and the prefixes for other bases. The parser
// has checked the digits, so only the size can be wrong.
func integer(text string) (value int64, huge bool) {
	value, err := strconv.ParseInt(text, 0, 64)
	return value, err != nil
}

func (b *builder) clash(first *Member, pos Position, path []string) error {
	b.faults = append(b.faults, Fault{
		Position: pos, Path: append([]string(nil), path...), Twice: true,
		Message: fmt.Sprintf("%q is defined a second time; the first is at %s", strings.Join(path, "."), first.Position),
	})
	return errClash
}

func (n *Node) add(key string, pos Position, value *Node) *Node {
	if n.index == nil {
		n.index = map[string]int{}
	}
	n.index[key] = len(n.Members)
	n.Members = append(n.Members, Member{Key: key, Position: pos, Value: value})
	return value
}

func (b *builder) place(e *unstable.Node) Position { return b.lines.at(int(e.Raw.Offset)) }
