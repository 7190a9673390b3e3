package registry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/scripted"
	"github.com/octet-dev/octet/runtime/manifest/near"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// MaxFileBytes bounds the file of the user.
const MaxFileBytes = 256 * 1024

const fileName = "providers.toml"

// File is where a user declares providers. Projects declare none: a base URL decides who gets a key.
func File(home string) string { return filepath.Join(home, ".octet", fileName) }

// FileError is what is wrong at one line of the file.
type FileError struct {
	File string
	Line int
	Text string
}

func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// readHome reads the file of a user. A missing file declares nothing.
func readHome(home string) ([]Declaration, []diagnostic.Diagnostic, error) {
	if home == "" {
		return nil, nil, nil
	}
	path := File(home)
	info, err := os.Stat(path) // before it is opened, which a pipe would wait in for ever
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is no regular file; it declares providers", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, nil, err
	}
	declared, err := Parse(path, text)
	if err != nil {
		return nil, nil, err
	}
	var told []diagnostic.Diagnostic
	if hasKey := slices.ContainsFunc(declared, func(d Declaration) bool { return d.Key != "" }); hasKey && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		told = append(told, diagnostic.Diagnostic{
			Level: diagnostic.Warning, Path: path, Message: "the file holds a key, and others on this machine may read it",
			Remedy: "take their rights away, for example with chmod 600, or use api_key_env",
		})
	}
	return declared, told, nil
}

// Parse reads the text of a file of providers. Errors are *FileError, several of them joined.
func Parse(file string, text []byte) ([]Declaration, error) {
	if len(text) > MaxFileBytes {
		return nil, &FileError{file, 1, fmt.Sprintf("the file has more than %d bytes, which is the most", MaxFileBytes)}
	}
	root, faults := tomltree.Parse(text)
	r := &reader{file: file}
	for _, f := range faults {
		r.fault(f.Position, "%s", f.Message)
	}
	var declared []Declaration
	if len(faults) == 0 {
		r.table("the file", root, map[string]func(string, *tomltree.Node){
			"providers": func(path string, n *tomltree.Node) {
				if !r.is(path, n, tomltree.Table) {
					return
				}
				for _, m := range n.Members {
					declared = append(declared, r.provider(m))
				}
			},
		})
	}
	return declared, errors.Join(r.faults...)
}

type reader struct {
	file   string
	faults []error
}

func (r *reader) fault(p tomltree.Position, format string, args ...any) {
	const most = 20
	if len(r.faults) < most {
		r.faults = append(r.faults, &FileError{r.file, p.Line, fmt.Sprintf(format, args...)})
	}
}

// table reads the members of a table by their keys.
func (r *reader) table(path string, n *tomltree.Node, keys map[string]func(path string, n *tomltree.Node)) {
	if !r.is(path, n, tomltree.Table) {
		return
	}
	for _, m := range n.Members {
		read, ok := keys[m.Key]
		if !ok {
			names := make([]string, 0, len(keys))
			for name := range keys {
				names = append(names, name)
			}
			slices.Sort(names)
			r.fault(m.Position, "%s has no key %q; %s", path, m.Key, guess(m.Key, names))
			continue
		}
		read(inner(path, m.Key), m.Value)
	}
}

func inner(path, key string) string {
	if path == "the file" {
		return key
	}
	return path + "." + key
}

func guess(word string, words []string) string {
	if meant := near.Find(word, words); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "there are: " + strings.Join(words, ", ")
}

var providerName = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,63}$`)

func (r *reader) provider(m tomltree.Member) Declaration {
	d := Declaration{Name: m.Key, file: r.file}
	path := "providers." + m.Key
	if !providerName.MatchString(m.Key) || m.Key == scripted.Name {
		r.fault(m.Position, "%q is no name of a provider: it has 1 to 64 lower-case letters, digits, dots, hyphens and underscores, a letter first, and is not %q", m.Key, scripted.Name)
	}
	builtins := builtin()
	if i := slices.IndexFunc(builtins, func(b Declaration) bool { return b.Name == m.Key }); i >= 0 {
		d = builtins[i]
		d.file = r.file
	}
	r.table(path, m.Value, map[string]func(string, *tomltree.Node){
		"protocol": func(path string, n *tomltree.Node) { d.Protocol = r.word(path, n, Protocols...) },
		"base_url": func(path string, n *tomltree.Node) { d.BaseURL = r.address(path, n) },
		"api_key":  func(path string, n *tomltree.Node) { d.Key = r.secret(path, n) },
		"api_key_env": func(path string, n *tomltree.Node) {
			if d.KeyVariable = r.word(path, n); strings.ContainsAny(d.KeyVariable, "= \x00") {
				r.fault(n.Position, "%s is %q, which is no name of a variable", path, d.KeyVariable)
			}
		},
		"headers": func(path string, n *tomltree.Node) { d.Headers = r.headers(path, n) },
		"models": func(path string, n *tomltree.Node) {
			if r.is(path, n, tomltree.Table) {
				for _, m := range n.Members {
					d.Models = merge(d.Models, r.model(inner(path, m.Key), m, d))
				}
			}
		},
	})
	switch {
	case m.Value.Kind != tomltree.Table:
	case d.Protocol == "":
		r.fault(m.Position, "%s needs the key \"protocol\": one of %s", path, strings.Join(Protocols, ", "))
	case d.BaseURL == "" && d.baseVariable == "":
		r.fault(m.Position, "%s needs the key \"base_url\"", path)
	}
	return d
}

// merge puts a model into a list, in place of one of the same name.
func merge(list []model.Info, info model.Info) []model.Info {
	for i := range list {
		if list[i].Model == info.Model {
			list[i] = info
			return list
		}
	}
	return append(list, info)
}

// model reads what a user says of a model; the rest is as it was known.
func (r *reader) model(path string, m tomltree.Member, d Declaration) model.Info {
	info := d.info(m.Key)
	r.table(path, m.Value, map[string]func(string, *tomltree.Node){
		"name":              func(path string, n *tomltree.Node) { info.DisplayName = r.word(path, n) },
		"context_window":    func(path string, n *tomltree.Node) { info.ContextWindow = r.count(path, n, 1) },
		"max_output_tokens": func(path string, n *tomltree.Node) { info.MaxOutputTokens = r.count(path, n, 1) },
		"input":             func(path string, n *tomltree.Node) { info.Input = r.words(path, n, "text", "image", "audio") },
		"reasoning":         func(path string, n *tomltree.Node) { info.Reasoning = r.words(path, n) },
		"price": func(path string, n *tomltree.Node) {
			info.Price = &model.Price{}
			r.table(path, n, map[string]func(string, *tomltree.Node){
				"input":       func(path string, n *tomltree.Node) { info.Price.Input = r.count(path, n, 0) },
				"output":      func(path string, n *tomltree.Node) { info.Price.Output = r.count(path, n, 0) },
				"cache_read":  func(path string, n *tomltree.Node) { info.Price.CacheRead = r.count(path, n, 0) },
				"cache_write": func(path string, n *tomltree.Node) { info.Price.CacheWrite = r.count(path, n, 0) },
			})
		},
	})
	return info
}

func (r *reader) is(path string, n *tomltree.Node, want tomltree.Kind) bool {
	if n.Kind != want {
		r.fault(n.Position, "%s is %s; it must be %s", path, n.Kind, want)
	}
	return n.Kind == want
}

// word reads a text of 1 to 1024 bytes, one of the given ones if there are any.
func (r *reader) word(path string, n *tomltree.Node, words ...string) string {
	switch {
	case !r.is(path, n, tomltree.String):
		return ""
	case n.Text == "" || len(n.Text) > 1024:
		r.fault(n.Position, "%s has %d bytes; it has 1 to 1024", path, len(n.Text))
	case len(words) > 0 && !slices.Contains(words, n.Text):
		r.fault(n.Position, "%s is %q; %s", path, n.Text, guess(n.Text, words))
	}
	return n.Text
}

// secret reads a text that no error shows.
func (r *reader) secret(path string, n *tomltree.Node) string {
	if r.is(path, n, tomltree.String) && (n.Text == "" || !IsHeaderValue(n.Text)) {
		r.fault(n.Position, "%s must be one line of 1 to 4096 bytes", path)
	}
	return n.Text
}

func (r *reader) address(path string, n *tomltree.Node) string {
	text := r.word(path, n)
	if text == "" {
		return ""
	}
	if err := CheckBaseURL(text); err != nil {
		r.fault(n.Position, "%s %v", path, err)
	}
	return text
}

// CheckBaseURL says what is wrong with a base URL. The error begins with a verb.
func CheckBaseURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("is no base URL; it looks like https://HOST/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("is a URL with a user, a query or a fragment; a base URL has none")
	}
	return nil
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,128}$`)

// IsHeaderName reports whether a header of requests may be called so.
func IsHeaderName(name string) bool { return headerName.MatchString(name) }

// IsHeaderValue reports whether a text fits a header, as a key must too: one line of at most 4096 bytes.
func IsHeaderValue(text string) bool {
	return len(text) <= 4096 && !strings.ContainsAny(text, "\r\n\x00")
}

func (r *reader) headers(path string, n *tomltree.Node) map[string]string {
	headers := map[string]string{}
	if !r.is(path, n, tomltree.Table) {
		return headers
	}
	for _, m := range n.Members {
		if !IsHeaderName(m.Key) {
			r.fault(m.Position, "%s has %q, which is no name of a header", path, m.Key)
		}
		headers[m.Key] = r.secret(inner(path, m.Key), m.Value)
	}
	return headers
}

func (r *reader) count(path string, n *tomltree.Node, least int64) int64 {
	const most = 1 << 40
	if !r.is(path, n, tomltree.Integer) {
		return least
	}
	if n.Huge || n.Int < least || n.Int > most {
		r.fault(n.Position, "%s is out of range; it is a whole number from %d to %d", path, least, int64(most))
		return least
	}
	return n.Int
}

func (r *reader) words(path string, n *tomltree.Node, known ...string) []string {
	var words []string
	if !r.is(path, n, tomltree.Array) {
		return nil
	}
	for i, e := range n.Elems {
		place := fmt.Sprintf("%s[%d]", path, i)
		word := r.word(place, e, known...)
		if slices.Contains(words, word) {
			r.fault(e.Position, "%s is %q, which is listed already", place, word)
		}
		words = append(words, word)
	}
	return words
}
