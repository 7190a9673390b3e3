// Package load reads the spec files, checks them and builds the model that emitters work from.
//
// Loading has four stages, and each looks at everything before it gives up: every file must be strict
// JSON with portable integers, then of the form its meta-schema asks for, then every file that a wire
// names must be there, then all must be consistent with each other. The faults of the first stage that
// finds any are returned together, each with file, JSON Pointer and remedy.
package load

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

// What the dialect assumes where a wire's limit table is silent.
const (
	depthLimit     = "max_json_depth"
	defaultDepth   = 128
	integerLimit   = "max_portable_json_integer"
	defaultInteger = 1<<53 - 1
	wiresFile      = "wires.json"
	rulesFolder    = "rules/"
	vectorsFolder  = "vectors/"

	requirementsFolder = "requirements/"
	definitions        = "#/$defs/"
)

// idLimits are the limits that bound ids without a bound of their own; a wire has one of them.
var idLimits = []string{"max_json_rpc_id_bytes", "max_id_bytes"}

func itoa(i int) string { return strconv.Itoa(i) }

// Load reads the spec that fsys holds, rooted at the folder spec/: regular files of at most 16 MiB each. An
// fsys that must not follow links out of that folder is one of os.Root. An error that is about the spec is a
// located.Errors.
func Load(fsys fs.FS) (*model.Spec, error) {
	errs := new(located.List)
	src := &source{fsys: fsys, files: map[string]node{}, errs: errs}
	names := src.list()
	src.read(wiresFile)
	for _, name := range names {
		src.read(name)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	meta := newMetaSchemas(src)
	for _, name := range names {
		meta.check(src.files[name])
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	for _, wire := range src.read(wiresFile).get("wires").items() {
		for _, part := range wire.get("files").members() {
			for _, file := range partOf(part.node) {
				src.read(file)
			}
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	spec := build(src, names)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return spec, nil
}

func build(src *source, names []string) *model.Spec {
	spec := new(model.Spec)
	used := map[string]bool{wiresFile: true}
	root := src.read(wiresFile)
	for _, n := range root.get("wires").items() {
		w := &wireLoader{source: src, errs: src.errs, used: used}
		if slices.ContainsFunc(spec.Wires, func(o *model.Wire) bool { return o.Name == n.text("name") }) {
			src.errs.Addf(n.file, n.at("name"), "the wire %q comes twice; keep one", n.text("name"))
		}
		spec.Wires = append(spec.Wires, w.load(n))
	}
	rules := &ruleLoader{spec: spec, errs: src.errs, ids: map[string]bool{}, prefixes: map[string]string{}}
	var requirements []node
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, rulesFolder):
			rules.load(src.read(name))
		case strings.HasPrefix(name, requirementsFolder):
			requirements = append(requirements, src.read(name))
		case strings.HasPrefix(name, vectorsFolder):
			checkVectors(src.read(name), rules)
		case !used[name]:
			src.errs.Addf(name, "", "no wire names this file; add it to %s or remove it", wiresFile)
		}
	}
	for _, n := range requirements {
		checkRequirements(n, rules)
	}
	return spec
}

// wireLoader builds one wire.
type wireLoader struct {
	source *source
	errs   *located.List
	used   map[string]bool // files that some wire names

	wire   *model.Wire
	models map[string]*model.Model
	limits map[string]*model.Limit
}

func (w *wireLoader) addf(n node, format string, args ...any) {
	w.errs.Addf(n.file, n.pointer, format, args...)
}

func (w *wireLoader) load(n node) *model.Wire {
	files := n.get("files")
	modules := n.get("modules")
	w.wire = &model.Wire{
		Name:     n.text("name"),
		Family:   model.Family(cmp.Or(n.text("family"), string(model.ExtensionFamily))),
		Title:    n.text("title"),
		Doc:      n.text("doc"),
		Versions: n.texts("versions"),
		Module: model.Module{
			Go:         modules.text("go"),
			Python:     modules.text("python"),
			TypeScript: modules.text("typescript"),
		},
		Files: model.Files{
			Models:       partOf(files.get("models")),
			Methods:      partOf(files.get("methods")),
			Errors:       partOf(files.get("errors")),
			Limits:       partOf(files.get("limits")),
			Features:     partOf(files.get("features")),
			Capabilities: partOf(files.get("capabilities")),
			Hooks:        partOf(files.get("hooks")),
			Tables:       partOf(files.get("tables")),
		},
		MaxDepth: defaultDepth,
	}
	w.models, w.limits = map[string]*model.Model{}, map[string]*model.Limit{}

	w.loadLimits(w.part(w.wire.Files.Limits))
	if l := w.limits[depthLimit]; l != nil {
		w.wire.MaxDepth = int(l.Value)
	}
	w.loadErrors(w.part(w.wire.Files.Errors))
	w.loadModels(w.part(w.wire.Files.Models))
	w.loadFeatures(w.part(w.wire.Files.Features))
	w.loadMethods(w.part(w.wire.Files.Methods))
	w.loadCapabilities(w.part(w.wire.Files.Capabilities))
	w.checkGates()
	w.loadHooks(w.part(w.wire.Files.Hooks))
	w.loadTables(w.part(w.wire.Files.Tables))
	return w.wire
}

// partOf returns the files of one part: one name, or a list of them.
func partOf(n node) model.Part {
	switch {
	case !n.exists():
		return nil
	case n.isText():
		return model.Part{n.value.Text()}
	}
	var files model.Part
	for _, file := range n.items() {
		files = append(files, file.value.Text())
	}
	return files
}

// part returns the roots of the files of one part of the wire; none for a part the wire does not have.
func (w *wireLoader) part(files model.Part) []node {
	var roots []node
	for _, file := range files {
		w.used[file] = true
		roots = append(roots, w.source.read(file))
	}
	return roots
}

// rows returns the rows that the files of one part list under a name.
func rows(roots []node, name string) []node {
	var list []node
	for _, root := range roots {
		list = append(list, root.get(name).items()...)
	}
	return list
}

func placeOf(n node) model.Place { return model.Place{File: n.file, Pointer: n.pointer} }

// versions returns the versions a row names, or all of the wire's, and reports foreign ones.
func (w *wireLoader) versions(n node, name string) []string {
	if !n.has(name) {
		return w.wire.Versions
	}
	listed := n.texts(name)
	for i, v := range listed {
		if !slices.Contains(w.wire.Versions, v) {
			w.errs.Addf(n.file, n.at(name)+"/"+itoa(i), "the wire has no version %q; use a subset of %s", v, strings.Join(w.wire.Versions, ", "))
		}
	}
	if !slices.IsSortedFunc(listed, func(a, b string) int {
		return slices.Index(w.wire.Versions, a) - slices.Index(w.wire.Versions, b)
	}) {
		w.errs.Addf(n.file, n.at(name), "versions stand out of order; list them ascending")
	}
	return listed
}

// lacking returns the first of want that have does not hold.
func lacking(want, have []string) (string, bool) {
	for _, v := range want {
		if !slices.Contains(have, v) {
			return v, true
		}
	}
	return "", false
}
