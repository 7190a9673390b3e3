package flags

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Set is the flags of all extensions that take part in an invocation.
type Set struct {
	extensions []*manifest.Manifest // ascending by name
	options    []option             // by extension, then as declared
}

// option is one spelling on the command line.
type option struct {
	extension *manifest.Manifest
	flag      *manifestdoc.Flag
	inverse   bool
	// uses are the values that the command line gives it; for a boolean the mark bare.
	uses []string
}

// name is the spelling without hyphens.
func (o *option) name() string {
	if o.inverse {
		return "no-" + o.flag.Name
	}
	return o.flag.Name
}

// CollisionError says that a spelling is taken already.
type CollisionError struct {
	Spelling  string // without hyphens
	Extension string
	Other     string // the extension that has it; empty: octet itself
}

// Error names spelling, extensions and remedy.
func (e *CollisionError) Error() string {
	other, remedy := "an option of octet", "rename the flag, or do not enable the extension"
	switch e.Other {
	case "":
	case e.Extension:
		other, remedy = "another flag of the same extension", "rename one of them"
	default:
		other, remedy = fmt.Sprintf("a flag of extension %q", e.Other), "enable one of them only"
	}
	return fmt.Sprintf("extension CLI flag --%s from %q conflicts with %s; %s (MAN-FLAG-020)", e.Spelling, e.Extension, other, remedy)
}

// Register takes the manifests of the extensions that are selected, enabled and trusted, and the long
// options that octet has, those of all its commands included. A boolean has its inverse as well. The
// error joins a *CollisionError for each spelling that is taken.
//
// Rules: MAN-FLAG-017, MAN-FLAG-020, MAN-FLAG-021, MAN-FLAG-022, MAN-FLAG-026.
func Register(extensions []*manifest.Manifest, reserved []string) (*Set, error) {
	s := &Set{extensions: slices.Clone(extensions)}
	slices.SortFunc(s.extensions, func(a, b *manifest.Manifest) int { return cmp.Compare(a.Name, b.Name) })
	taken := map[string]string{"help": "", "version": ""}
	for _, name := range reserved {
		taken[name] = ""
	}
	var collisions []error
	for _, extension := range s.extensions {
		for i := range extension.Contributes.Flags {
			flag := &extension.Contributes.Flags[i]
			spellings := []option{{extension: extension, flag: flag}}
			if flag.Type == manifestdoc.FlagTypeBoolean {
				spellings = append(spellings, option{extension: extension, flag: flag, inverse: true})
			}
			for _, o := range spellings {
				if other, found := taken[o.name()]; found {
					collisions = append(collisions, &CollisionError{Spelling: o.name(), Extension: extension.Name, Other: other})
					continue
				}
				taken[o.name()] = extension.Name
				s.options = append(s.options, o)
			}
		}
	}
	if len(collisions) > 0 {
		return nil, errors.Join(collisions...)
	}
	return s, nil
}

// bare marks a use without a value. No value of a command line has a NUL in it.
const bare = "\x00"

// AddTo registers every spelling with a parser. A Set serves one parser.
func (s *Set) AddTo(parser *pflag.FlagSet) {
	for i := range s.options {
		o := &s.options[i]
		flag := parser.VarPF(o, o.name(), "", "")
		if o.flag.Type == manifestdoc.FlagTypeBoolean {
			flag.NoOptDefVal = bare
		}
	}
}

// Set notes a use. What it is worth is decided when all of them are known.
func (o *option) Set(text string) error {
	o.uses = append(o.uses, text)
	return nil
}

// String is the value for help texts that the parser writes; ours are written by Help.
func (o *option) String() string { return "" }

// Type names the value.
func (o *option) Type() string { return string(o.flag.Type) }

// Check looks for strings whose value starts with a hyphen and stands in a word of its own: that word is
// more likely an option. The parser is the one that the flags were added to; it knows which words are
// values.
func (s *Set) Check(parser *pflag.FlagSet, args []string) error {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		flag := valueNext(parser, args[i])
		if flag == nil || i+1 == len(args) {
			continue
		}
		i++
		o, ours := flag.Value.(*option)
		if ours && o.flag.Type == manifestdoc.FlagTypeString && len(args[i]) > 1 && args[i][0] == '-' {
			return fmt.Errorf("extension CLI flag --%s of %q got %q, which starts with a hyphen; write --%s=%s if it is the value (MAN-FLAG-013)",
				o.name(), o.extension.Name, args[i], o.name(), args[i])
		}
	}
	return nil
}

// valueNext finds the flag whose value is the next word, nil if there is none.
func valueNext(parser *pflag.FlagSet, word string) *pflag.Flag {
	var flag *pflag.Flag
	switch name, long := strings.CutPrefix(word, "--"); {
	case long && !strings.Contains(name, "="):
		flag = parser.Lookup(name)
	case !long && len(word) > 1 && word[0] == '-':
		for i := 1; i < len(word); i++ {
			flag = parser.ShorthandLookup(word[i : i+1])
			if flag == nil || flag.NoOptDefVal == "" && i+1 < len(word) {
				return nil // the value stands in the same word
			}
		}
	}
	if flag == nil || flag.NoOptDefVal != "" {
		return nil
	}
	return flag
}

// Values resolves the flags of one extension: what the command line gave, defaults for the rest, ascending
// by name. It is called behind the parser.
//
// Rules: MAN-FLAG-012, MAN-FLAG-014, MAN-FLAG-015.
func (s *Set) Values(extension string) ([]manifest.FlagValue, error) {
	for _, m := range s.extensions {
		if m.Name != extension {
			continue
		}
		words, err := s.supplied(m)
		if err != nil {
			return nil, err
		}
		return m.FlagValues(words)
	}
	return nil, fmt.Errorf("extension %q has no flags here: it is not selected, enabled and trusted (MAN-FLAG-017)", extension)
}

// supplied lists what the command line gave to one extension, as name=value or the name of a boolean or
// its inverse alone.
func (s *Set) supplied(m *manifest.Manifest) ([]string, error) {
	var words []string
	for _, o := range s.options {
		if o.extension != m {
			continue
		}
		for _, use := range o.uses {
			switch {
			case use == bare:
				words = append(words, o.name())
			case o.flag.Type == manifestdoc.FlagTypeBoolean:
				return nil, fmt.Errorf("extension CLI flag --%s of %q takes no value, got %q; write --%s or --no-%s (MAN-FLAG-012)",
					o.name(), m.Name, use, o.flag.Name, o.flag.Name)
			default:
				words = append(words, o.name()+"="+use)
			}
		}
	}
	return words, nil
}

// Words are what the command line gave to the flags of one extension, as name=value or the name of a boolean
// or its inverse alone; nil if it has no flags here. Validate has been called.
func (s *Set) Words(extension string) []string {
	for _, m := range s.extensions {
		if m.Name == extension {
			words, _ := s.supplied(m)
			return words
		}
	}
	return nil
}

// Validate resolves the flags of every extension and returns what is wrong with the first one.
func (s *Set) Validate() error {
	for _, m := range s.extensions {
		if _, err := s.Values(m.Name); err != nil {
			return err
		}
	}
	return nil
}

// Line is one line of help.
type Line struct {
	Extension string
	Spelling  string // "--depth INTEGER"
	Text      string
}

// Help describes every spelling, by extension and then as declared, an inverse behind its flag.
//
// Rules: MAN-FLAG-022, MAN-FLAG-024.
func (s *Set) Help() []Line {
	lines := make([]Line, 0, len(s.options))
	for _, o := range s.options {
		line := Line{Extension: o.extension.Name, Spelling: "--" + o.name()}
		if o.flag.Type != manifestdoc.FlagTypeBoolean {
			line.Spelling += " " + strings.ToUpper(string(o.flag.Type))
		}
		switch {
		case o.inverse:
			line.Text = fmt.Sprintf("Turn %s of extension %s off", o.flag.Name, o.extension.Name)
		default:
			line.Text = o.flag.Description.Or(fmt.Sprintf("Set %s of extension %s", o.flag.Name, o.extension.Name))
			line.Text += fmt.Sprintf(" (default %s)", o.flag.Default)
		}
		lines = append(lines, line)
	}
	return lines
}
