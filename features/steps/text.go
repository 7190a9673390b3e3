package steps

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
)

// Frames in features are written as they travel. What cannot stand in a table stands between guillemets:
//
//	«id»            a fresh request id, which later expectations are about
//	«running»       the id of the call that runs, which later expectations are about
//	«hex ED A0 80»  these bytes
//	«nest 33»       that many arrays inside each other; «nest 33 1» puts something in the innermost
//	«repeat 9 ab»   the text nine times
//	«list 3 "n%d"»  the text three times with commas, %d counting from 0
//	«fill 1024»     as many x as make the whole line that many bytes long; «fill max» and «fill max+1»
//	                 mean the frame bound in force
//	«tool»          the name of a tool that may be called, as a JSON string
//	«arguments»     its arguments
//	«context»       an execution context
//	«asked»         the id of what the extension waits for, which later expectations are about
//	«rebind»        a notice of a new incarnation of the bus
//	«announce»      a notice that a topic which the extension waits for was declared
//	«stream»        the id of the stream asked for last
//	«source»        the path of a setup to import; «source broken», «source empty», «source file», «source link»
//	                 and «source gone» of something else
//	«found»         the paths that the extension has just detected
//	«command»       the name of a command, as a JSON string
//	«hook»          the name of a declared hook whose payload is never empty, as a JSON string
//	«commands»      the commands that another start of the extension has announced
var macro = regexp.MustCompile(`«([^»]*)»`)

// expand replaces the macros of a text. The fill macro comes last, because it depends on all others.
func (w *World) expand(text string) ([]byte, error) {
	var fault error
	fill := ""
	out := macro.ReplaceAllStringFunc(text, func(m string) string {
		inside := strings.TrimSuffix(strings.TrimPrefix(m, "«"), "»")
		word, rest, _ := strings.Cut(inside, " ")
		if word == "fill" {
			fill = rest
			return "\x00"
		}
		s, err := w.replace(word, rest)
		if err != nil && fault == nil {
			fault = err
		}
		return s
	})
	if fault != nil {
		return nil, fault
	}
	if fill == "" {
		return []byte(out), nil
	}
	size, err := w.size(fill)
	if err != nil {
		return nil, err
	}
	room := size - (len(out) - 1)
	if room < 0 {
		return nil, errored("the text is %d bytes longer than %s", -room, fill)
	}
	return []byte(strings.Replace(out, "\x00", strings.Repeat("x", room), 1)), nil
}

func (w *World) replace(word, rest string) (string, error) {
	switch word {
	case "id":
		w.last = w.nextID()
		return w.last, nil
	case "running":
		if len(w.running) == 0 {
			return "", w.noCallRuns()
		}
		w.last = w.running[0]
		return w.last, nil
	case "hex":
		b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		return string(b), err
	case "nest":
		return nest(rest)
	case "repeat", "list":
		return repeat(word, rest)
	case "tool", "arguments":
		call, err := w.sample()
		if err != nil {
			return "", err
		}
		if word == "tool" {
			return string(dialect.Encode(call.Tool)), nil
		}
		return string(w.setup.Dialect.Encode(call.Arguments)), nil
	case "command", "hook":
		name, err := w.handlerName(word)
		return string(dialect.Encode(name)), err
	case "commands":
		result, err := w.another()
		if err != nil {
			return "", missing(err)
		}
		commands, _ := lookup(result, "/commands")
		return string(commands), nil
	case "asked", "rebind", "announce", "stream", "source", "found":
		return w.contractMacro(word, rest)
	case "context":
		return string(dialect.Encode(w.setup.Dialect.Context())), nil
	}
	return "", errored("«%s» is no macro", word)
}

func nest(rest string) (string, error) {
	count, inside, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	return strings.Repeat("[", n) + inside + strings.Repeat("]", n), err
}

func repeat(word, rest string) (string, error) {
	count, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return "", err
	}
	if word == "repeat" {
		return strings.Repeat(text, n), nil
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(text, "%d", strconv.Itoa(i))
	}
	return strings.Join(parts, ","), nil
}

func (w *World) size(text string) (int, error) {
	switch text {
	case "max":
		return w.bound(), nil
	case "max+1":
		return w.bound() + 1, nil
	}
	return strconv.Atoi(text)
}

// bound is the frame bound in force for what the host writes.
func (w *World) bound() int {
	var r struct {
		Contract struct {
			Limits struct {
				MaxFrameBytes int `json:"max_frame_bytes"`
			} `json:"limits"`
		} `json:"contract"`
	}
	// A result without the member leaves zero.
	_ = json.Unmarshal(w.result, &r)
	if n := r.Contract.Limits.MaxFrameBytes; n > 0 {
		return n
	}
	return w.setup.Dialect.FrameBound()
}

// change is one place of a JSON tree and what to put there.
type change struct {
	pointer string
	value   any
	remove  bool
}

// parseChange reads a value as features write it: JSON with macros, or the word absent.
func (w *World) parseChange(pointer, text string) (change, error) {
	if text == "absent" {
		return change{pointer: pointer, remove: true}, nil
	}
	b, err := w.expand(text)
	if err != nil {
		return change{}, err
	}
	if !json.Valid(b) {
		return change{}, errored("%q is no JSON value", text)
	}
	return change{pointer: pointer, value: json.RawMessage(b)}, nil
}

// apply changes a tree of objects and arrays in place and returns it. Objects on the way are made where
// they lack; an array index must exist, and "-" appends.
func (c change) apply(tree any) (any, error) {
	if c.pointer == "" {
		return c.value, nil
	}
	return c.at(tree, strings.Split(strings.TrimPrefix(c.pointer, "/"), "/"))
}

func (c change) at(node any, path []string) (any, error) {
	if len(path) == 0 {
		return c.value, nil
	}
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
	switch n := node.(type) {
	case dialect.Object:
		if len(path) == 1 && c.remove {
			delete(n, key)
			return n, nil
		}
		child := n[key]
		if child == nil && len(path) > 1 {
			child = dialect.Object{}
		}
		v, err := c.at(child, path[1:])
		n[key] = v
		return n, err
	case []any:
		if key == "-" {
			return append(n, c.value), nil
		}
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(n) {
			return nil, fmt.Errorf("%q is no place in a list of %d", key, len(n))
		}
		if len(path) == 1 && c.remove {
			return append(n[:i:i], n[i+1:]...), nil
		}
		n[i], err = c.at(n[i], path[1:])
		return n, err
	}
	return nil, fmt.Errorf("%q leads into a value that holds nothing", c.pointer)
}

// lookup finds the value at a pointer.
func lookup(doc json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "" {
		return doc, doc != nil
	}
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var object map[string]json.RawMessage
		if json.Unmarshal(doc, &object) == nil {
			next, ok := object[key]
			if !ok {
				return nil, false
			}
			doc = next
			continue
		}
		var list []json.RawMessage
		i, err := strconv.Atoi(key)
		if json.Unmarshal(doc, &list) != nil || err != nil || i < 0 || i >= len(list) {
			return nil, false
		}
		doc = list[i]
	}
	return doc, true
}

// Expand replaces the macros of a text that need no conversation: hex, nest, repeat and list. Others stay.
func Expand(text string) (string, error) {
	var fault error
	out := macro.ReplaceAllStringFunc(text, func(m string) string {
		inside := strings.TrimSuffix(strings.TrimPrefix(m, "«"), "»")
		word, rest, _ := strings.Cut(inside, " ")
		if !slices.Contains([]string{"hex", "nest", "repeat", "list"}, word) {
			return m
		}
		s, err := (*World)(nil).replace(word, rest)
		if err != nil && fault == nil {
			fault = fmt.Errorf("%s: %w", m, err)
		}
		return s
	})
	return out, fault
}
