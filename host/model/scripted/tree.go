package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// shape is what a value of a file is.
type shape string

const (
	isNull   shape = "null"
	isBool   shape = "a boolean"
	isNumber shape = "a number"
	isText   shape = "a text"
	isList   shape = "a list"
	isTable  shape = "an object"
)

// value is one value of a file and where it stands. YAML and JSON files become the same tree.
type value struct {
	line    int
	shape   shape
	text    string // of a text; the JSON spelling of a boolean or number
	items   []*value
	members []member
}

// member is one member of an object, in the order of the file.
type member struct {
	name  string
	line  int
	value *value
}

// maxDepth bounds how deep values lie in each other.
const maxDepth = 64

// located is a fault at a line of the file.
type located struct {
	line int
	text string
}

func (e *located) Error() string { return e.text }

func at(line int, format string, args ...any) *located {
	return &located{line, fmt.Sprintf(format, args...)}
}

// readJSON reads a JSON file: strict, no member twice.
func readJSON(text []byte) (*value, error) {
	r := &jsonReader{text: text, decoder: jsontext.NewDecoder(bytes.NewReader(text))}
	root, err := r.read(0)
	if err == nil && len(bytes.TrimSpace(text[r.decoder.InputOffset():])) > 0 {
		offset := r.decoder.InputOffset()
		rest := text[offset:]
		return nil, at(r.lineAt(offset+int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n")))), "something follows the value; a script is one object")
	}
	return root, err
}

type jsonReader struct {
	text    []byte
	decoder *jsontext.Decoder
}

// line is that of the token that was read last.
func (r *jsonReader) line() int { return r.lineAt(r.decoder.InputOffset()) }

func (r *jsonReader) lineAt(offset int64) int {
	return 1 + bytes.Count(r.text[:min(offset, int64(len(r.text)))], []byte("\n"))
}

func (r *jsonReader) read(depth int) (*value, error) {
	token, err := r.decoder.ReadToken()
	if err != nil {
		return nil, r.located(err)
	}
	v := &value{line: r.line()}
	switch token.Kind() {
	case jsontext.KindNull:
		v.shape = isNull
	case jsontext.KindTrue, jsontext.KindFalse:
		v.shape, v.text = isBool, token.String()
	case jsontext.KindNumber:
		v.shape, v.text = isNumber, token.String()
	case jsontext.KindString:
		v.shape, v.text = isText, token.String()
	case jsontext.KindBeginArray:
		v.shape = isList
		err = r.list(v, depth)
	default:
		v.shape = isTable
		err = r.table(v, depth)
	}
	return v, err
}

func (r *jsonReader) list(v *value, depth int) error {
	if depth == maxDepth {
		return at(v.line, "values lie more than %d deep in each other", maxDepth)
	}
	for r.decoder.PeekKind() != jsontext.KindEndArray {
		item, err := r.read(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, err := r.decoder.ReadToken()
	return err
}

func (r *jsonReader) table(v *value, depth int) error {
	if depth == maxDepth {
		return at(v.line, "values lie more than %d deep in each other", maxDepth)
	}
	for r.decoder.PeekKind() != jsontext.KindEndObject {
		name, err := r.decoder.ReadToken()
		if err != nil {
			return r.located(err)
		}
		m := member{name: name.String(), line: r.line()}
		if m.value, err = r.read(depth + 1); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	_, err := r.decoder.ReadToken()
	return err
}

func (r *jsonReader) located(err error) error {
	var known *located
	if errors.As(err, &known) {
		return err
	}
	offset := r.decoder.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset, err = syntax.ByteOffset, syntax.Err
	}
	return at(r.lineAt(offset), "not JSON: %v", err)
}

// readYAML reads a YAML file of one document: no anchors, no aliases, no tags of one's own.
func readYAML(text []byte) (*value, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) || err == nil && len(document.Content) != 1 {
		return nil, at(1, "the file is empty; a script needs \"script: 1\" and \"steps\"")
	}
	if err != nil {
		return nil, yamlFault(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, at(second.Line, "a second document; a script is one")
	case !errors.Is(err, io.EOF):
		return nil, yamlFault(err)
	}
	return fromYAML(document.Content[0], 0)
}

// yamlFault takes the line out of the text of an error of the YAML package.
func yamlFault(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				return at(line, "not YAML: %s", message)
			}
		}
	}
	return at(1, "not YAML: %s", text)
}

func fromYAML(n *yaml.Node, depth int) (*value, error) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return nil, at(n.Line, "anchors and aliases are not read; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return nil, at(n.Line, "the tag %q is not read; write the value plainly", clip(n.Tag))
	case depth > maxDepth:
		return nil, at(n.Line, "values lie more than %d deep in each other", maxDepth)
	}
	v := &value{line: n.Line}
	switch n.Kind {
	case yaml.SequenceNode:
		v.shape = isList
		for _, item := range n.Content {
			read, err := fromYAML(item, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, read)
		}
		return v, nil
	case yaml.MappingNode:
		v.shape = isTable
		return v, yamlMembers(v, n, depth)
	}
	return v, yamlScalar(v, n)
}

func yamlMembers(v *value, n *yaml.Node, depth int) error {
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return at(key.Line, "a key is a plain word")
		}
		if first, ok := seen[key.Value]; ok {
			return at(key.Line, "the key %q stands twice; it stands on line %d already", clip(key.Value), first)
		}
		seen[key.Value] = key.Line
		inner, err := fromYAML(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		v.members = append(v.members, member{key.Value, key.Line, inner})
	}
	return nil
}

func yamlScalar(v *value, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		v.shape = isNull
	case "!!bool":
		var yes bool
		if err := n.Decode(&yes); err != nil {
			return at(n.Line, "%q is no boolean; write true or false", clip(n.Value))
		}
		v.shape, v.text = isBool, strconv.FormatBool(yes)
	case "!!int", "!!float":
		v.shape, v.text = isNumber, n.Value
		if json.Valid([]byte(n.Value)) {
			return nil
		}
		// Spellings that JSON does not have, for example 0x10 or 1_000.
		var whole int64
		var fraction float64
		if n.Decode(&whole) == nil {
			v.text = strconv.FormatInt(whole, 10)
		} else if n.Decode(&fraction) == nil && !math.IsInf(fraction, 0) && !math.IsNaN(fraction) {
			v.text = strconv.FormatFloat(fraction, 'g', -1, 64)
		} else {
			return at(n.Line, "%q is no number of JSON", clip(n.Value))
		}
	default:
		v.shape, v.text = isText, n.Value
	}
	return nil
}

// json writes the value as JSON.
func (v *value) json(dst []byte) []byte {
	switch v.shape {
	case isNull:
		return append(dst, "null"...)
	case isBool, isNumber:
		return append(dst, v.text...)
	case isText:
		return quoteJSON(dst, v.text)
	case isList:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.json(dst)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(quoteJSON(dst, m.name), ':')
			dst = m.value.json(dst)
		}
		return append(dst, '}')
	}
}

func quoteJSON(dst []byte, text string) []byte {
	quoted, _ := jsontext.AppendQuote(dst, text) // only text that is not UTF-8 is refused, and the file is
	return quoted
}

// clip shortens what is quoted from a file.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
