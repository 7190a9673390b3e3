package extension

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/wirejson"
)

// filler decodes arguments that are parsed already into a struct, as the general decoder would: texts, booleans and
// integers alone, which are what most tools take. The general decoder reads every byte once more.
type filler struct {
	names  []string
	fields []int // number of the field, beside its name
}

// newFiller returns nil for a type whose members it cannot name for certain.
func newFiller(t reflect.Type) *filler {
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).NumMethod() > 0 {
		return nil
	}
	f := &filler{}
	for n := range t.NumField() {
		field := t.Field(n)
		if field.Anonymous {
			return nil
		}
		tag := field.Tag.Get("json")
		if !field.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = field.Name
		}
		known := options == "" || options == "omitempty" || options == "omitzero"
		if !known || strings.ContainsAny(name, `'"\`) || f.number(name) >= 0 {
			return nil
		}
		f.names, f.fields = append(f.names, name), append(f.fields, n)
	}
	return f
}

func (f *filler) number(name string) int {
	for n := range f.names {
		if f.names[n] == name {
			return n
		}
	}
	return -1
}

// fill reports whether it has filled the struct completely. Where it has not, the general decoder must.
func (f *filler) fill(into reflect.Value, arguments wirejson.Value) bool {
	if f == nil || arguments.Kind() != wirejson.KindObject {
		return false
	}
	for walk := arguments.Members(); walk.Next(); {
		at := -1
		for n := range f.names {
			if string(walk.Key()) == f.names[n] {
				at = f.fields[n]
				break
			}
		}
		if at < 0 || !set(into.Field(at), walk.Value()) {
			return false
		}
	}
	return true
}

// set sets a field of a type without methods, which could have a form of their own.
func set(field reflect.Value, value wirejson.Value) bool {
	if field.Addr().NumMethod() > 0 {
		return false
	}
	switch kind := value.Kind(); field.Kind() {
	case reflect.String:
		if kind == wirejson.KindString {
			field.SetString(value.Text())
			return true
		}
	case reflect.Bool:
		if kind == wirejson.KindBool {
			field.SetBool(value.Bool())
			return true
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if kind == wirejson.KindNumber {
			number, err := strconv.ParseInt(string(value.Source()), 10, field.Type().Bits())
			if err == nil {
				field.SetInt(number)
			}
			return err == nil
		}
	}
	return false
}
