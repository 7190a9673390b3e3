package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// Change is one name that goes into a list or out of it.
type Change struct {
	Key     string // of kind List
	Name    string
	Present bool
}

// Apply returns the text of a configuration file with the change made, and everything else as it was:
// comments, order, line ends and spelling. A text that needs no change comes back as it is. A comment
// beside a removed name stays.
func (c Change) Apply(text []byte) ([]byte, error) {
	if key := find(c.Key); key == nil || key.Default.Kind != List {
		return nil, fmt.Errorf("%q is no list of the configuration", c.Key)
	}
	if c.Name == "" || strings.ContainsFunc(c.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("%q is no name for %s: it is empty or has control characters", c.Name, c.Key)
	}
	before, err := parse(text)
	if err != nil {
		return nil, err
	}
	member := before.Get(c.Key)
	list, err := words(member)
	if err != nil {
		return nil, fmt.Errorf("%s %w; correct it first", c.Key, err)
	}
	if slices.Contains(list, c.Name) == c.Present {
		return text, nil
	}
	e := editor{text: text, eol: lineEnd(text)}
	var want []string
	switch {
	case member == nil:
		e.newKey(c)
		want = []string{c.Name}
	case c.Present:
		e.add(e.array(member), c.Name)
		want = append(slices.Clone(list), c.Name)
	default:
		e.remove(e.array(member), list, c.Name)
		want = slices.DeleteFunc(slices.Clone(list), func(word string) bool { return word == c.Name })
	}
	return e.text, verify(before, e.text, c.Key, want)
}

func parse(text []byte) (*tomltree.Node, error) {
	root, faults := tomltree.Parse(text)
	if len(faults) > 0 {
		return nil, fmt.Errorf("invalid TOML at %s: %s; correct the file first", faults[0].Position, faults[0].Message)
	}
	return root, nil
}

// words reads the list of a member; none if there is no such member.
func words(member *tomltree.Member) ([]string, error) {
	if member == nil {
		return nil, nil
	}
	if member.Value.Kind != tomltree.Array {
		return nil, fmt.Errorf("is %s, want %s", member.Value.Kind, List)
	}
	var list []string
	for _, element := range member.Value.Elems {
		if element.Kind != tomltree.String {
			return nil, fmt.Errorf("has %s in it, want strings", element.Kind)
		}
		list = append(list, element.Text)
	}
	return list, nil
}

var errUnsafe = errors.New("the file cannot be changed without touching more than the list; edit it by hand")

// verify reads the new text again: the list must be what is wanted and everything else what it was.
func verify(before *tomltree.Node, text []byte, key string, want []string) error {
	after, err := parse(text)
	if err != nil {
		return errUnsafe
	}
	if list, err := words(after.Get(key)); err != nil || !slices.Equal(list, want) {
		return errUnsafe
	}
	others := func(n *tomltree.Node) []tomltree.Member {
		return slices.DeleteFunc(slices.Clone(n.Members), func(m tomltree.Member) bool { return m.Key == key })
	}
	if !slices.EqualFunc(others(before), others(after), sameMember) {
		return errUnsafe
	}
	return nil
}

func sameMember(a, b tomltree.Member) bool { return a.Key == b.Key && sameNode(a.Value, b.Value) }

func sameNode(a, b *tomltree.Node) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Int == b.Int && a.Huge == b.Huge && a.Bool == b.Bool &&
		slices.EqualFunc(a.Elems, b.Elems, sameNode) && slices.EqualFunc(a.Members, b.Members, sameMember)
}

// editor changes a text that is known to be TOML.
type editor struct {
	text []byte
	eol  string
}

func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func (e *editor) splice(from, to int, text string) {
	e.text = slices.Concat(e.text[:from], []byte(text), e.text[to:])
}

// newKey writes a line for a key that is not there: behind the last key that belongs to no table, or at
// the start of a file that has tables only.
func (e *editor) newKey(c Change) {
	line := c.Key + " = [" + quote(c.Name) + "]" + e.eol
	end, header := topLevel(e.text)
	switch {
	case end == 0 && header:
		e.splice(0, 0, line+e.eol)
	case header:
		e.splice(end, end, line)
	default:
		if n := len(e.text); n > 0 && e.text[n-1] != '\n' {
			line = e.eol + line
		}
		e.splice(len(e.text), len(e.text), line)
	}
}

// array finds the list of a member in the text.
func (e *editor) array(member *tomltree.Member) array {
	at := offset(e.text, member.Position)
	at = skipString(e.text, at) // a quoted key
	at += bytes.IndexByte(e.text[at:], '=')
	at += bytes.IndexByte(e.text[at:], '[')
	return readArray(e.text, at)
}

// add puts a name behind the last one: on a line of its own where the last one has one.
func (e *editor) add(a array, name string) {
	if len(a.elements) == 0 {
		e.splice(a.open+1, a.open+1, quote(name))
		return
	}
	last := a.elements[len(a.elements)-1]
	behind, end := last.end, ""
	if last.comma >= 0 {
		behind, end = last.comma+1, ","
	}
	indent, alone := e.indent(last.start)
	// Behind the last name's own comment, which stays with it.
	rest := lineRest(e.text, behind)
	if tail := bytes.TrimSpace(e.text[behind:rest]); !alone || len(tail) > 0 && tail[0] != '#' {
		e.splice(last.end, last.end, ", "+quote(name))
		return
	}
	behind = rest
	e.splice(behind, behind, e.eol+indent+quote(name)+end)
	if last.comma < 0 {
		e.splice(last.end, last.end, ",")
	}
}

// remove takes every occurrence of a name out of a list. Places are read anew for each of them.
func (e *editor) remove(a array, list []string, name string) {
	for list = slices.Clone(list); ; {
		i := slices.Index(list, name)
		if i < 0 {
			return
		}
		e.removeElement(a, i)
		list, a = slices.Delete(list, i, i+1), readArray(e.text, a.open)
	}
}

func (e *editor) removeElement(a array, i int) {
	el := a.elements[i]
	start, end := el.start, el.end
	switch {
	case el.comma < 0:
	case len(bytes.TrimSpace(e.text[el.end:el.comma])) == 0:
		end = el.comma + 1
	default: // a comment stands between them
		e.splice(el.comma, el.comma+1, "")
	}
	_, alone := e.indent(start)
	rest := lineRest(e.text, end)
	switch between := e.between(a, i); {
	case alone && rest < len(e.text) && len(bytes.TrimSpace(e.text[end:rest])) == 0:
		start, end = lineStart(e.text, start), rest+len(e.newline(rest))
	case el.comma < 0 && i > 0 && !bytes.ContainsRune(between, '\n'):
		start = a.elements[i-1].end
	default:
		for el.comma >= 0 && end < len(e.text) && e.text[end] == ' ' {
			end++
		}
	}
	e.splice(start, end, "")
}

// between is the text between an element and the one before it.
func (e *editor) between(a array, i int) []byte {
	if i == 0 {
		return nil
	}
	return e.text[a.elements[i-1].end:a.elements[i].start]
}

// newline returns the line end at an offset.
func (e *editor) newline(at int) string {
	if bytes.HasPrefix(e.text[at:], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// indent returns the blanks in front of an offset, and whether nothing else stands there in its line.
func (e *editor) indent(at int) (blanks string, alone bool) {
	head := string(e.text[lineStart(e.text, at):at])
	return head, strings.TrimLeft(head, " \t") == ""
}
