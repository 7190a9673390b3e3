// Package scaffold writes new extensions: small ones that work, that have tests, and that keep every rule
// before anybody has changed a line.
package scaffold

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

//go:embed templates
var templates embed.FS

// Options say what to write.
type Options struct {
	// Parent is the directory in which the directory of the extension is made; it must exist.
	Parent   string
	Name     string
	Language string // one of Languages
	API      string // one of APIs
	// SDK is the absolute path of a clone of octet whose SDKs are used; empty: the published ones.
	SDK string
	// Release is the version of the published SDKs.
	Release string
}

// Written is what there is now.
type Written struct {
	Dir   string   // of the extension
	Files []string // below it, slash-separated, as they were written
	Steps []string // shell commands that make, try and judge it, from within it
}

// APIs are the versions that extensions are written for: the current one and the canonical one. The
// retained ones are for what exists.
var APIs = []string{manifestdoc.Version04, manifestdoc.Version03}

// Languages are the languages of the SDKs.
var Languages = []string{"go", "python", "typescript"}

// WordError is a word of Options that cannot be used.
type WordError struct {
	What, Word, Remedy string
}

// Error names the word and the remedy.
func (e *WordError) Error() string { return fmt.Sprintf("%s %q: %s", e.What, e.Word, e.Remedy) }

// ErrExists says that there is something already where the extension would be.
var ErrExists = errors.New("exists already; choose another name, or remove it")

// file is one file of an extension.
type file struct {
	template, path string
	executable     bool
}

// language is how extensions of a language are built.
type language struct {
	name    string // for people
	command func(name string) string
	source  string
	test    string
	files   []file
	steps   func(Options) []string
}

var languages = map[string]language{
	"go": {
		name: "Go", command: func(name string) string { return "bin/" + name }, source: "main.go", test: "main_test.go",
		files: []file{
			{template: "go/main.go", path: "main.go"},
			{template: "go/main_test.go", path: "main_test.go"},
			{template: "go/go.mod", path: "go.mod"},
			{template: "go/gitignore", path: ".gitignore"},
		},
		steps: func(o Options) []string {
			return []string{"go mod tidy", "go test .", "go build -o bin/" + o.Name + " ."}
		},
	},
	"python": {
		name: "Python", command: func(string) string { return "extension.py" }, source: "extension.py", test: "test_extension.py",
		files: []file{
			{template: "python/extension.py", path: "extension.py", executable: true},
			{template: "python/test_extension.py", path: "test_extension.py"},
			{template: "python/gitignore", path: ".gitignore"},
		},
		steps: func(o Options) []string {
			sdk := "octet-extension==" + o.Release
			if o.SDK != "" {
				sdk = quote(o.SDK + "/sdk-py")
			}
			return []string{"python3 -m pip install " + sdk + " pytest", "python3 -m pytest -q ."}
		},
	},
	"typescript": {
		name: "TypeScript", command: func(string) string { return "extension.mjs" }, source: "src/extension.ts", test: "src/extension.test.ts",
		files: []file{
			{template: "typescript/extension.ts", path: "src/extension.ts"},
			{template: "typescript/extension.test.ts", path: "src/extension.test.ts"},
			{template: "typescript/main.ts", path: "src/main.ts"},
			{template: "typescript/start.mjs", path: "extension.mjs", executable: true},
			{template: "typescript/package.json", path: "package.json"},
			{template: "typescript/tsconfig.json", path: "tsconfig.json"},
			{template: "typescript/gitignore", path: ".gitignore"},
		},
		steps: func(Options) []string { return []string{"npm install", "npm test"} },
	},
}

// common are the files that every extension has.
var common = []file{
	{template: "extension.toml", path: "extension.toml"},
	{template: "conform.toml", path: "conform.toml"},
	{template: "README.md", path: "README.md"},
}

// Write makes the directory of an extension and fills it. It changes nothing that is there: a directory of
// that name, even an empty one, is ErrExists. Whatever goes wrong, nothing is left behind. A word that
// cannot be used is a *WordError.
func Write(o Options) (_ *Written, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	l := languages[o.Language]
	w := &Written{Dir: filepath.Join(o.Parent, o.Name)}
	w.Steps = append(l.steps(o), "octet tool call . "+prefix(o.Name)+"_greet --arg name=Ada", "octet-conform extension .")
	rendered, err := render(o, l, w.Steps)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(w.Dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s %w", w.Dir, ErrExists)
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(w.Dir)
		}
	}()
	for i, f := range append(common, l.files...) {
		path := filepath.Join(w.Dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if f.executable {
			mode = 0o755
		}
		if err := os.WriteFile(path, rendered[i], mode); err != nil {
			return nil, err
		}
		w.Files = append(w.Files, f.path)
	}
	return w, nil
}

// render fills the templates, in the order of common and the language's own files.
func render(o Options, l language, steps []string) ([][]byte, error) {
	canonical := ""
	if o.API == manifestdoc.Version03 {
		canonical = "yes"
	}
	file, err := json.Marshal("file:" + o.SDK + "/sdk-ts")
	if err != nil {
		return nil, err
	}
	values := map[string]string{
		"Name": o.Name, "API": o.API, "Canonical": canonical, "Prefix": prefix(o.Name), "Release": o.Release,
		"SDK": o.SDK, "QuotedSDK": strconv.Quote(o.SDK), "FileSDK": string(file),
		"LanguageName": l.name, "Command": l.command(o.Name), "Source": l.source, "Test": l.test,
		"Steps": strings.Join(steps, "\n"),
	}
	var rendered [][]byte
	for _, f := range append(common, l.files...) {
		text, err := templates.ReadFile("templates/" + f.template + ".tmpl")
		if err != nil {
			return nil, err
		}
		filled, err := fill(string(text), values)
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", f.template, err)
		}
		rendered = append(rendered, []byte(filled))
	}
	return rendered, nil
}

// quote is a word for a shell.
func quote(word string) string {
	if !strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// longestTool is the longest ending that the names of tools get; with it a name is still an identifier.
const longestTool = "_countdown"

// prefix is the name as the names of tools begin.
func prefix(name string) string {
	p := strings.ReplaceAll(name, "-", "_")
	return strings.TrimRight(p[:min(len(p), manifestdoc.MaxIdentifierBytes-len(longestTool))], "_")
}

// legal reports whether an extension can be called so.
func legal(name string) bool {
	value, _ := json.Marshal(name) // a string has no error
	return manifestdoc.ValidateModel("StrictIdentifier", value) == nil
}

func (o Options) check() error {
	if !legal(o.Name) {
		remedy := fmt.Sprintf("start with a lower-case letter and go on with lower-case letters, digits and hyphens; %d bytes at most", manifestdoc.MaxIdentifierBytes)
		if guess := suggest(o.Name); guess != "" {
			remedy = fmt.Sprintf("%s; how about %q?", remedy, guess)
		}
		return &WordError{What: "extension name", Word: o.Name, Remedy: remedy}
	}
	if _, found := languages[o.Language]; !found {
		return unknown("language", o.Language, Languages)
	}
	if !slices.Contains(APIs, o.API) {
		return unknown("extension API", o.API, APIs)
	}
	return nil
}

func unknown(what, word string, words []string) error {
	remedy := "use " + strings.Join(words, " or ")
	if guess := near.Find(word, words); guess != "" {
		remedy = fmt.Sprintf("did you mean %q?", guess)
	}
	return &WordError{What: what, Word: word, Remedy: remedy}
}

// suggest makes a legal name out of another one, "" where nothing is left of it.
func suggest(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case r >= '0' && r <= '9':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	text := b.String()
	return strings.TrimRight(text[:min(len(text), manifestdoc.MaxIdentifierBytes)], "-")
}
