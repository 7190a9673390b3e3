package rpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// keptText is how much of a text of an error is told where all of it does not fit into a frame, in bytes.
const keptText = 4 << 10

func shorten(text string) string {
	if len(text) <= keptText {
		return text
	}
	end := keptText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

// shortenAll shortens the texts of a detail, which this side wrote: a text that does not decode is left out.
func shortenAll(detail json.RawMessage) json.RawMessage {
	numbers := json.NewDecoder(bytes.NewReader(detail))
	numbers.UseNumber()
	var value any
	if numbers.Decode(&value) != nil {
		return nil
	}
	var text strings.Builder
	plain := json.NewEncoder(&text)
	plain.SetEscapeHTML(false)
	if plain.Encode(shortened(value)) != nil {
		return nil
	}
	return json.RawMessage(strings.TrimSpace(text.String()))
}

func shortened(value any) any {
	switch value := value.(type) {
	case string:
		return shorten(value)
	case []any:
		for i := range value {
			value[i] = shortened(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = shortened(value[name])
		}
	}
	return value
}
