package extension_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

const (
	scratchVariable = "OCTET_EXTENSION_SCRATCH"
	composable      = `{"limits":{"max_calls":256,"timeout_ms":30000},"store":{"k":1},"tools":[{"description":"d","name":"read","parameters":{}}]}`
)

// scratchDir is a scratch directory with one file; an empty name leaves it empty.
func scratchDir(t *testing.T, name, content string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(scratchVariable, dir)
	if name != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// described is the description of a file; changes are further members or other values.
func described(name, content string, changes map[string]any) map[string]any {
	file := map[string]any{"path": name, "bytes": len(content), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(content)))}
	for member, value := range changes {
		file[member] = value
	}
	return file
}

// compose asks for a service whose result comes as a file, and returns what the author gets.
func compose(t *testing.T, service, with, member string, file map[string]any) (result string, err error) {
	t.Helper()
	answer, err := json.Marshal(map[string]any{member: file})
	if err != nil {
		t.Fatal(err)
	}
	options := &exttest.Options{Services: map[string]exttest.Service{service: exttest.Answer(exttest.Malformed(answer))}}
	_, err = try(t, extension.API04, "do", options, func(ctx context.Context, scope *extension.Scope) error {
		text, err := scope.Invoke(ctx, service, []byte(with))
		result = string(text)
		return err
	})
	return result, err
}

func composeContext(t *testing.T, file map[string]any) (string, error) {
	t.Helper()
	return compose(t, "composition.context", "", "context_file", file)
}

func composeCall(t *testing.T, file map[string]any) (string, error) {
	t.Helper()
	return compose(t, "composition.call", `{"name":"read","arguments":{}}`, "value_file", file)
}

// TestScratch_inPlaceOfTheLine is EXT04-NEST-004 where all is well: the author does not see how a value came.
func TestScratch_inPlaceOfTheLine(t *testing.T) {
	dir := scratchDir(t, "answer-1", composable)
	got, err := composeContext(t, described("answer-1", composable, nil))
	if err != nil || got != composable {
		t.Errorf("context %s, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, value := range []string{`"text"`, `{"value_file":1}`, "null", ` [1,"ü"] `} {
		dir := scratchDir(t, "v", value)
		got, err := composeCall(t, described("v", value, nil))
		if err != nil || got != `{"value":`+strings.TrimSpace(value)+"}" {
			t.Errorf("value %s, %v; want %s", got, err, value)
		}
		if _, err := os.Lstat(filepath.Join(dir, "v")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind: %v", value, err)
		}
	}
}

func TestScratch_typed(t *testing.T) {
	scratchDir(t, "answer-1", composable)
	file := described("answer-1", composable, nil)
	options := &exttest.Options{Services: map[string]exttest.Service{"composition.context": exttest.Answer(map[string]any{"context_file": file})}}
	_, err := try(t, extension.API04, "do", options, func(ctx context.Context, scope *extension.Scope) error {
		record, err := scope.Composition().Context(ctx)
		tools, _ := record.Tools.Get()
		limits, _ := record.Limits.Get()
		if len(tools) != 1 || tools[0].Name != "read" || limits.MaxCalls != featurewire.MaxCompositionCalls || !record.ContextFile.IsAbsent() {
			t.Errorf("record %+v", record)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestScratch_refuses gives for each fault of a file where and how the host's result is wrong, and a word that
// the error must have. What is not a directory is gone afterwards.
func TestScratch_refuses(t *testing.T) {
	const secret = `"s3cret"`
	write := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for _, c := range []struct {
		name    string
		place   func(t *testing.T, path string)
		file    map[string]any
		pointer string
		kind    wirejson.ViolationKind
		word    string
		stays   bool
	}{
		{"a wrong size", write(secret), described("f", secret, map[string]any{"bytes": 9}), "/value_file/bytes", wirejson.WrongValue, "has 8 bytes and not 9", false},
		{"a wrong digest", write(secret), described("f", `"S3cret"`, nil), "/value_file/sha256", wirejson.WrongValue, "digest", false},
		{"a link", func(t *testing.T, path string) {
			t.Helper()
			write(secret)(t, filepath.Join(filepath.Dir(path), "other"))
			if err := os.Symlink("other", path); err != nil {
				t.Fatal(err)
			}
		}, described("f", secret, nil), "/value_file/path", wirejson.WrongValue, "no regular file", false},
		{"a directory", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, described("f", secret, nil), "/value_file/path", wirejson.WrongValue, "no regular file", true},
		{"no file", func(*testing.T, string) {}, described("f", secret, nil), "/value_file/path", wirejson.WrongValue, "is not in the scratch directory", false},
		{"the directory above", write(secret), described("..", secret, nil), "/value_file/path", wirejson.WrongClass, "outside the scratch directory", true},
		{"a path", write(secret), described("../f", secret, nil), "/value_file/path", wirejson.WrongClass, "/value_file/path", true},
		{"a size of nothing", write(""), described("f", "", nil), "/value_file/bytes", wirejson.OutOfRange, "/value_file/bytes", false},
		{
			"too large a file", write(secret), described("f", secret, map[string]any{"bytes": featurewire.MaxCompositionFileBytes + 1}),
			"/value_file/bytes", wirejson.OutOfRange, "/value_file/bytes", false,
		},
		{
			"more than is told", write(strings.Repeat(" ", featurewire.MaxCompositionFileBytes) + secret), described("f", secret, nil),
			"/value_file/bytes", wirejson.WrongValue, "and not 8", false,
		},
		{"no UTF-8", write("\"s3cret\xff\""), described("f", "\"s3cret\xff\"", nil), "/value_file", wirejson.WrongValue, "UTF-8", false},
		{"no JSON", write(`{"s3cret":1,"s3cret":2}`), described("f", `{"s3cret":1,"s3cret":2}`, nil), "/value_file", wirejson.WrongValue, "strict JSON", false},
		{"two values", write(`1,"s3cret":2`), described("f", `1,"s3cret":2`, nil), "/value_file", wirejson.WrongValue, "strict JSON", false},
		{"too deep", write(deep(featurewire.MaxDepth + 1)), described("f", deep(featurewire.MaxDepth+1), nil), "/value_file", wirejson.WrongValue, "strict JSON", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scratchDir(t, "", "")
			path := filepath.Join(dir, "f")
			c.place(t, path)
			got, err := composeCall(t, c.file)
			if got != "" {
				t.Errorf("got %s", got)
			}
			judgeMalformed(t, err, featurewire.MethodCompositionCall, c.pointer, c.kind, c.word)
			if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) == c.stays {
				t.Errorf("the file is left behind: %v, want %v", err == nil, c.stays)
			}
		})
	}
}

// TestScratch_judgesTheRecord says that a context that came as a file is judged by its model.
func TestScratch_judgesTheRecord(t *testing.T) {
	for content, want := range map[string]struct {
		pointer string
		kind    wirejson.ViolationKind
	}{
		`{"tools":[{"description":"s3cret","name":"","parameters":{}}]}`: {"/tools/0/name", wirejson.ByteCount},
		`{"store":{"s3cret":1}}`: {"/tools", wirejson.Missing},
		`["s3cret"]`:             {"", wirejson.NotObject},
		`{"context_file":{"bytes":1,"path":"f","sha256":"` + strings.Repeat("0", 64) + `"}}`: {"/context_file", wirejson.Forbidden},
	} {
		dir := scratchDir(t, "f", content)
		_, err := composeContext(t, described("f", content, nil))
		judgeMalformed(t, err, featurewire.MethodCompositionContext, want.pointer, want.kind, `the file "f"`)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestScratch_withoutADirectory(t *testing.T) {
	t.Setenv(scratchVariable, "")
	_, err := composeCall(t, described("f", `"x"`, nil))
	judgeMalformed(t, err, featurewire.MethodCompositionCall, "/value_file/path", wirejson.WrongValue, scratchVariable)
}

// judgeMalformed demands a fault of the host at one place, which tells nothing of what a file holds.
func judgeMalformed(t *testing.T, err error, method, pointer string, kind wirejson.ViolationKind, word string) {
	t.Helper()
	var malformed *extension.ResultError
	var violation *wirejson.Violation
	if !errors.As(err, &malformed) || !errors.As(malformed.Err, &violation) {
		t.Fatalf("error %v, want a malformed result", err)
	}
	if malformed.Method != method || violation.Pointer != pointer || violation.Kind != kind {
		t.Errorf("%s at %q: %s, want %s at %q: %s", malformed.Method, violation.Pointer, violation.Kind, method, pointer, kind)
	}
	if text := err.Error(); !strings.Contains(text, word) || strings.Contains(text, "s3cret") {
		t.Errorf("error %q, want one with %q and nothing of the file", text, word)
	}
}
