package extension

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Result is what a tool returns. A nil Result is one empty text.
type Result struct {
	// Content holds the texts for the model, in order; API 0.1, which has room for one, gets them joined by
	// line feeds. None is the same as one empty text. Bytes that are not UTF-8 are sent as U+FFFD.
	Content []string
	// Metadata is detail for the host that the model never sees. It is written as a JSON object; nil for
	// none. API 0.1 drops it.
	Metadata map[string]any
	// Media are pictures and recordings behind the texts. They need API 0.2 or 0.4 and the feature artifacts.
	Media []Media
	// IsError says that the tool itself failed. A handler usually returns an error instead.
	IsError bool
}

// Text returns a result with the given texts.
func Text(texts ...string) *Result { return &Result{Content: texts} }

// Media refers to an artifact that was published in the same session, see Scope.Publish.
type Media struct {
	ArtifactID string
	// MimeType is that of the artifact; it says whether it is a picture or a recording.
	MimeType string
	// Text stands for it where it cannot be shown: what the picture shows, or what is said. Empty for none.
	Text string
}

// part returns the part of a result that refers to the artifact.
func (m Media) part() (featurewire.ContentPart, error) {
	text := wirejson.Opt[string]{}
	if m.Text != "" {
		text = wirejson.Some(m.Text)
	}
	switch kind, _, _ := strings.Cut(m.MimeType, "/"); kind {
	case "image":
		return featurewire.ImagePart{ArtifactID: m.ArtifactID, MimeType: m.MimeType, Alt: text}, nil
	case "audio":
		return featurewire.AudioPart{ArtifactID: m.ArtifactID, MimeType: m.MimeType, Transcript: text}, nil
	}
	return nil, fmt.Errorf("media of type %q is neither a picture nor a recording", m.MimeType)
}

// outcome is a result in the terms of the wires: what is left is to put it into the model of one of them.
type outcome struct {
	texts      []string
	media      []Media
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
	o := outcome{texts: result.Content, media: result.Media, isError: result.IsError, structured: structured}
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
