package launch

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestCandidates(t *testing.T) {
	dir, bin, tools := filepath.FromSlash("/ext/demo"), filepath.FromSlash("/usr/bin"), filepath.FromSlash("/opt/tools")
	search := Search{Path: []string{bin, "relative", "", tools}}
	beside := func(name string) Candidate { return Candidate{Path: filepath.Join(dir, filepath.FromSlash(name))} }
	for _, c := range []struct {
		command string
		search  Search
		want    []Candidate
	}{
		{"run.py", search, []Candidate{
			beside("run.py"), {filepath.Join(bin, "run.py"), true}, {filepath.Join(tools, "run.py"), true},
		}},
		{"bin/run", search, []Candidate{beside("bin/run")}},
		{"./run", search, []Candidate{beside("run")}},
		{"../run", search, []Candidate{beside("../run")}},
		{"..", search, []Candidate{beside("..")}},
		{filepath.Join(bin, "run"), search, []Candidate{{Path: filepath.Join(bin, "run")}}},
		{"run", Search{Path: []string{bin}, Extensions: []string{".exe"}}, []Candidate{
			beside("run"), beside("run.exe"), {filepath.Join(bin, "run"), true}, {filepath.Join(bin, "run.exe"), true},
		}},
		{"run.py", Search{Extensions: []string{".exe"}}, []Candidate{beside("run.py")}},
	} {
		if got := Candidates(c.command, dir, c.search); !slices.Equal(got, c.want) {
			t.Errorf("Candidates(%q) = %v, want %v", c.command, got, c.want)
		}
	}
}
