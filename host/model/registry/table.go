package registry

import (
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/anthropic"
	"github.com/octet-dev/octet/host/model/openai"
)

// Declaration is a provider as it is declared: built in, or in the file of the user.
type Declaration struct {
	Name     string
	Protocol string // one of Protocols
	BaseURL  string // empty: that of the protocol
	// Key stands in the file itself, KeyVariable names a variable that holds it. Without both, no key is
	// sent.
	Key, KeyVariable string
	Headers          map[string]string
	Models           []model.Info

	baseVariable string // may replace the base URL of a built-in provider
	first        string // the model that is used where nobody names one
	file         string // where the declaration stands, for the source of its key
}

// Protocols are the words for a protocol in the file of the user and in inline routes.
var Protocols = []string{openai.Chat, openai.Responses, anthropic.Messages}

// key is the key of a provider and where it comes from.
func (d Declaration) key(lookup func(string) (string, bool)) (key, source string) {
	if d.Key != "" {
		return d.Key, d.file
	}
	if d.KeyVariable == "" {
		return "", ""
	}
	key, _ = lookup(d.KeyVariable)
	return key, d.KeyVariable
}

// info is what is known of a model; of an unknown one its names alone.
func (d Declaration) info(name string) model.Info {
	for _, info := range d.Models {
		if info.Model == name {
			return info
		}
	}
	return model.Info{Provider: d.Name, Model: name}
}

// builtin are the providers that are always there.
func builtin() []Declaration {
	return []Declaration{
		{
			Name: "openai", Protocol: openai.Chat, KeyVariable: "OPENAI_API_KEY", baseVariable: "OPENAI_BASE_URL", first: "gpt-5",
			Models: []model.Info{
				known("gpt-4.1", "GPT-4.1", 1_047_576, 32_768, nil, price(2_000_000, 8_000_000, 500_000, 0)),
				known("gpt-4.1-mini", "GPT-4.1 mini", 1_047_576, 32_768, nil, price(400_000, 1_600_000, 100_000, 0)),
				known("gpt-4o", "GPT-4o", 128_000, 16_384, nil, price(2_500_000, 10_000_000, 1_250_000, 0)),
				known("gpt-4o-mini", "GPT-4o mini", 128_000, 16_384, nil, price(150_000, 600_000, 75_000, 0)),
				known("gpt-5", "GPT-5", 400_000, 128_000, []string{"minimal", "low", "medium", "high"}, price(1_250_000, 10_000_000, 125_000, 0)),
				known("gpt-5-mini", "GPT-5 mini", 400_000, 128_000, []string{"minimal", "low", "medium", "high"}, price(250_000, 2_000_000, 25_000, 0)),
				known("gpt-5-nano", "GPT-5 nano", 400_000, 128_000, []string{"minimal", "low", "medium", "high"}, price(50_000, 400_000, 5_000, 0)),
				known("o3", "o3", 200_000, 100_000, []string{"low", "medium", "high"}, price(2_000_000, 8_000_000, 500_000, 0)),
			},
		},
		{
			Name: "anthropic", Protocol: anthropic.Messages, KeyVariable: "ANTHROPIC_API_KEY", baseVariable: "ANTHROPIC_BASE_URL", first: "claude-sonnet-4-5",
			Models: []model.Info{
				known("claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, []string{"low", "medium", "high"}, price(1_000_000, 5_000_000, 100_000, 1_250_000)),
				known("claude-opus-4-5", "Claude Opus 4.5", 200_000, 64_000, []string{"low", "medium", "high"}, price(5_000_000, 25_000_000, 500_000, 6_250_000)),
				known("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, 64_000, []string{"low", "medium", "high"}, price(3_000_000, 15_000_000, 300_000, 3_750_000)),
			},
		},
	}
}

func known(name, display string, window, most int64, reasoning []string, price *model.Price) model.Info {
	return model.Info{
		Model: name, DisplayName: display, ContextWindow: window, MaxOutputTokens: most, Input: []string{"text", "image"}, Reasoning: reasoning, Price: price,
	}
}

func price(input, output, cacheRead, cacheWrite int64) *model.Price {
	return &model.Price{Input: input, Output: output, CacheRead: cacheRead, CacheWrite: cacheWrite}
}
