package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/host/tool"
)

// writeTool puts a whole file in place.
type writeTool struct{ space *workspace }

type writeArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Definition describes the tool.
func (writeTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "write", Effect: tool.Write,
		Description: "Write a file: everything in it is replaced, and missing directories are made. To change a part of a file use edit.",
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"path":{"type":"string","minLength":1,"description":"The file, relative to the workspace or absolute."},
			"content":{"type":"string","description":"All of the text that the file is to have."}},
			"required":["path","content"],"additionalProperties":false}`),
		Snippet: "create a file or replace all of it",
	}
}

// Describe names the file.
func (t writeTool) Describe(arguments json.RawMessage) tool.Summary {
	return summarize(t.space, arguments, func(a writeArguments) (string, string) { return a.Path, t.space.preview(a.Path, a.Content) })
}

// Run writes the file.
func (t writeTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[writeArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	if len(a.Content) > maxContent {
		return answer(ctx, "", fmt.Errorf("content of %d bytes, at most %d; write the file in pieces or with a command", len(a.Content), maxContent))
	}
	p, err := t.space.locate(a.Path, call.Asked)
	if err != nil {
		return answer(ctx, "", err)
	}
	defer p.close()
	old, info, err := p.before()
	if err != nil {
		return answer(ctx, "", err)
	}
	if info != nil && bytes.Equal(old, []byte(a.Content)) {
		return answer(ctx, fmt.Sprintf("%s already is exactly that.", p.shown), nil)
	}
	return t.space.put(ctx, p, old, []byte(a.Content), info)
}

// editTool replaces a piece of a file.
type editTool struct{ space *workspace }

type editArguments struct {
	Path string `json:"path"`
	Old  string `json:"old_text"`
	New  string `json:"new_text"`
	All  bool   `json:"replace_all"`
}

// Definition describes the tool.
func (editTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "edit", Effect: tool.Write,
		Description: "Replace a piece of a file. old_text must be in the file exactly as given, with its white space, and exactly once unless replace_all is set.",
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"path":{"type":"string","minLength":1,"description":"The file, relative to the workspace or absolute."},
			"old_text":{"type":"string","minLength":1,"description":"The text to replace, with enough lines around it to be unique; without the line numbers that read shows."},
			"new_text":{"type":"string","description":"What stands there instead."},
			"replace_all":{"type":"boolean","description":"Replace every occurrence."}},
			"required":["path","old_text","new_text"],"additionalProperties":false}`),
		Snippet:    "replace an exact piece of a file",
		Guidelines: []string{"Read a file before you edit it, and prefer edit to writing a whole file anew."},
	}
}

// Describe names the file and shows the change.
func (t editTool) Describe(arguments json.RawMessage) tool.Summary {
	return summarize(t.space, arguments, func(a editArguments) (string, string) {
		return a.Path, lines("-", a.Old) + lines("+", a.New)
	})
}

// Run replaces the text.
func (t editTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[editArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	p, err := t.space.locate(a.Path, call.Asked)
	if err != nil {
		return answer(ctx, "", err)
	}
	defer p.close()
	if _, err := p.regular(); err != nil {
		return answer(ctx, "", err)
	}
	old, info, err := p.before()
	if err != nil {
		return answer(ctx, "", err)
	}
	if binary(old) {
		return answer(ctx, "", fmt.Errorf("%q is no text and cannot be edited", p.shown))
	}
	changed, err := substitute(p.shown, string(old), a)
	if err != nil {
		return answer(ctx, "", err)
	}
	return t.space.put(ctx, p, old, []byte(changed), info)
}

// substitute makes the edited text, or says why it cannot be made.
func substitute(shown, text string, a editArguments) (string, error) {
	if a.Old == a.New {
		return "", errors.New("old_text and new_text are the same; nothing would change")
	}
	count := strings.Count(text, a.Old)
	if count == 0 && strings.Contains(text, "\r\n") && !strings.Contains(a.Old, "\r") {
		a.Old, a.New = strings.ReplaceAll(a.Old, "\n", "\r\n"), strings.ReplaceAll(a.New, "\n", "\r\n")
		count = strings.Count(text, a.Old)
	}
	switch {
	case count == 0:
		return "", fmt.Errorf("old_text is not in %q%s", shown, hint(text, a.Old))
	case count > 1 && !a.All:
		return "", fmt.Errorf("old_text is %d times in %q, on lines %s; add lines around it until it is unique, or set replace_all", count, shown, places(text, a.Old))
	case a.All:
		return strings.ReplaceAll(text, a.Old, a.New), nil
	}
	return strings.Replace(text, a.Old, a.New, 1), nil
}

// places lists the lines on which a text begins, the first ten.
func places(text, part string) string {
	var numbers []string
	line, rest := 1, text
	for {
		at := strings.Index(rest, part)
		if at < 0 {
			return strings.Join(numbers, ", ")
		}
		line += strings.Count(rest[:at], "\n")
		if len(numbers) == 10 {
			return strings.Join(numbers, ", ") + " and further"
		}
		numbers = append(numbers, strconv.Itoa(line))
		line += strings.Count(rest[at:at+len(part)], "\n")
		rest = rest[at+len(part):]
	}
}

// hint says where something similar stands.
func hint(text, part string) string {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if wanted := squeeze(part); wanted != "" && strings.Contains(squeeze(text), wanted) {
		return "; it is there with other white space: read the lines again and copy them exactly"
	}
	for first := range strings.Lines(part) {
		first = squeeze(first)
		if first == "" {
			continue
		}
		number := 0
		for line := range strings.Lines(text) {
			if number++; squeeze(line) == first {
				return fmt.Sprintf("; its first line stands on line %d, but what follows is different: read the file from there", number)
			}
		}
		break
	}
	return "; read the file and copy the text exactly"
}

// put replaces a file and reports what was changed.
func (w *workspace) put(ctx context.Context, p place, old, new []byte, info fs.FileInfo) (tool.Result, error) {
	if ctx.Err() != nil {
		return answer(ctx, "", nil)
	}
	if err := p.replace(new, info); err != nil {
		return answer(ctx, "", err)
	}
	change := p.change(old, new, info != nil)
	text := fmt.Sprintf("%s is %s: %d bytes", p.shown, change.Kind, len(new))
	if change.Diff != "" {
		text += fmt.Sprintf(", %d lines added, %d removed", change.Added, change.Removed)
	}
	result := tool.Said(text + ".") // it is done, whether or not the call is cancelled by now
	result.Changes = []tool.Change{change}
	return result, nil
}
