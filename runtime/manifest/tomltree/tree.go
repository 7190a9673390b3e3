// Package tomltree reads a TOML document into a tree in which every key and value knows its place.
//
// The usual decoders fill a struct and stop at the first thing that does not fit. A judge of somebody
// else's file has to report everything, each with its line, so it needs the document itself.
package tomltree

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"
)

// Kind says what a node is.
type Kind int

// The kinds of node.
const (
	Table    Kind = iota // Members
	Array                // Elems
	String               // Text
	Integer              // Int and Huge
	Boolean              // Bool
	Float                // Text as spelled
	DateTime             // Text as spelled
)

// String names the kind for messages, with its article.
func (k Kind) String() string {
	return [...]string{"a table", "a list", "a string", "an integer", "a boolean", "a float", "a date or time"}[k]
}

// Position is a place in the document. Both numbers count from 1, columns in characters.
type Position struct{ Line, Column int }

// String is "line L, column C".
func (p Position) String() string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

// Node is one value. Position is where it starts; for a table opened by a header, the header's key.
type Node struct {
	Kind Kind
	Position
	Text    string
	Int     int64 // the nearest integer of 64 bits if Huge
	Huge    bool
	Bool    bool
	Elems   []*Node
	Members []Member

	origin origin
	index  map[string]int // into Members
}

// Member is one key of a table, in document order.
type Member struct {
	Key string
	Position
	Value *Node
}

// Get returns the member with the key, nil if there is none.
func (n *Node) Get(key string) *Member {
	if i, found := n.index[key]; found {
		return &n.Members[i]
	}
	return nil
}

// Fault is a reason why the bytes are no TOML document.
type Fault struct {
	Position
	Path    []string // the keys that lead to the place, where known
	Message string
	NotUTF8 bool
	Marked  bool // the fault is a byte-order mark in front of the document
	Twice   bool // something is defined a second time; the reading went on behind it
}

// mark is the byte-order mark that some editors put in front of UTF-8.
const mark = "\ufeff"

// Parse reads a document. Keys and tables defined twice are all reported, and the first definition
// stays in the tree; any other fault ends the reading, and what the tree then holds is not to be used.
func Parse(data []byte) (*Node, []Fault) {
	lines := newLines(data)
	if at := firstInvalid(data); at >= 0 {
		return nil, []Fault{{
			Position: lines.at(at), NotUTF8: true,
			Message: fmt.Sprintf("byte 0x%02x is not UTF-8", data[at]),
		}}
	}
	if bytes.HasPrefix(data, []byte(mark)) {
		return nil, []Fault{{
			Position: Position{Line: 1, Column: 1}, Marked: true,
			Message: "the file starts with a byte-order mark",
		}}
	}
	b := builder{data: data, lines: lines, root: &Node{Position: Position{Line: 1, Column: 1}}}
	b.parser.Reset(data)
	b.run()
	return b.root, b.faults
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// lines turns offsets into positions.
type lines struct {
	data   []byte
	starts []int
	// last and column belong to the place asked for before: places are mostly asked for in order, and a
	// document may be one line.
	last, column int
}

func newLines(data []byte) *lines {
	l := &lines{data: data, starts: []int{0}, column: 1}
	for i, c := range data {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

func (l *lines) at(offset int) Position {
	line := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset })
	from, column := l.starts[line-1], 1
	if from <= l.last && l.last <= offset {
		from, column = l.last, l.column
	}
	column += utf8.RuneCount(l.data[from:offset])
	l.last, l.column = offset, column
	return Position{Line: line, Column: column}
}
