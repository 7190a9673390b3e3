package conversations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
)

// action is what one line of a talk asks for.
type action string

// The actions.
const (
	start      action = "start"    // send initialize
	ready      action = "ready"    // expect its answer, with everything offered selected
	send       action = ">"        // send a frame
	expect     action = "<"        // expect the next frame
	expectAlso action = "<|"       // expect a frame of this group, in any order
	quiet      action = "quiet"    // expect that nothing waits to be read: the next frame answers a probe
	shutdown   action = "shutdown" // ask for the end, expect the answer, the end of the stream and exit code 0
	eof        action = "eof"      // close the input, expect the end of the stream
	gone       action = "gone"     // expect the end of the stream and the process
)

// line is one step of a talk.
type line struct {
	number int
	action action
	frame  dialect.Object // of send and expect
}

// talk is one scripted host: headers first, then lines.
//
//	api 0.2 0.4            the versions it is held on, each with a process of its own
//	offer composer ...     what is offered beside the required features (0.3: capabilities)
//	declare {"tools":[]}   members of contributes that differ from those of the showcase
//	flags [{"name":...}]   flag_values
//	< {"id":1, ...}        frames; the member jsonrpc is left out
//
// Between « and » stands a name: the first frame that carries it in place of a whole value binds it, later
// ones must agree, and frames that are sent have its value. «*» is anything. «api» is the version.
type talk struct {
	name    string
	apis    []string
	offer   []string
	declare dialect.Object
	flags   []any
	lines   []line
}

func readTalks(pattern string) ([]*talk, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var talks []*talk
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		t, err := parseTalk(strings.TrimSuffix(filepath.Base(file), ".talk"), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		talks = append(talks, t)
	}
	return talks, nil
}

func parseTalk(name string, text []byte) (*talk, error) {
	t := &talk{name: name, declare: dialect.Object{}}
	for i, raw := range strings.Split(string(text), "\n") {
		raw = strings.TrimSpace(raw)
		if raw == "" || strings.HasPrefix(raw, "#") {
			continue
		}
		if err := t.read(i+1, raw); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(t.apis) == 0 {
		return nil, fmt.Errorf(`no header "api": say on which versions the talk is held`)
	}
	acts := func(a action) bool { return slices.ContainsFunc(t.lines, func(l line) bool { return l.action == a }) }
	if !acts(start) {
		t.lines = append([]line{{action: start}, {action: ready}}, t.lines...)
	}
	if !acts(shutdown) && !acts(eof) && !acts(gone) {
		t.lines = append(t.lines, line{action: shutdown})
	}
	return t, nil
}

func (t *talk) read(number int, raw string) error {
	word, rest, _ := strings.Cut(raw, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "api":
		t.apis = strings.Fields(rest)
		return nil
	case "offer":
		t.offer = append(t.offer, strings.Fields(rest)...)
		return nil
	case "declare":
		return parse(rest, &t.declare)
	case "flags":
		return parse(rest, &t.flags)
	case "call":
		return t.call(number, rest)
	}
	l := line{number: number, action: action(word)}
	switch l.action {
	case start, ready, quiet, shutdown, eof, gone:
		if rest != "" {
			return fmt.Errorf("%q takes nothing behind it, got %q", word, rest)
		}
	case send, expect, expectAlso:
		if err := parse(rest, &l.frame); err != nil {
			return fmt.Errorf("no JSON object behind %s: %w", word, err)
		}
		l.frame["jsonrpc"] = dialect.RPCVersion
	default:
		return fmt.Errorf("unknown word %q; see the type talk", word)
	}
	t.lines = append(t.lines, l)
	return nil
}

// call ID TOOL {ARGUMENTS} is short for a tool/call with the usual context.
func (t *talk) call(number int, rest string) error {
	parts := strings.SplitN(rest, " ", 3)
	if len(parts) != 3 {
		return fmt.Errorf("want call ID TOOL {ARGUMENTS}, got %q", rest)
	}
	var arguments dialect.Object
	var id any
	if err := parse(parts[0], &id); err != nil {
		return fmt.Errorf("the id %s is no JSON: %w", parts[0], err)
	}
	if err := parse(parts[2], &arguments); err != nil {
		return fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	t.lines = append(t.lines, line{number: number, action: send, frame: dialect.Object{
		"jsonrpc": dialect.RPCVersion, "id": id, "method": toolCall,
		"params": dialect.Object{"name": parts[1], "arguments": arguments, "context": "«context»"},
	}})
	return nil
}

// parse reads one JSON text and keeps numbers as they are written.
func parse(text string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("more than one value in %s", text)
	}
	return nil
}

// show spells a value with its members ascending, so that equal values look equal.
func show(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(out.String(), "\n")
}
