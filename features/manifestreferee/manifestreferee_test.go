package manifestreferee_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultymanifest"
	"github.com/octet-dev/octet/features/manifestreferee"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/verdict"
)

// judge lays a manifest and judges it by everything that binds it.
func judge(t *testing.T, api string, f faultymanifest.Fault) (*manifestreferee.Reading, []verdict.Scenario) {
	t.Helper()
	dir, err := faultymanifest.Lay(t.TempDir(), api, f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := manifestreferee.Directory(dir)
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := r.Run(nil)
	if err != nil || len(scenarios) < 40 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	return r, scenarios
}

func TestRun_soundManifests(t *testing.T) {
	for _, api := range dialect.Versions() {
		r, scenarios := judge(t, api, faultymanifest.Fault{})
		if r.API != api || r.Manifest == nil || r.Program == "" || len(r.Problems)+len(r.Warnings) > 0 {
			t.Errorf("API %s: read as %+v", api, r)
		}
		for _, s := range scenarios {
			if s.Class != verdict.Pass {
				t.Errorf("API %s: %s is %s: %s", api, s.Name, s.Class, s.Reason)
			}
		}
	}
}

// Every faulty manifest is caught by the rule that it breaks and accused of nothing else, with a place in the file.
func TestRun_faultyManifests(t *testing.T) {
	for _, f := range faultymanifest.Faults() {
		for _, api := range f.Versions() {
			t.Run(f.Name+"/"+api, func(t *testing.T) {
				_, scenarios := judge(t, api, f)
				broken := map[string]bool{}
				for _, s := range scenarios {
					for _, found := range s.Findings {
						if found.Missing {
							continue
						}
						broken[found.Rule] = true
						if found.Line < 1 || found.Column < 1 || found.Message == "" || s.Class != verdict.Fail {
							t.Errorf("%s: finding %+v of class %s", s.Name, found, s.Class)
						}
					}
				}
				want := append([]string{f.Rule}, f.Others...)
				slices.Sort(want)
				if got := slices.Sorted(maps.Keys(broken)); !slices.Equal(got, want) {
					t.Errorf("a manifest that %s breaks %v, want %v", f.Doc, got, want)
				}
			})
		}
	}
}

// Every judged rule of a manifest has one scenario and a faulty manifest on every API version that it binds, and
// no scenario is about anything else.
func TestScenarios_areProven(t *testing.T) {
	type place struct{ rule, api string }
	proven, broken := map[place]int{}, map[place]int{}
	all, err := features.ManifestScenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if len(s.Steps) != 2 || len(s.Rules) == 0 || len(s.APIs) == 0 {
			t.Errorf("%s has %d steps, %d rules and %d versions", s.Key(), len(s.Steps), len(s.Rules), len(s.APIs))
		}
		for _, id := range s.Rules {
			if r, found := rulebook.Find(id); !found || r.Role != "manifest" || !rulebook.Judged(r) {
				t.Errorf("%s names %s, which is no rule of manifests that a run judges", s.Key(), id)
			}
			for _, api := range s.APIs {
				proven[place{id, api}]++
			}
		}
	}
	for _, f := range faultymanifest.Faults() {
		for _, api := range f.Versions() {
			broken[place{f.Rule, api}]++
		}
	}
	for _, r := range rulebook.All() {
		if r.Role != "manifest" || !rulebook.Judged(r) {
			continue
		}
		for _, api := range dialect.Versions() {
			at, want := place{r.ID, api}, 0
			if rulebook.Binds(r, api) {
				want = 1
			}
			if proven[at] != want {
				t.Errorf("%s has %d scenarios on API %s, want %d", r.ID, proven[at], api, want)
			}
			if (broken[at] > 0) != (want > 0) {
				t.Errorf("%s has %d faulty manifests on API %s", r.ID, broken[at], api)
			}
		}
	}
}

// A manifest that cannot be read keeps what it says from being judged, which is no pass.
func TestRun_unreadIsNoPass(t *testing.T) {
	at := slices.IndexFunc(faultymanifest.Faults(), func(f faultymanifest.Fault) bool { return f.Rule == "MAN-FILE-003" })
	_, scenarios := judge(t, "0.4", faultymanifest.Faults()[at])
	for _, s := range scenarios {
		early := slices.Contains([]string{"MAN-FILE-001", "MAN-FILE-002", "MAN-FILE-004", "MAN-FILE-005", "MAN-FILE-006"}, s.Rules[0])
		if early != (s.Class == verdict.Pass) || !early && s.Unrun != (s.Rules[0] != "MAN-FILE-003") {
			t.Errorf("%s (%v) is %s, unrun %t", s.Name, s.Rules, s.Class, s.Unrun)
		}
	}
}

func TestFile_isJudgedAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made.toml")
	if err := os.WriteFile(path, []byte(faultymanifest.Sound("0.3")), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := manifestreferee.File(path)
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := r.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := map[verdict.Class]int{}
	for _, s := range scenarios {
		n[s.Class]++
	}
	if n[verdict.NotApplicable] != 5 || n[verdict.Pass] < 40 || len(n) != 2 {
		t.Errorf("got %v", n)
	}
}

func TestDirectory_withoutManifest(t *testing.T) {
	if _, err := manifestreferee.Directory(t.TempDir()); err != manifestreferee.ErrNoManifest {
		t.Errorf("got %v", err)
	}
}
