package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Complete completes commands at the beginning of a line, what stands behind them, and files anywhere else:
// relative to the workspace. It is an edit.Completer.
func (c *Chat) Complete(text string) (start int, words []string) {
	if command, isCommand := strings.CutPrefix(text, "/"); isCommand {
		name, rest, hasRest := strings.Cut(command, " ")
		if !hasRest {
			return 0, c.commandsLike("/" + name)
		}
		for _, s := range slashes() {
			if s.name == name && !strings.Contains(rest, " ") && s.words != nil {
				return len(text) - len(rest), prefixed(s.words, rest)
			}
		}
		if rest, isExtension := strings.CutPrefix(text, "/extensions "); isExtension {
			verb, partial, more := strings.Cut(rest, " ")
			partial = strings.TrimLeft(partial, " ")
			if more && !strings.Contains(partial, " ") && verb != "inspect" {
				return len(text) - len(partial), prefixed(c.extensionNames(), partial)
			}
		}
	}
	start = strings.LastIndexAny(text, " \t\n\"'=(@") + 1
	return start, files(c.engine.Workspace(), text[start:])
}

func (c *Chat) commandsLike(prefix string) []string {
	var words []string
	for _, s := range slashes() {
		words = append(words, "/"+s.name)
	}
	for _, x := range c.engine.Commands() {
		words = append(words, "/"+x.Name)
	}
	slices.Sort(words)
	return prefixed(slices.Compact(words), prefix)
}

func (c *Chat) extensionNames() []string {
	var names []string
	for _, status := range c.engine.Fleet().Status() {
		names = append(names, status.Name)
	}
	return names
}

func prefixed(words []string, prefix string) []string {
	var kept []string
	for _, word := range words {
		if strings.HasPrefix(word, prefix) {
			kept = append(kept, word)
		}
	}
	return kept
}

// maxFiles is how many entries of a directory are looked at.
const maxFiles = 2000

// files lists what a path that was begun may go on as. Hidden files come only where a dot was typed, and
// nothing comes for an empty word: there would be no end of it.
func files(workspace, partial string) []string {
	if partial == "" {
		return nil
	}
	dir, base := filepath.Split(partial)
	place := dir
	if !filepath.IsAbs(place) {
		place = filepath.Join(workspace, dir)
	}
	opened, err := os.Open(place)
	if err != nil {
		return nil
	}
	defer func() { _ = opened.Close() }()
	entries, _ := opened.ReadDir(maxFiles)
	var words []string
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, base) || base == "" && strings.HasPrefix(name, ".") || strings.ContainsFunc(name, steers) {
			continue
		}
		word := dir + name
		if info, err := os.Stat(filepath.Join(place, name)); err == nil && info.IsDir() {
			word += "/"
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}
