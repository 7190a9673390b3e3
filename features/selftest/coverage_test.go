package selftest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/steps"
)

func scenarios(t *testing.T) []features.Scenario {
	t.Helper()
	all, err := features.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("%d scenarios were found; the features have more than 300", len(all))
	}
	return all
}

// Every judged rule is proven by a scenario on every API version it binds, and by a fault that breaks it.
func TestRules_areProven(t *testing.T) {
	proven := map[string][]string{}
	for _, s := range scenarios(t) {
		for _, id := range s.Rules {
			proven[id] = append(proven[id], s.APIs...)
		}
	}
	broken := map[string]bool{}
	for _, f := range faultypeer.Faults() {
		broken[f.Rule] = true
	}
	for _, r := range rulebook.All() {
		if r.Role != "extension" {
			continue
		}
		if !rulebook.Judged(r) {
			continue
		}
		for _, api := range r.Versions {
			if !slices.Contains(proven[r.ID], api) {
				t.Errorf("%s is proven by no scenario on API %s: %s", r.ID, api, r.Text)
			}
		}
		if !broken[r.ID] {
			t.Errorf("%s is broken by no faulty peer: %s", r.ID, r.Text)
		}
	}
}

// Tags name rules that exist, that bind an extension, and versions that the rule binds.
func TestScenarios_nameKnownRules(t *testing.T) {
	for _, s := range scenarios(t) {
		if len(s.Rules) == 0 || len(s.APIs) == 0 {
			t.Errorf("%s %q has %d rules and %d API versions; it needs both", s.Key(), s.Name, len(s.Rules), len(s.APIs))
		}
		for _, id := range s.Rules {
			r, ok := rulebook.Find(id)
			switch {
			case !ok:
				t.Errorf("%s: rule %s does not exist", s.Key(), id)
			case r.Role != "extension":
				t.Errorf("%s: rule %s binds the %s", s.Key(), id, r.Role)
			}
			for _, api := range s.APIs {
				if ok && !rulebook.Binds(r, api) {
					t.Errorf("%s: rule %s does not bind API %s", s.Key(), id, api)
				}
			}
		}
		for _, api := range s.APIs {
			if !slices.Contains(dialect.Versions(), api) {
				t.Errorf("%s: API version %q does not exist", s.Key(), api)
			}
		}
	}
}

func TestScenarios_areShort(t *testing.T) {
	for _, s := range scenarios(t) {
		if len(s.Steps) > 12 {
			t.Errorf("%s has %d steps; above twelve it is two scenarios", s.Key(), len(s.Steps))
		}
	}
}

func TestVocabulary_isShortAndUsed(t *testing.T) {
	phrases := steps.Vocabulary()
	if len(phrases) > 30 {
		t.Errorf("%d phrases; at most thirty", len(phrases))
	}
	used := make([]bool, len(phrases))
	for _, s := range scenarios(t) {
		for _, text := range s.Steps {
			n := 0
			for i, p := range phrases {
				if p.Matches(text) {
					used[i] = true
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: step %q matches %d phrases, want 1", s.Key(), text, n)
			}
		}
	}
	for i, p := range phrases {
		if !used[i] {
			t.Errorf("phrase %q is used by no scenario", p.Expr)
		}
	}
}

// Features are promises of any implementation: they do not speak of our programs.
func TestScenarios_nameNoProgram(t *testing.T) {
	for _, s := range scenarios(t) {
		for _, text := range append([]string{s.Name}, s.Steps...) {
			if strings.Contains(text, "octet-conform") || strings.Contains(text, "sdk") {
				t.Errorf("%s: %q names a program", s.Key(), text)
			}
		}
	}
}

func TestFaults_areSound(t *testing.T) {
	all := faultypeer.Faults()
	if len(all) < 400 {
		t.Errorf("%d faults; at least four hundred", len(all))
	}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.Name] {
			t.Errorf("fault %q is there twice", f.Name)
		}
		seen[f.Name] = true
		r, ok := rulebook.Find(f.Rule)
		switch {
		case !ok:
			t.Errorf("fault %q expects rule %s, which does not exist", f.Name, f.Rule)
		case !rulebook.Binds(r, f.API):
			t.Errorf("fault %q shows on API %s, which rule %s does not bind", f.Name, f.API, f.Rule)
		}
		if f.Doc == "" {
			t.Errorf("fault %q has no description", f.Name)
		}
	}
}

// The monitor cites rules of the wire it judges.
func TestMonitor_citesKnownRules(t *testing.T) {
	for _, api := range dialect.Versions() {
		d, err := dialect.For(api)
		if err != nil {
			t.Fatal(err)
		}
		cited := monitor.Rules(d)
		if len(cited) < 30 {
			t.Errorf("API %s: %d rules are cited", api, len(cited))
		}
		for _, id := range cited {
			if r, ok := rulebook.Find(id); !ok || r.Role != "extension" {
				t.Errorf("API %s: the monitor cites %s, which is no rule of an extension", api, id)
			}
		}
	}
}
