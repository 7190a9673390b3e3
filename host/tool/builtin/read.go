package builtin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/tool"
)

// Bounds of what is read.
const (
	maxReadLines  = 2000
	maxReadBytes  = 64 << 10
	maxLineBytes  = 2000
	maxImageBytes = 5 << 20
	sniffBytes    = 8000
)

// readTool shows a text file with line numbers, or an image.
type readTool struct{ space *workspace }

type readArguments struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

// Definition describes the tool.
func (readTool) Definition() tool.Definition {
	return tool.Definition{
		Name: "read", Effect: tool.Read, Parallel: true,
		Description: fmt.Sprintf("Read a text file with line numbers, or look at an image (PNG, JPEG, GIF, WebP). At most %d lines and %d KiB at once; go on with offset.", maxReadLines, maxReadBytes>>10),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"path":{"type":"string","minLength":1,"description":"The file, relative to the workspace or absolute."},
			"offset":{"type":"integer","minimum":1,"description":"The first line to show; 1 if absent."},
			"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"How many lines at most."}},
			"required":["path"],"additionalProperties":false}`),
		Snippet: "read a file or look at an image",
	}
}

// Describe names the file.
func (t readTool) Describe(arguments json.RawMessage) tool.Summary {
	return summarize(t.space, arguments, func(a readArguments) (string, string) { return a.Path, "" })
}

// Run reads the file.
func (t readTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	a, err := decode[readArguments](call)
	if err != nil {
		return answer(ctx, "", err)
	}
	p, err := t.space.locate(a.Path, call.Asked)
	if err != nil {
		return answer(ctx, "", err)
	}
	defer p.close()
	file, info, err := p.open()
	if err != nil {
		return answer(ctx, "", err)
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, sniffBytes)
	head, err := reader.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return answer(ctx, "", p.explain(err))
	}
	switch kind := http.DetectContentType(head); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return p.image(ctx, reader, kind, info.Size())
	}
	if binary(head) {
		return answer(ctx, "", fmt.Errorf("%q is no text: %d bytes of %s", p.shown, info.Size(), http.DetectContentType(head)))
	}
	text, err := page(ctx, reader, max(a.Offset, 1), a.Limit)
	if err != nil {
		err = p.explain(err)
	}
	return answer(ctx, text, err)
}

// image is a picture for models that see.
func (p place) image(ctx context.Context, r io.Reader, kind string, size int64) (tool.Result, error) {
	if size > maxImageBytes {
		return answer(ctx, "", fmt.Errorf("%q is an image of %d bytes, at most %d", p.shown, size, maxImageBytes))
	}
	data, err := io.ReadAll(io.LimitReader(r, maxImageBytes))
	if err != nil {
		return answer(ctx, "", p.explain(err))
	}
	result := tool.Said(fmt.Sprintf("%s: %s of %d bytes", p.shown, kind, len(data)))
	result.Content = append(result.Content, conversation.Part{Kind: conversation.Image, MediaType: kind, Data: data, Text: p.shown})
	return result, nil
}

// page is some lines of a text with their numbers, and what is to be known about the rest.
func page(ctx context.Context, r *bufio.Reader, offset, limit int) (string, error) {
	if limit == 0 {
		limit = maxReadLines
	}
	var b strings.Builder
	last, number, returns := 0, 0, false
	for {
		line, cut, err := nextLine(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if number++; number%1000 == 0 && ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if number < offset {
			continue
		}
		if number >= offset+limit || b.Len() > maxReadBytes {
			fmt.Fprintf(&b, "[more lines follow; go on with offset %d]\n", last+1)
			return b.String(), nil
		}
		if bytes.HasSuffix(line, []byte("\r")) {
			line, returns = line[:len(line)-1], true
		}
		fmt.Fprintf(&b, "%6d\t%s", number, strings.ToValidUTF8(string(line), "\uFFFD"))
		if cut {
			b.WriteString(" [the rest of this line is left out]")
		}
		b.WriteByte('\n')
		last = number
	}
	switch {
	case number == 0:
		return "[the file is empty]", nil
	case last == 0:
		return "", fmt.Errorf("it has %d lines, and nothing from line %d on", number, offset)
	case returns:
		b.WriteString("[lines end with CR LF]\n")
	}
	return b.String(), nil
}

// nextLine reads a line without its end, and drops what is over the bound.
func nextLine(r *bufio.Reader) (line []byte, cut bool, err error) {
	seen := false
	for {
		piece, err := r.ReadSlice('\n')
		seen = seen || len(piece) > 0
		ended := err == nil
		if ended {
			piece = piece[:len(piece)-1]
		}
		if room := maxLineBytes - len(line); len(piece) > room {
			piece, cut = piece[:room], true
		}
		line = append(line, piece...)
		switch {
		case ended, errors.Is(err, io.EOF) && seen:
			return line, cut, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
