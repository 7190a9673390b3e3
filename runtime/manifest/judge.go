// Package manifest reads extension.toml: bytes in, a manifest and every problem out.
//
// It touches no file and starts nothing. The shape of the document (keys, types, enumerations,
// identifiers, bounds) is judged by the descriptors generated from spec/; what lies between keys (versions,
// pairs, combinations) is judged here from the generated tables.
package manifest

import (
	"fmt"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/manifest/semver"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// Context is what a manifest is judged against. The zero Context judges the document alone.
type Context struct {
	// Directory is the name of the directory that holds the manifest; empty: not looked at.
	Directory string
	// Octet is the version that requires_octet must match; nil: the version this module implements.
	Octet *semver.Version
}

// Judge reads a manifest. The data is not kept.
func Judge(data []byte, context Context) Verdict {
	root, faults := tomltree.Parse(data)
	j := judge{context: context, wrong: map[string]bool{}, keys: map[string][]string{}}
	for _, fault := range faults {
		j.fault(fault)
	}
	if len(faults) == 0 {
		j.doc = newDocument(root)
		j.shapes()
		j.meaning()
	}
	sortByPlace(j.problems)
	verdict := Verdict{Problems: j.problems}
	if len(j.wrong) == 0 {
		verdict.Manifest = resolve(j.decoded)
	}
	return verdict
}

type judge struct {
	context  Context
	doc      *document
	decoded  manifestdoc.Manifest // good once there are no problems
	problems []Problem
	wrong    map[string]bool     // pointers with an error
	keys     map[string][]string // cache of knownKeys
}

func (j *judge) add(p Problem) {
	if p.Severity == Error {
		j.wrong[p.Pointer] = true
	}
	j.problems = append(j.problems, p)
}

func (j *judge) fault(f tomltree.Fault) {
	p := Problem{
		Rule: "MAN-FILE-003", Severity: Error, Position: f.Position, class: decoding,
		Message: f.Message, Remedy: "correct the TOML; what follows it has not been judged",
	}
	for _, key := range f.Path {
		p.Pointer += "/" + wirejson.EscapePointer(key)
	}
	switch {
	case f.Marked:
		p.Remedy = "remove the byte-order mark at its start: save it as UTF-8 without one"
	case f.Twice:
		p.Remedy = "correct the TOML; what keys and values mean has not been judged"
	case f.NotUTF8:
		p.Rule, p.class = "MAN-FILE-002", semantic
		p.Message = "manifest is not valid UTF-8"
		p.Remedy = "save the file as UTF-8; " + f.Message
	}
	j.add(p)
}

// shapes lets the descriptors judge the JSON form of the document. The last error cannot happen: our own
// JSON form is always JSON, and what has no violation decodes.
func (j *judge) shapes() {
	err := manifestdoc.EachViolation("Manifest", j.doc.json, func(v *wirejson.Violation) bool {
		j.shape(v)
		return true
	})
	if err == nil && len(j.wrong) == 0 {
		j.decoded, err = manifestdoc.DecodeManifest(j.doc.json)
	}
	if err != nil {
		j.add(Problem{
			Rule: "MAN-FILE-003", Severity: Error, Position: tomltree.Position{Line: 1, Column: 1}, class: decoding,
			Message: err.Error(), Remedy: "correct the document",
		})
	}
}

// broken reports whether an error about a pointer has been found already.
func (j *judge) broken(pointer string) bool { return j.wrong[pointer] }

const (
	versionRemedy     = "write three numbers such as 1.0.0, optionally with a pre-release (-beta.1) and a build part (+7)"
	requirementRemedy = "write comparators such as =0.8.0, ^0.8 or >=0.8.0, <0.9.0"
)

func versionMessage(value, detail string) string {
	return fmt.Sprintf("version `%s` is not semantic versioning: %s", value, detail)
}

func requirementMessage(value, detail string) string {
	return fmt.Sprintf("requires_octet `%s` is not a semantic version requirement: %s", value, detail)
}
