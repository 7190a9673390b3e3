package octet_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestSecurity_promisesAreTested demands that every test which SECURITY.md names is there.
func TestSecurity_promisesAreTested(t *testing.T) {
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("git", "ls-files", "-co", "--exclude-standard", "*_test.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for file := range strings.FieldsSeq(string(output)) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler says it better
		}
		for _, declaration := range parsed.Decls {
			if f, is := declaration.(*ast.FuncDecl); is && f.Recv == nil {
				there[f.Name.Name] = true
			}
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(page, -1)
	if len(named) < 40 {
		t.Errorf("SECURITY.md names %d tests; the pattern or the page is wrong", len(named))
	}
	for _, name := range named {
		if !there[string(name[1])] {
			t.Errorf("SECURITY.md names %s, which is no test; name the one that holds the promise now", name[1])
		}
	}
}
