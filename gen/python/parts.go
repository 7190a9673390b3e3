package python

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// part is one module of a wire: what it writes, and the modules of the same wire that it speaks of.
type part struct {
	name, doc string
	write     []func(*writer, *model.Wire) ([]string, error)
	models    *model.Wire // the wire with the models of this module alone
	needs     []string
	exported  []string
}

// modules returns the modules of one wire. A wire of an extension is one module, since an extension loads one wire
// and all of it. That of a client and a server is several, and one that has them all.
func modules(wire *model.Wire) ([]emit.File, error) {
	if wire.Family != model.ServerFamily {
		one := &part{
			name: wire.Module.Python, doc: wire.Doc, models: wire,
			write: []func(*writer, *model.Wire) ([]string, error){limits, bases, scalars, classes, shapes, index, methods, errorTable, features, capabilities, hooks, tables},
		}
		data, err := one.module(wire)
		return []emit.File{{Path: path.Join(homeOf(wire).folder, one.name+".py"), Data: data}}, err
	}
	parts := split(wire)
	var files []emit.File
	var names []string
	for _, p := range parts {
		data, err := p.module(wire)
		if err != nil {
			return nil, err
		}
		names = append(names, p.exported...)
		files = append(files, emit.File{Path: path.Join(homeOf(wire).folder, p.name+".py"), Data: data})
	}
	if err := distinct(append(names, "MODELS", "VERSIONS")); err != nil {
		return nil, err
	}
	return append(files, whole(wire, parts)), nil
}

// partName is the name of a module beside that of the wire: "oup_models" beside "oup_wire".
func partName(wire *model.Wire, what string) string {
	return strings.TrimSuffix(wire.Module.Python, "_wire") + "_" + what
}

// split cuts a wire: its limits; its models, a module for each file of them, which speak of those before them; and
// its tables.
func split(wire *model.Wire) []*part {
	parts := []*part{{name: partName(wire, "limits"), doc: "The limits.", models: wire, write: []func(*writer, *model.Wire) ([]string, error){limits}}}
	needs := []string{parts[0].name}
	for i, file := range wire.Files.Models {
		own := *wire
		own.Models = slices.DeleteFunc(slices.Clone(wire.Models), func(m *model.Model) bool { return m.File != file })
		stem := strings.TrimSuffix(path.Base(file), ".json")
		p := &part{name: partName(wire, strings.ReplaceAll(stem, "-", "_")), doc: "The models of " + file + ".", models: &own, needs: needs}
		if i == 0 {
			p.write = append(p.write, bases)
		}
		p.write = append(p.write, scalars, classes, shapes)
		parts = append(parts, p)
		needs = append(slices.Clone(needs), p.name)
	}
	return append(parts, &part{name: partName(wire, "tables"), doc: "The methods, errors, features and tables.", models: wire, write: []func(*writer, *model.Wire) ([]string, error){methods, errorTable, features, tables}})
}

// module writes one part. Scalars come first, since shapes name them at once; record and union shapes come last,
// when every class they name exists.
func (p *part) module(wire *model.Wire) ([]byte, error) {
	var body, head writer
	for _, write := range p.write {
		names, err := write(&body, p.models)
		if err != nil {
			return nil, err
		}
		p.exported = append(p.exported, names...)
	}
	if wire.Family != model.ServerFamily {
		p.exported = append(p.exported, "MODELS", "VERSIONS")
	}
	if err := distinct(p.exported); err != nil {
		return nil, err
	}
	p.header(&head, wire, body.b.String())
	return []byte(head.b.String() + body.b.String()), nil
}

func (p *part) header(w *writer, wire *model.Wire, body string) {
	w.line("# %s", emit.Marker("spec/"+sourceFolder(wire)))
	if len(p.needs) > 0 {
		w.line("# ruff: noqa: F403, F405")
	}
	w.doc("", wire.Title+".", p.doc)
	w.blank(1)
	w.line("from __future__ import annotations")
	w.blank(1)
	for _, from := range []struct{ module, names string }{
		{"collections.abc", used(body, "Mapping", "Sequence")},
		{"typing", used(body, "ClassVar", "Final", "Literal", "TypeAlias")},
	} {
		if from.names != "" {
			w.line("from %s import %s", from.module, from.names)
		}
	}
	w.blank(1)
	p.imports(w, wire, body)
	slices.Sort(p.exported)
	w.line("__all__ = [")
	for _, name := range p.exported {
		w.line("    %s,", quoted(name))
	}
	w.line("]")
	w.blank(1)
	if wire.Family != model.ServerFamily {
		versions(w, wire)
	}
}

// imports writes what a part takes from the modules beside it.
func (p *part) imports(w *writer, wire *model.Wire, body string) {
	module := homeOf(wire).module
	var lines []string
	if names := used(body, "_models", "_rows", "_shapes"); names != "" {
		lines = append(lines, fmt.Sprintf("from %s import %s", module, names))
	}
	if names := used(body, "ABSENT", "Absent"); names != "" {
		lines = append(lines, fmt.Sprintf("from %s._shapes import %s", module, names))
	}
	for i, name := range p.needs {
		lines = append(lines, fmt.Sprintf("from %s.%s import *", module, name))
		if names := used(body, "_Either", "_Envelope", "_Model", "_Scalar"); i == 1 && names != "" {
			lines = append(lines, fmt.Sprintf("from %s.%s import %s", module, name, names))
		}
	}
	for _, line := range lines {
		w.line("%s", line)
	}
	if len(lines) > 0 {
		w.blank(1)
	}
}

func versions(w *writer, wire *model.Wire) {
	w.line("VERSIONS: Final = %s", tuple(wire.Versions))
	w.doc("", "API versions that this wire carries.")
}

// used returns those of the names that a text uses, separated by commas.
func used(text string, names ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !regexp.MustCompile(`\b` + name + `\b`).MatchString(text)
	}), ", ")
}

// whole writes the module that has everything of its parts.
func whole(wire *model.Wire, parts []*part) emit.File {
	var w writer
	w.line("# %s", emit.Marker("spec/"+sourceFolder(wire)))
	w.line("# ruff: noqa: F403, F405")
	w.doc("", wire.Title+".", wire.Doc)
	w.blank(1)
	w.line("from collections.abc import Mapping")
	w.line("from typing import Final")
	w.blank(1)
	module := homeOf(wire).module
	w.line("from %s import _models", module)
	names := []string{"MODELS", "VERSIONS"}
	modules := make([]string, len(parts))
	for i, p := range parts {
		names = append(names, p.exported...)
		modules[i] = p.name
	}
	slices.Sort(modules)
	for _, name := range modules {
		w.line("from %s.%s import *", module, name)
	}
	w.blank(1)
	slices.Sort(names)
	w.line("__all__ = [")
	for _, name := range names {
		w.line("    %s,", quoted(name))
	}
	w.line("]")
	w.blank(1)
	versions(&w, wire)
	// Every model, from whichever module it comes.
	_, _ = index(&w, wire)
	return emit.File{Path: path.Join(homeOf(wire).folder, wire.Module.Python+".py"), Data: []byte(w.b.String())}
}
