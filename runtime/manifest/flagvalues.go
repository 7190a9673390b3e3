package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// FlagValue is a resolved flag.
type FlagValue struct {
	Name  string
	Value json.RawMessage // a boolean, a string or an integer
}

// UnknownFlagError says that a manifest declares no flag of that name.
type UnknownFlagError struct {
	Extension, Name string
	Known           []string // in order of declaration
}

// Error names the flag and, if there is one, the one that was probably meant.
func (e *UnknownFlagError) Error() string {
	text := fmt.Sprintf("extension `%s` was given undeclared CLI flag `%s`", e.Extension, e.Name)
	switch guess := near.Find(e.Name, e.Known); {
	case len(e.Known) == 0:
		return text + "; it declares none"
	case guess != "":
		return fmt.Sprintf("%s; did you mean `%s`?", text, guess)
	default:
		return text + "; it declares " + strings.Join(e.Known, ", ")
	}
}

// FlagValues resolves all flags: what is supplied as name=value, and defaults for the rest, ascending by
// name. A boolean may be supplied by its name alone, or as no-name.
//
// Sheet: manifest 8.2, 8.4.
func (m *Manifest) FlagValues(supplied []string) ([]FlagValue, error) {
	values := map[string]json.RawMessage{}
	for _, text := range supplied {
		name, value, given := strings.Cut(text, "=")
		flag, negated := m.flag(name, given)
		if flag == nil {
			return nil, &UnknownFlagError{Extension: m.Name, Name: name, Known: m.flagNames()}
		}
		if _, repeated := values[flag.Name]; repeated {
			return nil, fmt.Errorf("extension CLI flag --%s is given twice; give it once", flag.Name)
		}
		parsed, err := parseFlag(flag, value, given, negated)
		if err != nil {
			return nil, err
		}
		values[flag.Name] = parsed
	}
	var list []FlagValue
	for _, flag := range m.Contributes.Flags {
		value, found := values[flag.Name]
		if !found {
			value = flag.Default
		}
		list = append(list, FlagValue{Name: flag.Name, Value: value})
	}
	slices.SortFunc(list, func(a, b FlagValue) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// flag finds the flag of a word, which may be the inverse of a boolean.
func (m *Manifest) flag(name string, given bool) (flag *manifestdoc.Flag, negated bool) {
	inverse, isInverse := strings.CutPrefix(name, "no-")
	for i := range m.Contributes.Flags {
		f := &m.Contributes.Flags[i]
		if f.Name == name {
			return f, false
		}
		if isInverse && !given && f.Name == inverse && f.Type == manifestdoc.FlagTypeBoolean {
			flag, negated = f, true
		}
	}
	return flag, negated
}

func (m *Manifest) flagNames() []string {
	names := make([]string, len(m.Contributes.Flags))
	for i, f := range m.Contributes.Flags {
		names[i] = f.Name
	}
	return names
}

func parseFlag(f *manifestdoc.Flag, text string, given, negated bool) (json.RawMessage, error) {
	switch f.Type {
	case manifestdoc.FlagTypeBoolean:
		switch {
		case !given:
			return json.Marshal(!negated)
		case text == "true", text == "false":
			return json.RawMessage(text), nil
		default:
			return nil, fmt.Errorf("extension CLI flag --%s requires true or false, got %q", f.Name, text)
		}
	case manifestdoc.FlagTypeInteger:
		n, err := strconv.ParseInt(text, 10, 64)
		if errors.Is(err, strconv.ErrSyntax) {
			return nil, fmt.Errorf("extension CLI flag --%s requires an integer, got %q", f.Name, text)
		}
		if err := integerFlag(f.Name, n); err != nil {
			return nil, err
		}
		return json.RawMessage(strconv.FormatInt(n, 10)), nil
	default:
		if !given {
			return nil, fmt.Errorf("extension CLI flag --%s requires a value; write %s=VALUE", f.Name, f.Name)
		}
		if err := stringFlag(f.Name, text); err != nil {
			return nil, err
		}
		return json.Marshal(text)
	}
}
