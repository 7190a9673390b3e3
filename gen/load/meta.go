package load

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
)

const metaFolder = "meta"

// metaSchemas validates spec files against the schemas they name.
type metaSchemas struct {
	source   *source
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

func newMetaSchemas(s *source) *metaSchemas {
	m := &metaSchemas{source: s, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	m.compiler.UseLoader(refuse{})
	return m
}

// refuse keeps the compiler from reading anything but the files it was given.
type refuse struct{}

func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q is outside %s", url, metaFolder)
}

// check validates one file and reports whether it has the form its schema asks for.
func (m *metaSchemas) check(n node) bool {
	if !n.exists() {
		return false
	}
	named := n.get("$schema")
	if !named.isText() {
		m.source.errs.Addf(n.file, "", `names no meta-schema; add "$schema" with the path of one under %s/`, metaFolder)
		return false
	}
	name := path.Join(path.Dir(n.file), named.value.Text())
	schema, err := m.schema(name)
	if err != nil {
		m.source.errs.Addf(n.file, named.pointer, "%v", err)
		return false
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(n.value.Source()))
	if err != nil {
		m.source.errs.Addf(n.file, "", "no JSON: %v", err)
		return false
	}
	err = schema.Validate(instance)
	if err == nil {
		return true
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		m.source.errs.Addf(n.file, "", "%v", err)
		return false
	}
	m.report(n.file, name, invalid)
	return false
}

func (m *metaSchemas) schema(name string) (*jsonschema.Schema, error) {
	if s, ok := m.compiled[name]; ok {
		return s, nil
	}
	if path.Dir(name) != metaFolder {
		return nil, fmt.Errorf("the meta-schema %q is not a file under %s/; name one by its relative path", name, metaFolder)
	}
	data, err := readFile(m.source.fsys, name)
	if err != nil {
		return nil, fmt.Errorf("the meta-schema %q %s", name, reason(err, "add it or name another one"))
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the meta-schema %q is no JSON (%w)", name, err)
	}
	if err := m.compiler.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("the meta-schema %q cannot be used (%w)", name, err)
	}
	s, err := m.compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("the meta-schema %q cannot be used (%w)", name, err)
	}
	m.compiled[name] = s
	return s, nil
}

// report adds the innermost causes: an outer one only says that an inner one exists. The schema that the
// file breaks is what tells its author the remedy.
func (m *metaSchemas) report(file, schema string, err *jsonschema.ValidationError) {
	if extra, ok := err.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, name := range slices.Sorted(slices.Values(extra.Properties)) {
			at := pointerOf(err.InstanceLocation) + "/" + wirejson.EscapePointer(name)
			m.source.errs.Addf(file, at, "the member %q is not legal here; see spec/%s for the form", name, schema)
		}
		return
	}
	if len(err.Causes) == 0 {
		text := err.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		m.source.errs.Addf(file, pointerOf(err.InstanceLocation), "%s; see spec/%s for the form", text, schema)
		return
	}
	causes := err.Causes
	if _, ok := err.ErrorKind.(*kind.OneOf); ok {
		causes = nearest(causes)
	}
	if _, ok := err.ErrorKind.(*kind.AnyOf); ok {
		causes = nearest(causes)
	}
	// The validator walks members in no order of its own.
	slices.SortStableFunc(causes, func(a, b *jsonschema.ValidationError) int {
		return slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, func(a, b string) int {
			i, errA := strconv.Atoi(a)
			j, errB := strconv.Atoi(b)
			if errA == nil && errB == nil {
				return cmp.Compare(i, j)
			}
			return cmp.Compare(a, b)
		})
	})
	for _, cause := range causes {
		m.report(file, schema, cause)
	}
}

// nearest keeps the alternative that got deepest into the value: the one its author most likely meant.
func nearest(causes []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	best, depth := causes[0], -1
	for _, cause := range causes {
		if d := reach(cause); d > depth {
			best, depth = cause, d
		}
	}
	return []*jsonschema.ValidationError{best}
}

func reach(err *jsonschema.ValidationError) int {
	depth := len(err.InstanceLocation)
	for _, cause := range err.Causes {
		depth = max(depth, reach(cause))
	}
	return depth
}

func pointerOf(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString("/" + wirejson.EscapePointer(token))
	}
	return b.String()
}
