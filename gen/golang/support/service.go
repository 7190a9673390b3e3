package wirejson

import (
	"slices"
	"strconv"
)

// UnknownServiceError is the error for a service name that the wire does not have.
type UnknownServiceError string

// Error names the service.
func (e UnknownServiceError) Error() string {
	return "the service " + strconv.Quote(string(e)) + " does not exist; write noun and verb, as in composer.set"
}

// Fill returns the JSON object of arguments, an object or nothing, completed by members; of a member that both
// have, that of the arguments stays. The error is a *SyntaxError, or a *Violation: arguments must not name a
// member that is reserved for filling.
func Fill(arguments []byte, maxDepth int, members []Member, reserved ...string) ([]byte, error) {
	if len(arguments) > 0 {
		doc, err := Parse(arguments, maxDepth)
		if err != nil {
			return nil, err
		}
		defer doc.Release()
		root := doc.Root()
		if root.Kind() != KindObject {
			return nil, &Violation{Kind: NotObject, Detail: "want an object of arguments, got " + root.Kind().String()}
		}
		for c := root.Members(); c.Next(); {
			m := c.Member()
			if slices.Contains(reserved, m.Name) {
				return nil, &Violation{
					Kind: Unknown, Pointer: "/" + EscapePointer(m.Name),
					Detail: quote([]byte(m.Name)) + " is filled in by the scope; leave it out",
				}
			}
			members = slices.DeleteFunc(members, func(filled Member) bool { return filled.Name == m.Name })
			members = append(members, m)
		}
	}
	SortMembers(members)
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = AppendString(text, m.Name)
		text = append(append(text, ':'), m.Value...)
	}
	return append(text, '}'), nil
}

// DecodeNullable returns a decoder of values that may be null.
func DecodeNullable[T any](decode func([]byte) (T, error)) func([]byte) (Opt[T], error) {
	return func(data []byte) (Opt[T], error) {
		if string(data) == "null" {
			return Null[T](), nil
		}
		x, err := decode(data)
		if err != nil {
			return Opt[T]{}, err
		}
		return Some(x), nil
	}
}

// DecodeArray returns a decoder of arrays. Violations are located from the array on.
func DecodeArray[T any](maxDepth int, decode func(Value) (T, error)) func([]byte) ([]T, error) {
	return func(data []byte) ([]T, error) {
		doc, err := Parse(data, maxDepth)
		if err != nil {
			return nil, err
		}
		defer doc.Release()
		if kind := doc.Root().Kind(); kind != KindArray {
			return nil, &Violation{Kind: WrongType, Detail: "want an array, got " + kind.String()}
		}
		list := []T{}
		for c := doc.Root().Elements(); c.Next(); {
			x, err := decode(c.Value())
			if err != nil {
				return nil, within(err, len(list))
			}
			list = append(list, x)
		}
		return list, nil
	}
}

// within puts the number of an element in front of where a violation lies.
func within(err error, element int) error {
	if v, ok := err.(*Violation); ok {
		outer := *v
		outer.Pointer = "/" + strconv.Itoa(element) + v.Pointer
		return &outer
	}
	return err
}

// Reader returns the reader of a result of the shape: it gives the canonical spelling, {} where the shape has
// no result.
func (s MethodShape) Reader(maxDepth int, decode func(model string, data []byte) (Encoder, error)) func([]byte) ([]byte, error) {
	spelling := func(data []byte) ([]byte, error) {
		x, err := decode(s.Result, data)
		if err != nil {
			return nil, err
		}
		return x.AppendJSON(nil), nil
	}
	switch {
	case s.Result == "":
		return func([]byte) ([]byte, error) { return []byte("{}"), nil }
	case s.ResultArray:
		return func(data []byte) ([]byte, error) {
			list, err := DecodeArray(maxDepth, func(v Value) ([]byte, error) { return spelling(v.Raw()) })(data)
			text := []byte{'['}
			for i, element := range list {
				if i > 0 {
					text = append(text, ',')
				}
				text = append(text, element...)
			}
			return append(text, ']'), err
		}
	case s.ResultNullable:
		return func(data []byte) ([]byte, error) {
			if string(data) == "null" {
				return data, nil
			}
			return spelling(data)
		}
	}
	return spelling
}
