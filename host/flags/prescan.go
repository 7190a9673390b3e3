// Package flags puts the flags of extensions on the command line: which ones, under which spellings, with
// which values. It reads manifests that have been judged and starts nothing.
//
// Sheet: manifest 8.
package flags

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Scan is what the command line says about the selection of extensions, before its flags are known.
type Scan struct {
	SafeMode         bool
	EffectPolicy     string
	WorkspaceTrusted bool
	Workspace        string
	Directories      []string
	Enable, Trust    []string
}

// The options that Prescan knows, without hyphens. The ordinary parser has the same ones.
const (
	OptionSafeMode         = "safe-mode"
	OptionSafe             = "safe" // another spelling of safe-mode
	OptionEffectPolicy     = "effect-policy"
	OptionWorkspaceTrusted = "workspace-trusted"
	OptionTrustWorkspace   = "trust-workspace" // another spelling of workspace-trusted
	OptionWorkspace        = "workspace"
	OptionExtensionDir     = "extension-dir"
	OptionEnableExtension  = "enable-extension"
	OptionTrustExtension   = "trust-extension"
)

// lists are the options whose occurrence takes all words up to the next option.
var lists = []string{OptionEnableExtension, OptionTrustExtension}

// Prescan reads the options that decide whose flags there are, and passes over everything else. It ends
// at a bare double hyphen. It reports false when a value is missing or a word is not UTF-8: then no
// extension has flags, and the ordinary parser tells what is wrong.
func Prescan(args []string) (Scan, bool) {
	var s Scan
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case !utf8.ValidString(word):
			return Scan{}, false
		case word == "--":
			return s, true
		case !strings.HasPrefix(word, "--"):
			continue
		}
		name, value, given := strings.Cut(word[2:], "=")
		if slices.Contains(lists, name) {
			words := []string{value}
			if !given {
				words = following(args[i+1:])
				i += len(words)
			}
			names, ok := split(words)
			if !ok {
				return Scan{}, false
			}
			s.list(name, names)
			continue
		}
		needs, known := takes(name)
		switch {
		case !known:
			continue
		case needs && !given:
			if i++; i == len(args) || args[i] == "--" || !utf8.ValidString(args[i]) {
				return Scan{}, false
			}
			value = args[i]
		case !needs && !given:
			value = "true"
		}
		if !s.set(name, value) {
			return Scan{}, false
		}
	}
	return s, true
}

// takes reports whether the option is one of ours, and whether it needs a value.
func takes(name string) (needs, known bool) {
	switch name {
	case OptionSafeMode, OptionSafe, OptionWorkspaceTrusted, OptionTrustWorkspace:
		return false, true
	case OptionEffectPolicy, OptionWorkspace, OptionExtensionDir:
		return true, true
	}
	return false, false
}

// set notes a value. It reports false for a switch whose value is no boolean.
func (s *Scan) set(name, value string) bool {
	var err error
	switch name {
	case OptionSafeMode, OptionSafe:
		s.SafeMode, err = strconv.ParseBool(value)
	case OptionWorkspaceTrusted, OptionTrustWorkspace:
		s.WorkspaceTrusted, err = strconv.ParseBool(value)
	case OptionEffectPolicy:
		s.EffectPolicy = value
	case OptionWorkspace:
		s.Workspace = value
	case OptionExtensionDir:
		s.Directories = append(s.Directories, value)
	}
	return err == nil
}

func (s *Scan) list(name string, names []string) {
	if name == OptionEnableExtension {
		s.Enable = append(s.Enable, names...)
	} else {
		s.Trust = append(s.Trust, names...)
	}
}

// following are the words up to the next option.
func following(args []string) []string {
	end := slices.IndexFunc(args, func(word string) bool { return strings.HasPrefix(word, "-") })
	if end < 0 {
		end = len(args)
	}
	return args[:end]
}

// split takes words apart at commas. It reports false if nothing is left or a word is not UTF-8.
func split(words []string) ([]string, bool) {
	var names []string
	for _, word := range words {
		if !utf8.ValidString(word) {
			return nil, false
		}
		for name := range strings.SplitSeq(word, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names, len(names) > 0
}

// Expand writes every word that a list option takes as an occurrence of its own, so that a parser that
// knows one value per option reads the same command line.
func Expand(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			return append(out, args[i:]...)
		}
		out = append(out, word)
		name, isOption := strings.CutPrefix(word, "--")
		if needs, _ := takes(name); isOption && needs && i+1 < len(args) && args[i+1] != "--" {
			i++
			out = append(out, args[i])
			continue
		}
		if !isOption || !slices.Contains(lists, name) {
			continue
		}
		words := following(args[i+1:])
		for n, taken := range words {
			if n > 0 {
				out = append(out, word)
			}
			out = append(out, taken)
		}
		i += len(words)
	}
	return out
}
