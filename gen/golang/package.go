package golang

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

// pkg emits the package of one wire.
type pkg struct {
	wire  *model.Wire
	errs  *located.List
	names *scope
	index map[*model.Model]int
	arms  map[*model.Model][]*model.Model // unions a record is a variant of
}

func newPackage(wire *model.Wire, errs *located.List) *pkg {
	p := &pkg{wire: wire, errs: errs, index: map[*model.Model]int{}, arms: map[*model.Model][]*model.Model{}}
	p.names = newScope(errs, "package "+wire.Module.Go)
	p.reserve(wire.Files)
	if wire.Family == model.ServerFamily {
		p.names.reserve(callNames...)
	}
	for i, m := range wire.Models {
		p.index[m] = i
		for _, v := range m.Variants {
			p.arms[v.Record] = append(p.arms[v.Record], m)
		}
	}
	return p
}

// reserve keeps the names that the parts of the wire bring with them.
func (p *pkg) reserve(files model.Files) {
	for _, from := range []struct {
		part  model.Part
		names []string
	}{
		{model.Part{wiresFile}, []string{"Wire", "Versions", "MaxDepth"}},
		{files.Models, []string{"Models", "DecodeAny", "ValidateModel", "EachViolation"}},
		{files.Methods, []string{"Methods", "LookupMethod", "LookupRequest", "LookupNotification"}},
		{files.Errors, []string{"Errors", "ErrorByName", "ErrorByCode"}},
		{files.Limits, []string{"Limits"}},
		{files.Features, []string{"Features", "LookupFeature"}},
		{files.Capabilities, []string{"Capabilities", "LookupCapability"}},
		{files.Hooks, []string{"Hooks", "LookupHook"}},
	} {
		if len(from.part) > 0 {
			p.names.reserve(from.names...)
		}
	}
}

// specFiles names the files of a part relative to the repository, as a header cites them.
func specFiles(part model.Part) string {
	files := make([]string, len(part))
	for i, name := range part {
		files[i] = "spec/" + name
	}
	return strings.Join(files, ", ")
}

func (p *pkg) path(name string) string { return path.Join(root, p.wire.Module.Go, name) }

func (p *pkg) files() ([]emit.File, error) {
	files := p.wire.Files
	parts := []struct {
		name string
		from model.Part
		make func(*source) []string // returns the imports
	}{
		{"doc.go", model.Part{wiresFile}, p.docFile},
		{"models.go", files.Models, p.modelsFile},
		{"codec.go", files.Models, p.codecFile},
		{"schema.go", files.Models, p.schemaFile},
		{"methods.go", files.Methods, p.methodsFile},
		{"calls.go", p.called(), p.callsFile},
		{"errors.go", files.Errors, p.errorsFile},
		{"limits.go", files.Limits, p.limitsFile},
		{"features.go", files.Features, p.featuresFile},
		{"capabilities.go", files.Capabilities, p.capabilitiesFile},
		{"hooks.go", files.Hooks, p.hooksFile},
		{"tables.go", files.Tables, p.tablesFile},
	}
	var made []emit.File
	for _, part := range parts {
		if len(part.from) == 0 {
			continue
		}
		s := new(source)
		imports := part.make(s)
		f, err := s.file(p.path(part.name), specFiles(part.from), p.wire.Module.Go, imports...)
		if err != nil {
			return nil, err
		}
		if part.name == "doc.go" {
			f.Data = moveDoc(f.Data, p.packageDoc())
		}
		made = append(made, f)
	}
	return made, nil
}

// called returns the files of the methods of a wire that has clients.
func (p *pkg) called() model.Part {
	if p.wire.Family != model.ServerFamily {
		return nil
	}
	return p.wire.Files.Methods
}

func (p *pkg) packageDoc() string {
	s := new(source)
	s.doc("", "Package "+p.wire.Module.Go+" is the Go binding of: "+strings.TrimSuffix(p.wire.Title, ".")+".", p.wire.Doc,
		"DecodeX reads one model: the error is a *wirejson.SyntaxError for text that is not strict JSON and a *wirejson.Violation for "+
			"a value that breaks the model. AppendJSON writes the canonical spelling without checking it, MarshalJSON checks what it "+
			"wrote, Validate only checks. A member that may be absent or null is a wirejson.Opt; opaque JSON is a json.RawMessage, "+
			"canonical when it was decoded; a required member with one legal value is not in the struct. A union is an interface that "+
			"its variants implement.")
	return s.buf.String()
}

// moveDoc puts the package comment in front of the package clause.
func moveDoc(data []byte, doc string) []byte {
	return []byte(strings.Replace(string(data), "\npackage ", "\n"+doc+"package ", 1))
}

func (p *pkg) docFile(s *source) []string {
	s.p("// Wire is the name of this wire in the spec.")
	s.p("const Wire = %q", p.wire.Name)
	s.p("")
	if len(p.wire.Versions) > 0 {
		s.p("// The API versions.")
		s.p("const (")
		for _, v := range p.wire.Versions {
			name := p.names.declare("Version"+goName(v), "version "+strconv.Quote(v), model.Place{File: "wires.json"})
			s.p("%s = %q", name, v)
		}
		s.p(")")
		s.p("")
	}
	s.p("// Versions lists the API versions, ascending.")
	s.p("var Versions = %s", quoted(p.wire.Versions))
	s.p("")
	s.p("// MaxDepth is the deepest legal level of a value, the root having level 0.")
	s.p("const MaxDepth = %d", p.wire.MaxDepth)
	return nil
}

// sourceNote says where a fact comes from and which versions know it.
func (p *pkg) sourceNote(from string, versions []string) string {
	note := ""
	if len(versions) > 0 && !slices.Equal(versions, p.wire.Versions) {
		note = "API " + strings.Join(versions, ", ") + ". "
	}
	if from != "" {
		note += "Source: " + from + "."
	}
	return note
}
