package scripted

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/web"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// FileError is what is wrong at one line of a script. Errors of several lines are joined.
type FileError struct {
	File string
	Line int
	Text string
}

func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// maxFaults bounds how many faults of one file are told.
const maxFaults = 20

// errSpecial is for a name that is no file. It is looked for before the file is opened: nobody may ever write into a
// pipe, and whoever waits for that cannot be called off.
var errSpecial = errors.New("it is no regular file; name a file that holds a script")

// Load reads a script from a regular file.
func Load(file string) (*Script, error) {
	f, err := openRegular(file)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", file, cause(err))
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", file, cause(err))
	}
	return Parse(file, text)
}

func openRegular(file string) (*os.File, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errSpecial
	}
	return os.Open(file)
}

// cause takes the path out of an error of the file system; it is named already.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Parse reads the text of a script. Errors are *FileError, several of them joined.
func Parse(file string, text []byte) (*Script, error) {
	read := readYAML
	if strings.EqualFold(filepath.Ext(file), ".json") {
		read = readJSON
	}
	if len(text) > MaxFileBytes {
		return nil, &FileError{file, 1, fmt.Sprintf("the file has more than %d bytes, which is the most for a script", MaxFileBytes)}
	}
	if !utf8.Valid(text) {
		return nil, &FileError{file, 1, "the file is not UTF-8"}
	}
	root, err := read(text)
	if err != nil {
		var fault *located
		errors.As(err, &fault)
		return nil, &FileError{file, fault.line, fault.text}
	}
	r := &reader{}
	script := r.script(file, root)
	if len(r.faults) == 0 {
		return script, nil
	}
	slices.SortStableFunc(r.faults, func(a, b *located) int { return a.line - b.line })
	var faults []error
	for _, f := range r.faults[:min(len(r.faults), maxFaults)] {
		faults = append(faults, &FileError{file, f.line, f.text})
	}
	return nil, errors.Join(faults...)
}

// reader turns the tree into a script and gathers what is wrong.
type reader struct{ faults []*located }

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, at(line, format, args...))
}

// field reads one member of an object.
type field struct {
	name     string
	required bool
	read     func(path string, v *value)
}

// object reads the members of an object, each at most once, none that is not listed.
func (r *reader) object(path string, v *value, fields []field) {
	if v.shape != isTable {
		r.fault(v.line, "%s is %s; it must be an object", path, v.shape)
		return
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	seen := map[string]bool{}
	for _, m := range v.members {
		i := slices.Index(names, m.name)
		if i < 0 {
			r.fault(m.line, "%s has no key %q; %s", path, clip(m.name), guess(m.name, names))
			continue
		}
		seen[m.name] = true
		fields[i].read(path+"."+m.name, m.value)
	}
	for _, f := range fields {
		if f.required && !seen[f.name] {
			r.fault(v.line, "%s needs the key %q", path, f.name)
		}
	}
}

func guess(word string, words []string) string {
	if meant := near.Find(word, words); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "there are: " + strings.Join(words, ", ")
}

func (r *reader) script(file string, root *value) *Script {
	s := &Script{File: file, Info: model.Info{
		Provider: Name, Model: file, ContextWindow: 200_000, MaxOutputTokens: 32_000,
		Input: []string{"text", "image", "audio"}, Reasoning: []string{"low", "medium", "high"},
	}}
	var price model.Price
	r.object("the script", root, []field{
		{"script", true, func(path string, v *value) {
			if n := r.number(path, v, 0, 1<<31); n != Version && len(r.faults) == 0 {
				r.fault(v.line, "script is %d; this release reads version %d", n, Version)
			}
		}},
		{"name", false, func(path string, v *value) { s.Info.DisplayName = r.text(path, v, 128) }},
		{"context_window", false, func(path string, v *value) { s.Info.ContextWindow = r.number(path, v, 1, 1<<40) }},
		{"max_output_tokens", false, func(path string, v *value) { s.Info.MaxOutputTokens = r.number(path, v, 1, 1<<40) }},
		{"input", false, func(path string, v *value) { s.Info.Input = r.words(path, v, "text", "image", "audio") }},
		{"reasoning", false, func(path string, v *value) { s.Info.Reasoning = r.words(path, v) }},
		{"price", false, func(path string, v *value) {
			s.Info.Price = &price
			r.object(path, v, []field{
				{"input", false, r.count(&price.Input)},
				{"output", false, r.count(&price.Output)},
				{"cache_read", false, r.count(&price.CacheRead)},
				{"cache_write", false, r.count(&price.CacheWrite)},
			})
		}},
		{"steps", true, func(path string, v *value) {
			for i, item := range r.list(path, v, MaxSteps) {
				s.Steps = append(s.Steps, r.step(fmt.Sprintf("steps[%d]", i), item))
			}
		}},
	})
	return s
}

func (r *reader) step(path string, v *value) Step {
	s := Step{Line: v.line, Repeat: 1}
	r.object(path, v, []field{
		{"when", false, func(path string, v *value) { s.When = r.when(path, v) }},
		{"repeat", false, func(path string, v *value) {
			if v.shape == isText && v.text == "always" {
				s.Repeat = 0
				return
			}
			s.Repeat = int(r.number(path, v, 1, MaxRepeat))
		}},
		{"delay", false, r.duration(&s.Delay)},
		{"reasoning", false, func(path string, v *value) { s.Reasoning = r.text(path, v, MaxFileBytes) }},
		{"text", false, func(path string, v *value) { s.Text = r.text(path, v, MaxFileBytes) }},
		{"calls", false, func(path string, v *value) {
			for i, item := range r.list(path, v, MaxCalls) {
				s.Calls = append(s.Calls, r.call(fmt.Sprintf("%s[%d]", path, i), item))
			}
		}},
		{"chunk", false, func(path string, v *value) { s.Chunk = int(r.number(path, v, 1, MaxFileBytes)) }},
		{"pause", false, r.duration(&s.Pause)},
		{"usage", false, func(path string, v *value) { r.usage(path, v, &s) }},
		{"stop", false, func(path string, v *value) {
			s.Stop = model.StopReason(r.oneOf(path, v, string(model.StopEnd), string(model.StopTools), string(model.StopLength), string(model.StopFiltered)))
		}},
		{"error", false, func(path string, v *value) { s.Error = r.failure(path, v) }},
	})
	r.settle(path, v.line, &s)
	return s
}

// settle fills what follows from the rest of a step, and refuses what contradicts itself.
func (r *reader) settle(path string, line int, s *Step) {
	speaks := s.Text != "" || s.Reasoning != "" || len(s.Calls) > 0
	switch {
	case s.Error != nil && s.Error.Phase == model.InterruptedInference && !speaks:
		r.fault(line, "%s breaks with phase %q, which comes behind a part of an answer; add text, reasoning or calls", path, s.Error.Phase)
	case s.Error != nil && s.Error.Phase != model.InterruptedInference && speaks:
		r.fault(line, "%s has an answer, and an error of phase %q that leaves none; use phase %q", path, s.Error.Phase, model.InterruptedInference)
	case s.Error != nil && s.Stop != "":
		r.fault(line, "%s has a stop reason, and an error; an answer that breaks has none", path)
	case s.Stop == model.StopTools && len(s.Calls) == 0:
		r.fault(line, "%s stops for tool_calls, but calls none", path)
	}
	if s.Stop == "" && s.Error == nil {
		s.Stop = model.StopEnd
		if len(s.Calls) > 0 {
			s.Stop = model.StopTools
		}
	}
}

func (r *reader) when(path string, v *value) When {
	var w When
	condition := func(into *string) func(string, *value) {
		return func(path string, v *value) {
			if *into = r.text(path, v, 4096); *into == "" && v.shape == isText {
				r.fault(v.line, "%s is empty; leave it out if it is no condition", path)
			}
		}
	}
	r.object(path, v, []field{
		{"user_contains", false, condition(&w.UserContains)},
		{"result_of", false, condition(&w.ResultOf)},
		{"result_contains", false, condition(&w.ResultContains)},
		{"system_contains", false, condition(&w.SystemContains)},
		{"offers", false, condition(&w.Offers)},
	})
	return w
}

func (r *reader) call(path string, v *value) Call {
	call := Call{Arguments: []byte("{}")}
	r.object(path, v, []field{
		{"name", true, func(path string, v *value) {
			if call.Name = r.text(path, v, 128); call.Name == "" && v.shape == isText {
				r.fault(v.line, "%s is empty; it names a tool", path)
			}
		}},
		{"id", false, func(path string, v *value) { call.ID = r.text(path, v, 256) }},
		{"arguments", false, func(_ string, v *value) { call.Arguments = v.json(nil) }},
	})
	return call
}

func (r *reader) failure(path string, v *value) *Failure {
	f := &Failure{Phase: model.BeforeGeneration}
	retry, unknown := "", ""
	r.object(path, v, []field{
		{"phase", false, func(path string, v *value) {
			f.Phase = model.Phase(r.oneOf(path, v, string(model.BeforeGeneration), string(model.StreamStart),
				string(model.InterruptedInference), string(model.WaitingForNetwork)))
		}},
		{"status", false, func(path string, v *value) { f.Status = int(r.number(path, v, 400, 599)) }},
		{"retry_after", false, r.duration(&f.RetryAfter)},
		{"retry", false, func(path string, v *value) { retry = r.boolean(path, v) }},
		{"usage_unknown", false, func(path string, v *value) { unknown = r.boolean(path, v) }},
		{"message", false, func(path string, v *value) { f.Message = r.text(path, v, 4096) }},
	})
	f.Retry = f.Status == 0 || web.Retryable(f.Status)
	if retry != "" {
		f.Retry = retry == "true"
	}
	f.UsageUnknown = f.Phase == model.StreamStart || f.Phase == model.InterruptedInference
	if unknown != "" {
		f.UsageUnknown = unknown == "true"
	}
	if f.Message == "" {
		f.Message = "the script breaks the request here"
	}
	return f
}

func (r *reader) usage(path string, v *value, s *Step) {
	if v.shape == isText && v.text == "unknown" {
		s.UsageUnknown = true
		return
	}
	if v.shape == isText {
		r.fault(v.line, "%s is %q; it is \"unknown\" or an object of counts", path, clip(v.text))
		return
	}
	r.object(path, v, []field{
		{"input", false, r.count(&s.Usage.Input)},
		{"output", false, r.count(&s.Usage.Output)},
		{"cache_read", false, r.count(&s.Usage.CacheRead)},
		{"cache_write", false, r.count(&s.Usage.CacheWrite)},
		{"reasoning", false, r.count(&s.Usage.Reasoning)},
	})
}

// The leaves.

func (r *reader) is(path string, v *value, want shape) bool {
	if v.shape != want {
		r.fault(v.line, "%s is %s; it must be %s", path, v.shape, want)
	}
	return v.shape == want
}

func (r *reader) text(path string, v *value, most int) string {
	if !r.is(path, v, isText) {
		return ""
	}
	if len(v.text) > most {
		r.fault(v.line, "%s has %d bytes; %d are the most", path, len(v.text), most)
		return ""
	}
	return v.text
}

func (r *reader) boolean(path string, v *value) string {
	if !r.is(path, v, isBool) {
		return ""
	}
	return v.text
}

func (r *reader) number(path string, v *value, least, most int64) int64 {
	if !r.is(path, v, isNumber) {
		return least
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || n < least || n > most {
		r.fault(v.line, "%s is %s; it is a whole number from %d to %d", path, clip(v.text), least, most)
		return least
	}
	return n
}

func (r *reader) count(into *int64) func(string, *value) {
	return func(path string, v *value) { *into = r.number(path, v, 0, 1<<40) }
}

func (r *reader) duration(into *time.Duration) func(string, *value) {
	return func(path string, v *value) {
		if !r.is(path, v, isText) {
			return
		}
		d, err := time.ParseDuration(v.text)
		if err != nil || d < 0 || d > MaxDelay {
			r.fault(v.line, "%s is %q; it is a time up to %v, such as \"250ms\" or \"2s\"", path, clip(v.text), MaxDelay)
			return
		}
		*into = d
	}
}

func (r *reader) oneOf(path string, v *value, words ...string) string {
	if !r.is(path, v, isText) {
		return words[0]
	}
	if !slices.Contains(words, v.text) {
		r.fault(v.line, "%s is %q; %s", path, clip(v.text), guess(v.text, words))
		return words[0]
	}
	return v.text
}

func (r *reader) list(path string, v *value, most int) []*value {
	if !r.is(path, v, isList) {
		return nil
	}
	if len(v.items) == 0 || len(v.items) > most {
		r.fault(v.line, "%s has %d items; it has 1 to %d", path, len(v.items), most)
		return nil
	}
	return v.items
}

// words reads a list of distinct words, of the given ones if there are any.
func (r *reader) words(path string, v *value, known ...string) []string {
	words := []string{}
	for i, item := range r.list(path, v, 16) {
		place := fmt.Sprintf("%s[%d]", path, i)
		word := r.text(place, item, 64)
		switch {
		case item.shape != isText:
		case word == "" || len(known) > 0 && !slices.Contains(known, word):
			r.fault(item.line, "%s is %q; %s", place, clip(word), guess(word, known))
		case slices.Contains(words, word):
			r.fault(item.line, "%s is %q, which is listed already", place, clip(word))
		default:
			words = append(words, word)
		}
	}
	return words
}
