package octet_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ruleRow is what a row of spec/rules says about its proof.
type ruleRow struct {
	ID       string `json:"id"`
	Level    string `json:"level"`
	NoPeer   string `json:"no_peer"`
	ProvenBy string `json:"proven_by"`
	Unproven string `json:"unproven"`
}

// ruleRows returns the rules of every rule file.
func ruleRows(t *testing.T) []ruleRow {
	t.Helper()
	var rows []ruleRow
	for _, name := range []string{"extension-feature", "extension-canonical", "manifest", "oup-core", "oup-services"} {
		var file struct{ Rules []ruleRow }
		readJSON(t, "spec/rules/"+name+".json", &file)
		rows = append(rows, file.Rules...)
	}
	return rows
}

var ruleID = regexp.MustCompile(`\b(?:EXT0[134]|MAN|OUP)-[A-Z]+-\d{3}\b`)

// TestRules_areCitedByTheirProof demands that a must rule is named by a test or transcript in the place that
// the rule says proves it.
func TestRules_areCitedByTheirProof(t *testing.T) {
	cited := map[string]map[string]bool{} // place, then rule ids its tests name
	seen := 0
	for _, rule := range ruleRows(t) {
		if rule.ProvenBy == "" || rule.Level == "may" {
			continue
		}
		seen++
		if cited[rule.ProvenBy] == nil {
			cited[rule.ProvenBy] = rulesCitedBelow(t, rule.ProvenBy)
		}
		if !cited[rule.ProvenBy][rule.ID] {
			t.Errorf("%s is proven by %s, but no test there names it", rule.ID, rule.ProvenBy)
		}
	}
	if seen < 100 {
		t.Errorf("saw %d rules that name their proof, want at least 100", seen)
	}
}

// TestRules_unprovenAreCitedByNoTest keeps the mark true: who proves such a rule names the place in its row.
func TestRules_unprovenAreCitedByNoTest(t *testing.T) {
	cited := rulesCitedBelow(t, ".")
	if len(cited) < 100 {
		t.Errorf("saw %d rules cited by tests, want at least 100", len(cited))
	}
	for _, rule := range ruleRows(t) {
		if rule.Unproven != "" && cited[rule.ID] {
			t.Errorf("%s counts as unproven, but a test names it; add proven_by to its row instead", rule.ID)
		}
	}
}

// rulesCitedBelow returns the rule ids in the tests of a package folder, or in the files a pattern matches.
func rulesCitedBelow(t *testing.T, place string) map[string]bool {
	t.Helper()
	matches, err := filepath.Glob(place)
	if err != nil || len(matches) == 0 {
		t.Errorf("proven_by names %q, which does not exist", place)
	}
	found := map[string]bool{}
	for _, match := range matches {
		err := filepath.WalkDir(match, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if file != match && !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, ".txtar") {
				return nil
			}
			text, err := os.ReadFile(file)
			for _, id := range ruleID.FindAllString(string(text), -1) {
				found[id] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestRules_reasonsAreSpecific keeps a reason for the lack of a faulty peer from standing for whatever was not
// looked at: one that very many rules share, or rules of many areas, is none.
func TestRules_reasonsAreSpecific(t *testing.T) {
	const mostRules, mostAreas, fewestBytes = 40, 10, 20
	type use struct {
		rules int
		areas map[string]bool
	}
	uses := map[string]*use{}
	for _, rule := range ruleRows(t) {
		if rule.NoPeer == "" {
			continue
		}
		if uses[rule.NoPeer] == nil {
			uses[rule.NoPeer] = &use{areas: map[string]bool{}}
		}
		u := uses[rule.NoPeer]
		u.rules++
		u.areas[rule.ID[:strings.LastIndexByte(rule.ID, '-')]] = true
		if len(rule.NoPeer) < fewestBytes {
			t.Errorf("%s: the reason %q says too little", rule.ID, rule.NoPeer)
		}
	}
	if len(uses) < 20 {
		t.Errorf("saw %d reasons, want at least 20", len(uses))
	}
	for reason, u := range uses {
		if u.rules > mostRules || len(u.areas) > mostAreas {
			t.Errorf("%d rules of %d areas share the reason %q; say of each what keeps a faulty peer from breaking it", u.rules, len(u.areas), reason)
		}
	}
}
