package bus

import (
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// field is a declared field of a topic.
type field struct {
	kind     canonicalwire.BusFieldKind
	required bool
	most     int64 // bytes
	values   []string
	min, max wirejson.Opt[int64]
}

// readFields judges what a topic declares.
func readFields(specs []canonicalwire.BusFieldSpec) (map[string]*field, error) {
	fields := make(map[string]*field, len(specs))
	for _, s := range specs {
		if fields[s.Name] != nil || checkFieldName(s.Name) != nil {
			return nil, invalidParams()
		}
		if err := checkAlternatives(s); err != nil {
			return nil, err
		}
		low, hasLow := s.Minimum.Get()
		high, hasHigh := s.Maximum.Get()
		if (hasLow || hasHigh) && s.Kind != canonicalwire.BusFieldKindInteger || hasLow && hasHigh && low > high {
			return nil, invalidParams()
		}
		fields[s.Name] = &field{kind: s.Kind, required: s.Required, most: s.MaxBytes, values: s.Values, min: s.Minimum, max: s.Maximum}
	}
	return fields, nil
}

func checkAlternatives(s canonicalwire.BusFieldSpec) error {
	if (s.Kind == canonicalwire.BusFieldKindEnum) != (len(s.Values) > 0) {
		return invalidParams()
	}
	for i, value := range s.Values {
		if slices.Contains(s.Values[:i], value) {
			return invalidParams()
		}
		if err := screen(value, s.MaxBytes); err != nil {
			return refused(err)
		}
	}
	return nil
}

// checkPayload judges a publication against the fields of its topic.
func checkPayload(fields map[string]*field, payload []byte) error {
	doc, err := wirejson.Parse(payload, canonicalwire.MaxJSONDepth)
	if err != nil {
		return invalidParams()
	}
	defer doc.Release()
	root := doc.Root()
	switch {
	case root.Kind() != wirejson.KindObject:
		return invalidParams()
	case root.Len() > canonicalwire.MaxBusFields:
		return exhausted()
	}
	given := map[string]bool{}
	for members := root.Members(); members.Next(); {
		name := string(members.Key())
		f := fields[name]
		if f == nil {
			return invalidParams()
		}
		if err := f.check(members.Value()); err != nil {
			return err
		}
		given[name] = true
	}
	for name, f := range fields {
		if f.required && !given[name] {
			return invalidParams()
		}
	}
	return nil
}

func (f *field) check(v wirejson.Value) error {
	kind := v.Kind()
	switch f.kind {
	case canonicalwire.BusFieldKindBoolean:
		if kind != wirejson.KindBool {
			return invalidParams()
		}
	case canonicalwire.BusFieldKindInteger:
		if kind != wirejson.KindNumber {
			return invalidParams()
		}
		low, high := f.min.Or(-canonicalwire.MaxPortableJSONInteger), f.max.Or(canonicalwire.MaxPortableJSONInteger)
		if n, err := v.Number().Int64(); err != nil || n < low || n > high {
			return invalidParams()
		}
	default:
		if kind != wirejson.KindString {
			return invalidParams()
		}
		if err := screen(v.Text(), f.most); err != nil {
			return refused(err)
		}
		if f.kind == canonicalwire.BusFieldKindEnum && !slices.Contains(f.values, v.Text()) {
			return invalidParams()
		}
	}
	return nil
}
