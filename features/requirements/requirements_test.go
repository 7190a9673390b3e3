package requirements

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/spec"
)

var freeze = flag.String("freeze", "", "write the current sets into spec/requirements under this name, a number")

// Every frozen set is as it was frozen, and names rules that exist and bind its version.
func TestFrozen(t *testing.T) {
	if *freeze != "" {
		write(t, *freeze)
	}
	names, err := Names(spec.Files)
	if err != nil || len(names) == 0 {
		t.Fatalf("got %v, %v", names, err)
	}
	for _, name := range names {
		for _, api := range dialect.Versions() {
			s, err := Load(spec.Files, name, api)
			if err != nil {
				t.Error(err)
				continue
			}
			if len(s.Rules) < 100 {
				t.Errorf("set %s of API %s has %d rules; something is wrong with it", name, api, len(s.Rules))
			}
			for id, level := range s.Rules {
				r, found := rulebook.Find(id)
				if !found || !rulebook.Binds(r, api) {
					t.Errorf("set %s of API %s names %s, which is no rule of it; a rule is never removed", name, api, id)
				}
				if level != rules.Must && level != rules.Should {
					t.Errorf("set %s of API %s: %s has the level %q", name, api, id, level)
				}
			}
		}
	}
}

// The current set holds a subject to every judged rule.
func TestOf_isComplete(t *testing.T) {
	for _, api := range dialect.Versions() {
		s, err := Of(api)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rulebook.All() {
			if level, required := s.Level(r.ID); rulebook.Judged(r) && rulebook.Binds(r, api) && (!required || level != string(r.Level)) {
				t.Errorf("%s is judged on API %s, and the current set has it as %q", r.ID, api, level)
			}
		}
	}
}

func TestLoad_refusals(t *testing.T) {
	s := &Set{Name: "7", API: "0.4", Rules: map[string]rules.Level{"EXT04-FRAME-001": rules.Must}}
	good, err := s.Freeze("7")
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	for _, c := range []struct{ name, api, text, want string }{
		{"7", "0.4", text, ""},
		{"8", "0.4", text, `there is no requirement set "8"; use one of 7, current`},
		{"7", "0.3", text, "has nothing about API 0.3"},
		{"7", "0.4", strings.Replace(text, "must", "should", 1), "a frozen set never changes"},
		{"7", "0.4", strings.Replace(text, "FRAME-001", "FRAME-002", 1), "a frozen set never changes"},
		{"7", "0.4", strings.Replace(text, `"7"`, `"6"`, 1), `says that it is set "6"`},
		{"7", "0.4", strings.Replace(text, "/v1", "/v2", 1), "has the format"},
		{"7", "0.4", text[:20], "unexpected end"},
	} {
		_, err := Load(fstest.MapFS{"requirements/7/0.4.json": {Data: []byte(c.text)}}, c.name, c.api)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("set %s of API %s: got %v, want %q", c.name, c.api, err, c.want)
		}
	}
}

// write freezes the current sets. A name is taken once.
func write(t *testing.T, name string) {
	dir := filepath.Join("..", "..", "spec", Folder, name)
	if strings.Trim(name, "0123456789") != "" {
		t.Fatalf("%q is no number; the names of sets are", name)
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		t.Fatalf("set %s is there already; take the next number", name)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, api := range dialect.Versions() {
		s, err := Of(api)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Freeze(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, api+".json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("set %s is frozen; run the tests again, and commit it", name)
}
