package derive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
)

// A value is nil, a bool, a string, a number, a filler, an object, a list or a row: the JSON values that
// vectors are made of, with their long parts kept short.
type value any

type (
	// number is a JSON number as it is spelled.
	number string
	// filler is a string of count times the same characters, which need no escape.
	filler struct {
		unit  string
		count int
	}
	// object has its members in the order in which they were put in.
	object []member
	list   []value
	// row is a list of count times the same value.
	row struct {
		element value
		count   int
	}
)

type member struct {
	name  string
	value value
}

// longRun is the count from which on a filler or row is written as a repetition.
const longRun = 16

// spell writes the canonical spelling. Runs are written as @@REP:X:N@@, which stands for N times X.
func spell(v value) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

func write(b *strings.Builder, v value) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case number:
		b.WriteString(string(v))
	case string:
		b.Write(wirejson.AppendString(nil, []byte(v)))
	case filler:
		b.WriteString(`"` + repeat(v.unit, v.count) + `"`)
	case object:
		sorted := slices.Clone(v)
		slices.SortFunc(sorted, func(a, b member) int { return cmp.Compare(a.name, b.name) })
		writeMembers(b, sorted)
	case list:
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, element)
		}
		b.WriteByte(']')
	case row:
		one := spell(v.element)
		b.WriteByte('[')
		if v.count > 0 {
			b.WriteString(repeat(one+",", v.count-1) + one)
		}
		b.WriteByte(']')
	default:
		panic("derive: not a value")
	}
}

func writeMembers(b *strings.Builder, members []member) {
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		write(b, m.name)
		b.WriteByte(':')
		write(b, m.value)
	}
	b.WriteByte('}')
}

func repeat(unit string, count int) string {
	if count < longRun {
		return strings.Repeat(unit, max(count, 0))
	}
	return "@@REP:" + unit + ":" + strconv.Itoa(count) + "@@"
}

// loose writes an object in another legal spelling: members descending, white space between tokens, and
// the first character of each name as an escape.
func loose(o object) string {
	sorted := slices.Clone(o)
	slices.SortFunc(sorted, func(a, b member) int { return cmp.Compare(b.name, a.name) })
	var b strings.Builder
	b.WriteString("{ ")
	for i, m := range sorted {
		if i > 0 {
			b.WriteString(" ,\t")
		}
		first := strconv.FormatInt(int64(m.name[0]), 16)
		b.WriteString(`"\u` + strings.Repeat("0", 4-len(first)) + first + m.name[1:] + `" : `)
		write(&b, m.value)
	}
	b.WriteString("\r\n}")
	return b.String()
}

// with returns the object with one member set, in its place or behind the others.
func (o object) with(name string, v value) object {
	changed := slices.Clone(o)
	for i := range changed {
		if changed[i].name == name {
			changed[i].value = v
			return changed
		}
	}
	return append(changed, member{name, v})
}

// without returns the object without one member.
func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}
