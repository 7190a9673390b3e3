// Command word-count-canonical is an example extension on API 0.3: the tools of word-count in texts alone,
// on the wire that has no progress.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() { extension.Main(tools()) }

type countArgs struct {
	Text   string `json:"text" jsonschema:"description=The text to count."`
	Unique bool   `json:"unique" jsonschema:"description=Count each different word once.,default=false"`
}

type slowArgs struct {
	Text    string `json:"text" jsonschema:"description=The text to count."`
	DelayMS int    `json:"delay_ms" jsonschema:"description=Milliseconds to wait at each word.,minimum=0,maximum=10000,default=100"`
}

func tools() *extension.Extension {
	ext := extension.New(&extension.Options{API: extension.API03})
	extension.AddTool(ext, "count_words", "Counts the words of a text.", countWords)
	extension.AddTool(ext, "count_slowly", "Counts the words of a text one after the other.", countSlowly)
	return ext
}

func countWords(_ context.Context, _ *extension.Call, args countArgs) (*extension.Result, error) {
	words, err := wordsOf(args.Text)
	if err != nil {
		return nil, err
	}
	count := len(words)
	if args.Unique {
		count = different(words)
	}
	return extension.Text(fmt.Sprintf("%d words", count)), nil
}

func countSlowly(ctx context.Context, _ *extension.Call, args slowArgs) (*extension.Result, error) {
	words, err := wordsOf(args.Text)
	if err != nil {
		return nil, err
	}
	delay := time.Duration(args.DelayMS) * time.Millisecond
	for range words {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
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
