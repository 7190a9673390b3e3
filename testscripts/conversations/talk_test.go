package conversations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
)

// action is what one line of a talk asks for.
type action string

// The actions. A talk begins with start and ready, unless it has them elsewhere or begins with initialize or eof; one
// that has no end ends with shutdown.
const (
	start      action = "start"    // send initialize
	ready      action = "ready"    // expect its answer, with everything offered selected
	defines    action = "defines"  // of that answer: defines TOOL {members beside name, description, parameters}
	send       action = ">"        // send a frame
	sendWrong  action = ">!"       // send a frame that breaks its model on purpose
	raw        action = "raw"      // write the text of a JSON string as it is, no line end added
	expect     action = "<"        // expect the next frame
	expectAlso action = "<|"       // expect a frame of this group of lines, in any order
	permit     action = "<?"       // from here on this frame may come, once, between the others
	says       action = "says"     // expect a tool result: says ID TEXT, or says ID JSON for the JSON as text
	fails      action = "fails"    // the same with is_error
	seen       action = "seen"     // call the tool seen until it has told of exactly these [method, params]
	file       action = "file"     // leave a file in the scratch directory: file NAME TEXT, or file NAME JSON for the JSON as text
	removed    action = "removed"  // removed NAME: expect that the extension has removed it
	quiet      action = "quiet"    // expect that nothing waits to be read: the next frame answers a probe
	shutdown   action = "shutdown" // ask for the end, expect the answer, the end of the stream and exit code 0
	eof        action = "eof"      // close the input
	gone       action = "gone"     // expect the end of the stream and of the process, by itself
)

// line is one step of a talk.
type line struct {
	number int
	action action
	frame  dialect.Object // of frames
	value  any            // of raw, says, fails, and seen
	id     any            // of says and fails; the tool of defines, the name of a file
}

// talk is one scripted host: headers first, then lines.
//
//	api 0.2 0.4            the versions it is held on, each with a process of its own
//	offer composer ...     what is offered beside the required features (0.3: capabilities)
//	declare {"tools":[]}   members of contributes that differ from those of the showcase
//	grants {"secrets":[]}  members of capabilities
//	flags [{"name":...}]   flag_values
//	< {"id":1, ...}        frames; the member jsonrpc is left out
//	call 5 use {...}       a tool/call with the usual context; call@3 with catalog_revision 3
//	for i 1..9: LINE       LINE nine times, with the number in place of «i»
//
// Between « and » stands a name: the first frame that carries it in place of a whole value binds it, later
// ones must agree, and frames that are sent have its value. «*» is anything, also as a part of a text, «?»
// anything or nothing; «owner»
// and «context» are those of every call, «api» is the version, «scratch» the directory of the process, and the
// name of a file stands for what describes it: path, bytes, and sha256.
type talk struct {
	name    string
	apis    []string
	offer   []string
	declare dialect.Object
	grants  dialect.Object
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
		if err := t.readLine(i+1, raw); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if len(t.apis) == 0 {
		return nil, fmt.Errorf(`no header "api": say on which versions the talk is held`)
	}
	acts := func(a action) bool { return slices.ContainsFunc(t.lines, func(l line) bool { return l.action == a }) }
	if !acts(start) && (len(t.lines) == 0 || t.lines[0].action != eof && t.lines[0].frame["method"] != dialect.Initialize) {
		t.lines = append([]line{{action: start}, {action: ready}}, t.lines...)
	}
	switch {
	case acts(eof) && !acts(gone):
		t.lines = append(t.lines, line{action: gone})
	case !acts(shutdown) && !acts(gone):
		t.lines = append(t.lines, line{action: shutdown})
	}
	return t, nil
}

// loop is the head of a line that stands for several.
var loop = regexp.MustCompile(`^for (\w+) (\d+)\.\.(\d+): `)

func (t *talk) readLine(number int, raw string) error {
	raw = strings.TrimSpace(raw)
	if raw == "" || strings.HasPrefix(raw, "#") {
		return nil
	}
	head := loop.FindStringSubmatch(raw)
	if head == nil {
		return t.read(number, raw)
	}
	first, _ := strconv.Atoi(head[2])
	last, err := strconv.Atoi(head[3])
	for n := first; n <= last && err == nil; n++ {
		err = t.read(number, strings.ReplaceAll(raw[len(head[0]):], "«"+head[1]+"»", strconv.Itoa(n)))
	}
	return err
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
	case "grants":
		return parse(rest, &t.grants)
	case "flags":
		return parse(rest, &t.flags)
	}
	if word, epoch, _ := strings.Cut(word, "@"); word == "call" {
		return t.call(number, rest, epoch)
	}
	return t.act(line{number: number, action: action(word)}, rest)
}

func (t *talk) act(l line, rest string) error {
	var err error
	switch l.action {
	case start, ready, quiet, shutdown, eof, gone:
		if rest != "" {
			return fmt.Errorf("%q takes nothing behind it, got %q", l.action, rest)
		}
	case send, sendWrong, expect, expectAlso, permit:
		if err = parse(rest, &l.frame); err == nil {
			l.frame["jsonrpc"] = dialect.RPCVersion
		}
	case raw, seen:
		err = parse(rest, &l.value)
	case defines, file:
		name, value, _ := strings.Cut(rest, " ")
		l.id, err = name, parse(value, &l.value)
	case removed:
		l.id = rest
	case says, fails:
		id, text, _ := strings.Cut(rest, " ")
		if err = parse(id, &l.id); err == nil {
			err = parse(text, &l.value)
		}
	default:
		return fmt.Errorf("unknown word %q; see the type talk", l.action)
	}
	if err != nil {
		return fmt.Errorf("what stands behind %s is not the JSON it needs: %w", l.action, err)
	}
	t.lines = append(t.lines, l)
	return nil
}

// call ID TOOL {ARGUMENTS} is short for a tool/call with the usual context.
func (t *talk) call(number int, rest, epoch string) error {
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
	frame := callFrame(id, parts[1], arguments)
	if epoch != "" {
		frame["params"].(dialect.Object)["catalog_revision"] = json.Number(epoch)
	}
	t.lines = append(t.lines, line{number: number, action: send, frame: frame})
	return nil
}

// callFrame is a tool/call with the usual context.
func callFrame(id any, tool string, arguments dialect.Object) dialect.Object {
	return dialect.Object{
		"jsonrpc": dialect.RPCVersion, "id": id, "method": dialect.ToolCall,
		"params": dialect.Object{"name": tool, "arguments": arguments, "context": "«context»"},
	}
}

// resultFrame is the answer of a tool in an API version. A value that is no string is said as its JSON text.
func resultFrame(api string, l line, bound bindings) (dialect.Object, error) {
	text := l.value
	if _, isText := text.(string); !isText {
		value, err := bound.fill(text)
		if err != nil {
			return nil, err
		}
		text = string(dialect.Encode(value))
	}
	result := dialect.Object{"content": []any{dialect.Object{"type": "text", "text": text}}, "is_error": l.action == fails}
	switch api {
	case dialect.FrozenAPI:
		result["content"] = text
	case dialect.CanonicalAPI:
		result["metadata"] = nil
	}
	return dialect.Object{"jsonrpc": dialect.RPCVersion, "id": l.id, "result": result}, nil
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
