package octet_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestPlatforms checks the types of everything for systems that are not this one. To compile all of it, with the
// database, takes minutes each (`make cross`); what a change breaks elsewhere is a name that is not there, and
// types show that.
func TestPlatforms(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	// What others declare is needed, what they do is not: their functions have no bodies here.
	parse := func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
		file, err := parser.ParseFile(files, name, source, parser.AllErrors|parser.SkipObjectResolution)
		if file != nil && !strings.HasPrefix(name, root) {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					f.Body = nil
				}
			}
		}
		return file, err
	}
	for _, platform := range []string{"darwin/arm64", "windows/amd64"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			system, architecture, _ := strings.Cut(platform, "/")
			found, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
					packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo,
				ParseFile: parse,
				Env:       append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0"),
			}, modulePath+"...")
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			packages.Visit(found, nil, func(p *packages.Package) {
				if !strings.HasPrefix(p.PkgPath+"/", modulePath) {
					return
				}
				checked++
				for _, e := range p.Errors {
					t.Errorf("%s: %v", p.PkgPath, e)
				}
			})
			if checked < 100 {
				t.Fatalf("only %d packages were checked: the pattern or the folder is wrong", checked)
			}
		})
	}
}
