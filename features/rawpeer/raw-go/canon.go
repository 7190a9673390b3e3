package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

const (
	deepest = 32
	biggest = 1<<53 - 1
)

var integer = regexp.MustCompile(`^(?:0|-?[1-9][0-9]{0,15})$`)

// read takes a frame apart if its spelling is the one that write gives it.
func read(payload []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	if err := check(v, 0); err != nil {
		return nil, err
	}
	if !bytes.Equal(write(nil, v), payload) {
		return nil, fmt.Errorf("not in canonical spelling")
	}
	return v, nil
}

// check looks at numbers and at how many arrays and objects enclose a value.
func check(v any, enclosing int) error {
	if enclosing > deepest {
		return fmt.Errorf("too deep")
	}
	switch v := v.(type) {
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if !integer.MatchString(string(v)) || err != nil || n > biggest || n < -biggest {
			return fmt.Errorf("the number %s", v)
		}
	case []any:
		for _, item := range v {
			if err := check(item, enclosing+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := check(item, enclosing+1); err != nil {
				return err
			}
		}
	}
	return nil
}

type object = map[string]any

// write spells a value canonically.
func write(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case json.Number:
		return append(b, v...)
	case string:
		return quote(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = write(b, item)
		}
		return append(b, ']')
	case object:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(quote(b, key), ':')
			b = write(b, v[key])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("a value of type %T", v))
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}

func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch escape, has := escapes[r]; {
		case has:
			b = append(b, escape...)
		case r < 0x20:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
