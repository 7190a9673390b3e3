package wirejson

import (
	"slices"
	"strconv"
	"strings"
)

func (v *validator) null() bool {
	return v.fail(NullValue, "null is not legal here; leave the member out or give it a value")
}

func (v *validator) wrongType(want string, got Kind) bool {
	return v.fail(WrongType, "want "+want+", got "+got.String())
}

// value checks a value against a type. Whether null is legal has been decided before.
func (v *validator) value(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	switch t.Kind {
	case StringType, ConstType:
		return v.text(t, n)
	case BooleanType:
		if n.kind != KindBool {
			return v.wrongType("a boolean", n.kind)
		}
		return true
	case IntegerType:
		return v.integer(t, at)
	case NumberType:
		return v.number(t, at)
	case JSONType:
		return v.encoded(t, at)
	case ObjectType:
		if n.kind != KindObject {
			return v.wrongType("an object", n.kind)
		}
		return v.encoded(t, at)
	case IDType:
		return v.id(t, at)
	case ArrayType:
		return v.array(t, at)
	case MapType:
		return v.mapping(t, at)
	default:
		return v.model(&v.schema.Models[t.Ref], at)
	}
}

// String gives the value behind the name of the limit it comes from.
func (b Bound) String() string {
	if b.Limit == "" {
		return strconv.Itoa(b.Max)
	}
	return b.Limit + " (" + strconv.Itoa(b.Max) + ")"
}

func (v *validator) text(t *Type, n *node) bool {
	if n.kind != KindString {
		return v.wrongType("a string", n.kind)
	}
	text := v.doc.text(n, 0)
	if len(text) < t.MinBytes {
		return v.fail(ByteCount, "the string has "+strconv.Itoa(len(text))+" bytes, want at least "+strconv.Itoa(t.MinBytes))
	}
	if t.MaxBytes.Max > 0 && len(text) > t.MaxBytes.Max {
		return v.fail(ByteCount, "the string has "+strconv.Itoa(len(text))+" bytes, want at most "+t.MaxBytes.String())
	}
	if t.NotBlank && blank(text) {
		return v.fail(ByteCount, "the string is blank; write at least one visible character")
	}
	if t.Kind == ConstType && string(text) != t.Const {
		return v.fail(WrongValue, quote(text)+" is not legal here; write "+quote(t.Const))
	}
	if control, found := forbiddenControl(text, t.Controls); found {
		return v.fail(WrongClass, "the string holds the control character "+controlName(control)+"; leave it out")
	}
	if t.Pattern != nil && !t.Pattern.match(text) {
		return v.fail(WrongClass, quote(text)+" does not match "+t.Pattern.Source)
	}
	return true
}

// forbiddenControl returns the first control character that a class does not allow. Those above U+007F are
// two bytes in UTF-8, the first of them 0xC2.
func forbiddenControl(text []byte, class Controls) (rune, bool) {
	if class == AnyControls {
		return 0, false
	}
	for i, c := range text {
		switch {
		case c == '\n' || c == '\t':
			if class == NoControls {
				return rune(c), true
			}
		case c == '\r':
			if class != EditControls {
				return rune(c), true
			}
		case c < ' ' || c == 0x7F:
			return rune(c), true
		case c == 0xC2 && text[i+1] < 0xA0:
			return rune(text[i+1]), true
		}
	}
	return 0, false
}

// controlName names a control character the way Unicode does, such as U+001B.
func controlName(r rune) string {
	text := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	return "U+" + strings.Repeat("0", 4-len(text)) + text
}

// blank reports whether text holds ASCII white space only.
func blank(text []byte) bool {
	for _, c := range text {
		if c != ' ' && (c < '\t' || c > '\r') {
			return false
		}
	}
	return true
}

func (v *validator) integer(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindNumber {
		return v.wrongType("an integer", n.kind)
	}
	text := Value{v.doc, at}.Source()
	i, form := parseInt(text)
	if form == notInt {
		return v.fail(WrongType, "want an integer without fraction and exponent, got "+cut(text))
	}
	if form == intTooBig || i < t.Min && t.HasMin || i > t.Max && t.HasMax {
		return v.outOfRange(t, text)
	}
	return true
}

func (v *validator) number(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindNumber {
		return v.wrongType("a number", n.kind)
	}
	if !t.HasMin && !t.HasMax {
		return true
	}
	text := Value{v.doc, at}.Source()
	f, _ := strconv.ParseFloat(string(text), 64)
	if f < float64(t.Min) && t.HasMin || f > float64(t.Max) && t.HasMax {
		return v.outOfRange(t, text)
	}
	return true
}

func cut(text []byte) string { return strings.Trim(quote(text), `"`) }

func (v *validator) outOfRange(t *Type, text []byte) bool {
	want := ""
	if t.HasMin {
		want = " at least " + strconv.FormatInt(t.Min, 10)
	}
	if t.HasMax {
		if want != "" {
			want += " and"
		}
		want += " at most "
		if t.MaxLimit != "" {
			want += t.MaxLimit + " (" + strconv.FormatInt(t.Max, 10) + ")"
		} else {
			want += strconv.FormatInt(t.Max, 10)
		}
	}
	return v.fail(OutOfRange, cut(text)+" is out of range, want"+want)
}

func (v *validator) encoded(t *Type, at uint32) bool {
	if t.MaxEncodedBytes.Max == 0 {
		return true
	}
	if length := v.doc.encodedLen(at); length > t.MaxEncodedBytes.Max {
		return v.fail(ByteCount, "the compact encoding has "+strconv.Itoa(length)+" bytes, want at most "+t.MaxEncodedBytes.String())
	}
	return true
}

func (v *validator) id(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	switch n.kind {
	case KindString:
		length := len(v.doc.text(n, 0))
		if length == 0 {
			return v.fail(WrongID, "an id must not be empty; name the request")
		}
		if t.MaxBytes.Max > 0 && length > t.MaxBytes.Max {
			return v.fail(WrongID, "the id has "+strconv.Itoa(length)+" bytes, want at most "+t.MaxBytes.String())
		}
		return true
	case KindNumber:
		text := Value{v.doc, at}.Source()
		i, form := parseInt(text)
		if form != intFits || text[0] == '-' || i > t.Max && t.HasMax {
			return v.fail(WrongID, "an id that is a number must be an integer from 0 to "+strconv.FormatInt(t.Max, 10)+", got "+cut(text))
		}
		return true
	default:
		return v.fail(WrongID, "an id is a string or an integer, got "+n.kind.String())
	}
}

func (v *validator) array(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindArray {
		return v.wrongType("an array", n.kind)
	}
	count := 0
	for item := at + 1; item < n.next; item = v.doc.nodes[item].next {
		v.push(step{kind: indexStep, at: uint32(count)})
		var more bool
		if v.doc.nodes[item].kind == KindNull {
			more = v.null()
		} else {
			more = v.value(t.Elem, item)
		}
		v.pop()
		if !more {
			return false
		}
		count++
	}
	if count < t.MinItems {
		return v.fail(ItemCount, "the array has "+strconv.Itoa(count)+" elements, want at least "+strconv.Itoa(t.MinItems))
	}
	if t.MaxItems.Max > 0 && count > t.MaxItems.Max {
		return v.fail(ItemCount, "the array has "+strconv.Itoa(count)+" elements, want at most "+t.MaxItems.String())
	}
	if (t.Unique || t.UniqueBy != "") && !v.unique(t, at, count) {
		return false
	}
	return v.encoded(t, at)
}

// unique reports the elements that equal an earlier one. Elements without a comparable text are skipped:
// they have been reported already.
func (v *validator) unique(t *Type, at uint32, count int) bool {
	type element struct {
		text  string
		index int
	}
	elements := make([]element, 0, count)
	index := 0
	for c := (Value{v.doc, at}).Elements(); c.Next(); index++ {
		value := c.Value()
		if t.UniqueBy != "" {
			value = value.Member(t.UniqueBy)
		}
		if value.Kind() == KindString {
			elements = append(elements, element{value.Text(), index})
		}
	}
	slices.SortFunc(elements, func(a, b element) int {
		if c := strings.Compare(a.text, b.text); c != 0 {
			return c
		}
		return a.index - b.index
	})
	var repeated []element
	for i := 1; i < len(elements); i++ {
		if elements[i].text == elements[i-1].text {
			repeated = append(repeated, elements[i])
		}
	}
	slices.SortFunc(repeated, func(a, b element) int { return a.index - b.index })
	for _, e := range repeated {
		what := "the element "
		if t.UniqueBy != "" {
			what = "the " + t.UniqueBy + " "
		}
		if !v.failAt(step{kind: indexStep, at: uint32(e.index)}, Duplicate, what+quote(e.text)+" comes twice; keep one") {
			return false
		}
	}
	return true
}

func (v *validator) mapping(t *Type, at uint32) bool {
	n := &v.doc.nodes[at]
	if n.kind != KindObject {
		return v.wrongType("an object", n.kind)
	}
	// Ascending by name: not every language can tell in which order the members stand.
	base := len(v.doc.keys)
	keys := v.doc.sortedKeys(at, 0)
	defer func() { v.doc.keys = v.doc.keys[:base] }()
	for _, key := range keys {
		v.push(step{kind: keyStep, at: key})
		more := v.entry(t, key)
		v.pop()
		if !more {
			return false
		}
	}
	return true
}

func (v *validator) entry(t *Type, key uint32) bool {
	name := v.doc.text(&v.doc.nodes[key], 0)
	if t.Pattern != nil && !t.Pattern.match(name) {
		return v.fail(WrongClass, "the key "+quote(name)+" does not match "+t.Pattern.Source)
	}
	if v.doc.nodes[key+1].kind == KindNull {
		return v.null()
	}
	return v.value(t.Elem, key+1)
}
