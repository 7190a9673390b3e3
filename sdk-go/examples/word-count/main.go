// Command word-count is an example extension on API 0.4: typed arguments, structured content, progress,
// cancellation and errors that the model can read.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() { extension.Main(tools()) }

type countArgs struct {
	Text   string `json:"text" jsonschema:"description=The text to count."`
	Unique bool   `json:"unique" jsonschema:"description=Count each different word once.,default=false"`
}

type counts struct {
	Words      int `json:"words"`
	Characters int `json:"characters"`
	Lines      int `json:"lines"`
}

type slowArgs struct {
	Text    string `json:"text" jsonschema:"description=The text to count."`
	DelayMS int    `json:"delay_ms" jsonschema:"description=Milliseconds to wait at each word.,minimum=0,maximum=10000,default=100"`
}

func tools() *extension.Extension {
	ext := extension.New(nil)
	extension.AddStructuredTool(ext, "count_words", "Counts the words, characters and lines of a text.", countWords)
	extension.AddTool(ext, "count_slowly", "Counts the words of a text one after the other and shows how far it is.", countSlowly)
	return ext
}

func countWords(_ context.Context, _ *extension.Call, args countArgs) (*extension.Result, counts, error) {
	words, err := wordsOf(args.Text)
	if err != nil {
		return nil, counts{}, err
	}
	count := len(words)
	if args.Unique {
		count = different(words)
	}
	return extension.Text(fmt.Sprintf("%d words", count)), counts{
		Words:      count,
		Characters: utf8.RuneCountInString(args.Text),
		Lines:      strings.Count(args.Text, "\n") + 1,
	}, nil
}

func countSlowly(ctx context.Context, call *extension.Call, args slowArgs) (*extension.Result, error) {
	words, err := wordsOf(args.Text)
	if err != nil {
		return nil, err
	}
	delay := time.Duration(args.DelayMS) * time.Millisecond
	for i, word := range words {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// Progress is for the person who waits; a host that takes none still gets its result.
		_ = call.Progress(word, int64(i+1), int64(len(words)), "words")
	}
	return extension.Text(fmt.Sprintf("%d words", len(words))), nil
}

func wordsOf(text string) ([]string, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, extension.Errorf("text is empty: pass at least one word")
	}
	return words, nil
}

func different(words []string) int {
	seen := map[string]struct{}{}
	for _, word := range words {
		seen[word] = struct{}{}
	}
	return len(seen)
}
