// Package sdkgo_test holds the surface of the SDK: what an author can import is a golden file, so that its
// growth shows in review.
package sdkgo_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file of exported names")

const golden = "testdata/surface.txt"

func TestSurface_isTheGoldenOne(t *testing.T) {
	var lines []string
	for _, dir := range []string{"extension", "extension/exttest", "oup"} {
		lines = append(lines, surface(t, dir)...)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	listed := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	for _, line := range lines {
		if !slices.Contains(listed, line) {
			t.Errorf("new on the surface: %s", line)
		}
	}
	for _, line := range listed {
		if !slices.Contains(lines, line) {
			t.Errorf("gone from the surface: %s", line)
		}
	}
	t.Errorf("if this is meant, run go test ./sdk-go -update and read the difference")
}

// surface lists the exported declarations of a package, a line each, ascending.
func surface(t *testing.T, dir string) []string {
	t.Helper()
	files := token.NewFileSet()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, filepath.ToSlash(dir)+": "+fmt.Sprintf(format, args...))
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || entry.Type() != fs.FileMode(0) {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, declaration := range file.Decls {
			describe(files, declaration, add)
		}
	}
	slices.Sort(lines)
	return lines
}

func describe(files *token.FileSet, declaration ast.Decl, add func(string, ...any)) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(strings.TrimPrefix(printed(files, d.Recv.List[0].Type), "*")) {
			return
		}
		d.Body, d.Doc = nil, nil
		add("%s", printed(files, d))
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add("%s %s", d.Tok, name.Name)
				}
			case *ast.TypeSpec:
				describeType(files, s, add)
			}
		}
	}
}

func describeType(files *token.FileSet, s *ast.TypeSpec, add func(string, ...any)) {
	fields, isStruct := s.Type.(*ast.StructType)
	if !isStruct {
		add("type %s %s", s.Name.Name, printed(files, s.Type))
		return
	}
	add("type %s struct", s.Name.Name)
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			add("type %s struct, %s %s", s.Name.Name, name.Name, printed(files, field.Type))
		}
	}
}

// printed returns a node as one line.
func printed(files *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, files, node); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
