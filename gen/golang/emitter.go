// Package golang emits the Go bindings: one package per wire, the rules, and a copy of the support
// package that stands in the folder support.
package golang

import (
	"cmp"
	"embed"
	"path"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

const (
	module       = "github.com/octet-dev/octet"
	root         = "generated"
	supportName  = "wirejson"
	supportPath  = module + "/" + root + "/" + supportName
	supportFrom  = "gen/golang/support"
	rulesPackage = "rules"
	wiresFile    = "wires.json"
)

//go:embed support/*.go
var support embed.FS

// New returns the Go emitter.
func New() emit.Emitter { return emitter{} }

type emitter struct{}

func (emitter) Name() string { return "go" }

func (emitter) Emit(spec *model.Spec) ([]emit.File, error) {
	errs := new(located.List)
	files, err := supportFiles()
	if err != nil {
		return nil, err
	}
	for _, wire := range spec.Wires {
		p := newPackage(wire, errs)
		made, err := p.files()
		if err != nil {
			// A name that Go cannot spell breaks the source too; its place in the spec says more.
			return nil, cmp.Or(errs.Err(), err)
		}
		files = append(files, made...)
		if made, err = newServices(wire, errs).files(); err != nil {
			return nil, cmp.Or(errs.Err(), err)
		}
		files = append(files, made...)
	}
	ruleFile, err := rules(spec, errs)
	if err != nil {
		return nil, err
	}
	files = append(files, ruleFile, readme(spec))
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// supportFiles returns the support package under the generated header, without its tests.
func supportFiles() ([]emit.File, error) {
	entries, err := support.ReadDir("support")
	if err != nil {
		return nil, err
	}
	var files []emit.File
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := support.ReadFile("support/" + name)
		if err != nil {
			return nil, err
		}
		header := "// " + emit.Marker(supportFrom+"/"+name) + "\n\n"
		files = append(files, emit.File{Path: path.Join(root, supportName, name), Data: append([]byte(header), data...)})
	}
	return files, nil
}

func readme(spec *model.Spec) emit.File {
	var b strings.Builder
	b.WriteString("<!-- " + emit.Marker("spec/wires.json") + " -->\n\n# generated\n\n")
	b.WriteString("Go code made from `spec/`, wiped and written anew by every `make generate`. Change the spec or `gen/golang`, never\n")
	b.WriteString("a file here. Hand-written additions live in the package that needs them.\n\n")
	b.WriteString("| Package | What it holds |\n| --- | --- |\n")
	b.WriteString("| `wirejson` | strict JSON reader, table-driven validator, canonical writer: a copy of `gen/golang/support` |\n")
	for _, wire := range spec.Wires {
		b.WriteString("| `" + wire.Module.Go + "` | " + strings.TrimSuffix(wire.Title, ".") + " |\n")
		if s := newServices(wire, new(located.List)); len(s.sent()) > 0 {
			b.WriteString("| `" + s.pkgName() + "` | What an extension calls, hears and is asked there |\n")
		}
	}
	b.WriteString("| `rules` | every rule: id, level, role, versions, text, source |\n\n")
	b.WriteString("Tests live with what they test: `gen/golang/support`, `gen/golang` and `gen/conformance`.\n")
	return emit.File{Path: path.Join(root, "README.md"), Data: []byte(b.String())}
}
