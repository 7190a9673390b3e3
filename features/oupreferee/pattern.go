package oupreferee

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/generated/oupwire"
)

type object = map[string]any

// What scenarios write is JSON in which a text between guillemets stands for something:
//
//	«session»        what was remembered under that name; a text that is nothing else becomes the value itself
//	«id»             a fresh request id
//	«uuid»           a fresh turn id, in what is sent; any UUID, in what is expected
//	«any»            anything that is there, null too
//	«absent»         the member is not there
//	«text»           a text that is not empty
//	«integer»        an integer
//	«list»           a list; with a number and a text as in package steps
//	«moment»         a moment in RFC 3339 and UTC
//	«elements of X»  a list with the elements of the one that was remembered as X, in any order
//	«some» P         in a list: one element at least is P
//	«each» P         in a list: every element is P
//	«none» P         in a list: no element is P
//	«has WORDS»      a text with the words in it
//	«cut»            the text of an activity that was cut, and says so
//	«handle»         the name of a file that is no path of the host
//	«hex», «nest», «repeat», «list» as in package steps; «fill max» and «fill max+1» fill a frame up
//
// An object that is expected may have more members than are written.
var macro = regexp.MustCompile(`«([^»]*)»`)

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return v, nil
}

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("oupreferee: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// value reads JSON of a scenario and puts in what was remembered.
func (w *world) value(text string) (any, error) {
	text, err := steps.Expand(strings.ReplaceAll(text, "«list»", "«a list»"))
	if err != nil {
		return nil, err
	}
	v, err := decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return w.filled(v), nil
}

func (w *world) filled(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, member := range v {
			if known, is := w.filled(name).(string); is {
				name = known
			}
			out[name] = w.filled(member)
		}
		return out
	case []any:
		for i, each := range v {
			v[i] = w.filled(each)
		}
		return v
	case string:
		if m := macro.FindStringSubmatch(v); m != nil && m[0] == v {
			if known, there := w.vars[m[1]]; there {
				return known
			}
			for _, word := range []string{"above ", "at least ", "other than ", "elements of "} {
				if path, is := strings.CutPrefix(m[1], word); is {
					name, inside, deep := strings.Cut(path, ".")
					known := w.vars[name]
					if deep {
						known, _ = at(known, inside)
					}
					return relation{strings.TrimSpace(word), known}
				}
			}
		}
		return macro.ReplaceAllStringFunc(v, func(m string) string {
			name := strings.TrimSuffix(strings.TrimPrefix(m, "«"), "»")
			if known, is := w.vars[name].(string); is {
				return known
			}
			return m
		})
	}
	return v
}

// params are those of a request.
func (w *world) params(text string) (any, error) {
	if text == "" {
		text = "{}"
	}
	v, err := w.value(strings.ReplaceAll(text, "«uuid»", newID()))
	if err != nil {
		return nil, err
	}
	return v, nil
}

// raw is a frame as it is written, which need not be JSON.
func (w *world) raw(text string) (payload []byte, id any, err error) {
	text, err = steps.Expand(text)
	if err != nil {
		return nil, nil, err
	}
	fill := ""
	text = macro.ReplaceAllStringFunc(text, func(m string) string {
		word, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(m, "«"), "»"), " ")
		switch known, is := w.vars[word].(string); {
		case is:
			return known
		case word == "id":
			return w.newRequestID()
		case word == "uuid":
			return newID()
		case word == "fill":
			fill = rest
			return "\x00"
		}
		return m
	})
	if fill != "" {
		size := oupwire.MaxTextFrameBytes - len(text) + 1
		if fill == "max+1" {
			size++
		}
		text = strings.Replace(text, "\x00", strings.Repeat("x", size), 1)
	}
	if v, err := decode([]byte(text)); err == nil {
		id, _ = at(v, "id")
	}
	return []byte(text), id, nil
}

var uuidText = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

var uuidInside = regexp.MustCompile(`[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)

// relation is how an expected value stands to one that was remembered.
type relation struct {
	word string
	to   any
}

func (r relation) holds(got any) bool {
	switch r.word {
	case "above":
		return compare(got, r.to) > 0
	case "at least":
		return compare(got, r.to) >= 0
	case "elements of":
		return slices.Equal(elements(got), elements(r.to))
	}
	return !reflect.DeepEqual(plain(got), plain(r.to))
}

// elements are those of a list as they are spelled, in an order that says nothing; nil for what is no list.
func elements(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, each := range list {
		out = append(out, string(encode(each)))
	}
	slices.Sort(out)
	return out
}

// absent stands for a member that is not there.
type absent struct{}

// differs says where a value is not what was expected; empty where it is.
func differs(want, got any, at string) string {
	word := ""
	if r, is := want.(relation); is {
		if _, missing := got.(absent); missing || !r.holds(got) {
			return fmt.Sprintf("%s is %s, want %s %s", at, short(got), r.word, short(r.to))
		}
		return ""
	}
	if text, is := want.(string); is {
		if m := macro.FindStringSubmatch(text); m != nil && m[0] == text {
			word = m[1]
		}
	}
	if _, missing := got.(absent); missing {
		if word == "absent" || strings.HasPrefix(word, "absent or ") {
			return ""
		}
		return at + " is missing"
	}
	switch word {
	case "":
	case "absent":
		return fmt.Sprintf("%s is %s, want it left out", at, short(got))
	default:
		if fits(word, got) {
			return ""
		}
		return fmt.Sprintf("%s is %s, want %s", at, short(got), strings.Trim(word, " "))
	}
	switch want := want.(type) {
	case object:
		have, is := got.(object)
		if elements, isList := got.([]any); isList {
			have, is = object{}, true // its places are its members
			for i, each := range elements {
				have[strconv.Itoa(i)] = each
			}
		}
		if !is {
			return fmt.Sprintf("%s is %s, want an object", at, short(got))
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			var member any = absent{}
			if v, there := have[name]; there {
				member = v
			}
			if d := differs(want[name], member, at+"/"+name); d != "" {
				return d
			}
		}
		return ""
	case []any:
		return differsList(want, got, at)
	}
	if !reflect.DeepEqual(plain(want), plain(got)) {
		return fmt.Sprintf("%s is %s, want %s", at, short(got), short(want))
	}
	return ""
}

func plain(v any) any {
	v, err := decode(encode(v))
	if err != nil {
		return nil
	}
	return v
}

func differsList(want []any, got any, at string) string {
	have, is := got.([]any)
	if !is {
		return fmt.Sprintf("%s is %s, want a list", at, short(got))
	}
	if len(want) == 2 {
		first := ""
		for i, each := range have {
			d := differs(want[1], each, fmt.Sprintf("%s/%d", at, i))
			switch {
			case want[0] == "«some»" && d == "":
				return ""
			case want[0] == "«none»" && d == "":
				return fmt.Sprintf("%s/%d is %s, which is one too many", at, i, short(each))
			case want[0] == "«each»" && d != "":
				return d
			}
			if first == "" {
				first = d
			}
		}
		switch want[0] {
		case "«some»":
			return fmt.Sprintf("%s has no element that is %s: %s", at, short(want[1]), short(got))
		case "«none»", "«each»":
			return ""
		}
	}
	if len(want) != len(have) {
		return fmt.Sprintf("%s has %d elements, want %d: %s", at, len(have), len(want), short(got))
	}
	for i := range want {
		if d := differs(want[i], have[i], fmt.Sprintf("%s/%d", at, i)); d != "" {
			return d
		}
	}
	return ""
}

func fits(word string, got any) bool {
	text, isText := got.(string)
	kind, rest, _ := strings.Cut(word, " ")
	switch kind {
	case "any":
		return true
	case "text":
		return isText && text != ""
	case "uuid":
		return isText && uuidText.MatchString(text)
	case "integer":
		n, is := got.(json.Number)
		_, err := n.Int64()
		return is && err == nil
	case "a":
		_, is := got.([]any)
		return is
	case "moment":
		_, err := time.Parse(time.RFC3339Nano, text)
		return isText && err == nil && strings.HasSuffix(text, "Z")
	case "cut":
		return isCut(text)
	case "handle":
		return isHandle(text)
	case "absent": // or something
		switch or := strings.TrimPrefix(rest, "or "); or {
		case "empty":
			l, is := got.([]any)
			return is && len(l) == 0
		case "whole model":
			m, is := got.(object)
			return is && m["model"] != nil && m["provider"] != nil
		case "a handle":
			return isHandle(text)
		default:
			return text == or
		}
	case "empty": // or the profile of a connection
		return isText && (text == "" || text == protocol("default_profile"))
	case "at":
		if most, is := strings.CutPrefix(rest, "most "); is {
			n, err := strconv.Atoi(most)
			return err == nil && isText && len(text) <= n
		}
	case "ascending":
		elements, is := got.([]any)
		return is && slices.IsSortedFunc(elements, func(a, b any) int {
			x, _ := at(a, rest)
			y, _ := at(b, rest)
			return compare(x, y)
		})
	case "has":
		return isText && strings.Contains(text, rest)
	case "lacks":
		return !strings.Contains(string(encode(got)), rest)
	}
	return false
}

// compare orders two numbers, or two texts.
func compare(x, y any) int {
	a, isNumber := x.(json.Number)
	b, both := y.(json.Number)
	if isNumber && both {
		n, _ := a.Int64()
		m, _ := b.Int64()
		return cmp.Compare(n, m)
	}
	s, _ := x.(string)
	t, _ := y.(string)
	return strings.Compare(s, t)
}

const shortBytes = 160

func short(v any) string {
	text := string(encode(v))
	if len(text) > shortBytes {
		text = strings.ToValidUTF8(text[:shortBytes], "") + "…"
	}
	return text
}

// at follows a path of names and places, joined by full stops.
func at(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case object:
			member, there := node[name]
			if !there {
				return nil, false
			}
			v = member
		case []any:
			i := -1
			if _, err := fmt.Sscanf(name, "%d", &i); err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}
