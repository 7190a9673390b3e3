// Package faultymanifest makes manifests that break one rule each, and sound ones that use everything their API
// version has: what proves that the rules of manifests can be broken, and that nobody else is accused.
package faultymanifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/manifest"
)

// directory is the name of the extension, and of the directory that holds it.
const directory = "word-count"

// Sound is a manifest of an API version that uses every key and every value the version has.
func Sound(api string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `name = "word-count"
version = "1.2.3-beta.1+7"
api_version = %q
requires_octet = ">=0.8.0, <0.9.0"
description = "Counts the words of a text."

[entrypoint]
command = "./run"
args = ["--quiet"]
env = { WORDS = "1" }

[capabilities]
filesystem = "workspace"
process = false
network = false
`, api)
	late := api != manifestdoc.Versions[0]
	if late {
		b.WriteString("secrets = [\"token\"]\nenvironment = [\"SSH_AUTH_SOCK\"]\n")
	} else {
		b.WriteString("secrets = []\nenvironment = []\n")
	}
	fmt.Fprintf(&b, `
[contributes]
tools = ["count_words"]
commands = ["count"]
tool_renderers = ["table"]
hooks = [%s]
ui = ["status", "header", "footer"]
context = true
notifications = true
confirmations = true
`, strings.Join(hooks(api), ", "))
	if !late {
		b.WriteString("presentation = false\nmenu = false\nproviders = false\nshortcuts = []\nflags = []\n\n[runtime]\nlifecycle = \"one_shot\"\nsharing = \"isolated\"\n")
		return b.String()
	}
	b.WriteString(`presentation = true
menu = true
providers = true

[[contributes.shortcuts]]
name = "count"
key = "ctrl+k"
description = "Count the words."

[[contributes.flags]]
name = "depth"
type = "integer"
default = 3
description = "How deep to look."

[[contributes.flags]]
name = "words"
type = "string"
default = ""

[[contributes.flags]]
name = "loud"
type = "boolean"
default = true

[runtime]
lifecycle = "lazy_resident"
sharing = "workspace"
`)
	return b.String()
}

// hooks are those of a version that a host accepts without a word.
func hooks(api string) []string {
	at := slices.Index(manifestdoc.Versions, api)
	var out []string
	for _, row := range manifestdoc.TableHookVersions {
		undelivered := slices.ContainsFunc(manifestdoc.TableUndeliveredHooks, func(u manifestdoc.UndeliveredHooksRow) bool {
			return u.Hook == row.Hook && u.Version == api
		})
		if slices.Index(manifestdoc.Versions, row.Since) <= at && !undelivered {
			out = append(out, fmt.Sprintf("%q", row.Hook))
		}
	}
	return out
}

// Fault is one rule broken by one edit of a sound manifest.
type Fault struct {
	Name string
	Rule string
	Doc  string // "a manifest that ..."
	// Others are further rules that cannot but be broken with it.
	Others []string
	// Old is replaced by New, once. An empty Old puts New behind the manifest.
	Old, New string
	// lay, if set, changes what lies in the directory.
	lay func(dir, text string) error
	// versions, if set, are fewer than the rule binds.
	versions []string
}

// Versions are the API versions on which the fault can be made.
func (f Fault) Versions() []string {
	if f.versions != nil {
		return f.versions
	}
	return rules.Lookup(f.Rule).Versions
}

// Text is the faulty manifest of an API version; false if there is nothing to edit.
func (f Fault) Text(api string) (string, bool) {
	text := Sound(api)
	switch {
	case f.Old == "":
		return text + f.New, true
	case !strings.Contains(text, f.Old):
		return "", false
	}
	return strings.Replace(text, f.Old, f.New, 1), true
}

// Lay makes the directory of an extension with a manifest of an API version below a parent and returns its path.
// The zero Fault lays a sound one.
func Lay(parent, api string, f Fault) (string, error) {
	text, edited := f.Text(api)
	if !edited {
		return "", fmt.Errorf("fault %q edits %q, which the sound manifest of API %s lacks", f.Name, f.Old, api)
	}
	dir := filepath.Join(parent, directory)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		return "", err
	}
	if f.lay != nil {
		return dir, f.lay(dir, text)
	}
	return dir, os.WriteFile(filepath.Join(dir, manifest.FileName()), []byte(text), 0o600)
}
