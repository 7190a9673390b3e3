package extension

import (
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Result is what a tool returns. A nil Result is one empty text.
type Result struct {
	// Content holds the texts for the model, in order; API 0.1, which has room for one, gets them joined by
	// line feeds. None is the same as one empty text. Bytes that are not UTF-8 are sent as U+FFFD.
	Content []string
	// Metadata is detail for the host that the model never sees. It is written as a JSON object; nil for
	// none. API 0.1 drops it.
	Metadata map[string]any
	// IsError says that the tool itself failed. A handler usually returns an error instead.
	IsError bool
}

// Text returns a result with the given texts.
func Text(texts ...string) *Result { return &Result{Content: texts} }

// outcome is a result in the terms of the wires: what is left is to put it into the model of one of them.
type outcome struct {
	texts      []string
	isError    bool
	metadata   json.RawMessage // nil for none
	structured json.RawMessage // nil for none
}

// encoding writes Go values the way their schemas describe them: a nil slice is an empty array, a duration
// a number.
var encoding = jsonv2.JoinOptions(
	jsonv1.FormatDurationAsNano(true), jsonv1.FormatByteArrayAsArray(true), jsonv2.Deterministic(true),
)

// newOutcome turns a handler's result into an outcome.
func newOutcome(result *Result, structured json.RawMessage) (outcome, error) {
	if result == nil {
		result = &Result{}
	}
	o := outcome{texts: result.Content, isError: result.IsError, structured: structured}
	if len(o.texts) == 0 {
		o.texts = []string{""}
	}
	if result.Metadata != nil {
		text, err := jsonv2.Marshal(result.Metadata, encoding)
		if err != nil {
			return outcome{}, fmt.Errorf("the metadata has no JSON form: %w", err)
		}
		o.metadata = text
	}
	return o, nil
}
