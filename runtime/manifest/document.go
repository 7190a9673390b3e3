package manifest

import (
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// document is a TOML tree together with its JSON form, which the descriptors of the spec can judge.
type document struct {
	root *tomltree.Node
	json []byte
	// values and keys hold the place of everything by JSON Pointer.
	values map[string]*tomltree.Node
	keys   map[string]tomltree.Position
}

// maxLevel is the deepest level written to JSON. Nothing a manifest may say is that deep; the reader of
// the JSON form refuses deeper ones.
const maxLevel = 8

func newDocument(root *tomltree.Node) *document {
	d := &document{root: root, values: map[string]*tomltree.Node{}, keys: map[string]tomltree.Position{}}
	d.write(root, "", 0)
	return d
}

// write appends the JSON form of a node. TOML has two types that JSON lacks, floats and dates, and no
// key of a manifest takes either: both become a number that no integer accepts. What lies too deep
// becomes the same.
func (d *document) write(n *tomltree.Node, pointer string, level int) {
	const foreign = "0.5"
	d.values[pointer] = n
	switch {
	case n.Kind == tomltree.String:
		d.json = wirejson.AppendString(d.json, n.Text)
	case n.Kind == tomltree.Boolean:
		d.json = strconv.AppendBool(d.json, n.Bool)
	case n.Kind == tomltree.Integer:
		d.json = strconv.AppendInt(d.json, n.Int, 10)
	case n.Kind == tomltree.Array && level < maxLevel:
		d.json = append(d.json, '[')
		for i, e := range n.Elems {
			if i > 0 {
				d.json = append(d.json, ',')
			}
			d.write(e, pointer+"/"+strconv.Itoa(i), level+1)
		}
		d.json = append(d.json, ']')
	case n.Kind == tomltree.Table && level < maxLevel:
		d.json = append(d.json, '{')
		for i, m := range n.Members {
			if i > 0 {
				d.json = append(d.json, ',')
			}
			d.json = append(wirejson.AppendString(d.json, m.Key), ':')
			inner := pointer + "/" + wirejson.EscapePointer(m.Key)
			d.keys[inner] = m.Position
			d.write(m.Value, inner, level+1)
		}
		d.json = append(d.json, '}')
	default:
		d.json = append(d.json, foreign...)
	}
}

// at returns the value of a key path, nil if there is none.
func (d *document) at(path ...string) *tomltree.Node {
	n := d.root
	for _, key := range path {
		if n == nil || n.Kind != tomltree.Table {
			return nil
		}
		m := n.Get(key)
		if m == nil {
			return nil
		}
		n = m.Value
	}
	return n
}

// text returns the string at a key path, or the fallback if there is none.
func (d *document) text(fallback string, path ...string) string {
	if n := d.at(path...); n != nil && n.Kind == tomltree.String {
		return n.Text
	}
	return fallback
}

// elements returns the elements of the list at a key path; none if it is no list.
func (d *document) elements(path ...string) []*tomltree.Node {
	if n := d.at(path...); n != nil && n.Kind == tomltree.Array {
		return n.Elems
	}
	return nil
}

// place is where a problem with a pointer is shown: at the value, at the key for values that start on
// another line or are whole tables, and at the nearest enclosing table for what is absent.
func (d *document) place(pointer string) tomltree.Position {
	for {
		if n := d.values[pointer]; n != nil {
			if key, found := d.keys[pointer]; found && n.Kind == tomltree.Table {
				return key
			}
			return n.Position
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return tomltree.Position{Line: 1, Column: 1}
		}
		pointer = pointer[:cut]
	}
}

// keyPlace is where the key itself stands.
func (d *document) keyPlace(pointer string) tomltree.Position {
	if key, found := d.keys[pointer]; found {
		return key
	}
	return d.place(pointer)
}
