package selftest

import (
	"os"
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultymanifest"
	"github.com/octet-dev/octet/features/manifestreferee"
	"github.com/octet-dev/octet/features/verdict"
)

// manifests stands for a program in what became of a manifest.
const manifests = "manifest"

// Manifests judges the sound manifest of every API version, and every faulty one on each version on which it can
// be made. Only chooses by name and rule; nil for all.
func Manifests(only func(name, rule string) bool) ([]Result, error) {
	var results []Result
	add := func(api string, f faultymanifest.Fault) error {
		if f.Name != "" && only != nil && !only(f.Name, f.Rule) {
			return nil
		}
		r, err := manifest(api, f)
		results = append(results, r)
		return err
	}
	for _, api := range dialect.Versions() {
		if err := add(api, faultymanifest.Fault{}); err != nil {
			return nil, err
		}
	}
	for _, f := range faultymanifest.Faults() {
		for _, api := range f.Versions() {
			if err := add(api, f); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// manifest judges one, by everything that binds it. Others are broken rules that do not follow from the fault.
func manifest(api string, f faultymanifest.Fault) (Result, error) {
	r := Result{Program: manifests, Fault: f.Name, Rule: f.Rule, API: api, Verdict: Missed}
	if f.Name == "" {
		r.Verdict = Clean
	}
	parent, err := os.MkdirTemp("", "octet-selftest-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(parent) }()
	dir, err := faultymanifest.Lay(parent, api, f)
	if err != nil {
		return r, err
	}
	reading, err := manifestreferee.Directory(dir)
	if err != nil {
		return r, err
	}
	scenarios, err := reading.Run(nil)
	if err != nil {
		return r, err
	}
	for _, s := range scenarios {
		if s.Class == verdict.Pass || s.Unrun {
			continue
		}
		id := s.Rules[0]
		switch {
		case f.Name == "":
			r.Verdict, r.Reason = Alarmed, id+": "+s.Reason
			r.Others = append(r.Others, id)
		case id == f.Rule:
			r.Verdict, r.Reason = Caught, s.Reason
		case !slices.Contains(f.Others, id):
			r.Others = append(r.Others, id)
		}
	}
	if r.Verdict == Missed && len(r.Others) > 0 {
		r.Verdict = Other
	}
	return r, nil
}
