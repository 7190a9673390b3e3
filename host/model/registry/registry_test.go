package registry_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/modeltest"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/model/scripted"
)

// environment is what Lookup of the options finds.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	value, ok := e[name]
	return value, ok
}

// home is a home directory with a file of providers.
func home(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if text != "" {
		if err := os.MkdirAll(filepath.Join(dir, ".octet"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(registry.File(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const local = `
[providers.local]
protocol = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
headers = { X-Team = "red" }
[providers.local.models.qwen3]
name = "Qwen 3"
context_window = 32768
max_output_tokens = 4096
input = ["text"]
reasoning = ["on"]
price = { input = 1000000, output = 2000000 }
[providers.local.models."gpt-5"]
[providers.anthropic.models.claude-sonnet-4-5]
context_window = 1000000
[providers.gateway]
protocol = "anthropic-messages"
base_url = "https://gateway.example/"
api_key_env = "GATEWAY_KEY"
`

func TestRegistry_opens(t *testing.T) {
	r, err := registry.New(registry.Options{
		Home: home(t, local), Lookup: environment{"ANTHROPIC_API_KEY": "k"}.lookup,
		Extensions: func() []model.Provider {
			return []model.Provider{served{"acme", []model.Info{{Provider: "acme", Model: "m/1", ContextWindow: 9}}}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reference, provider, protocol, model string
		window                               int64
	}{
		{"local/qwen3", "local", "openai-compatible", "qwen3", 32768},
		{"local:qwen3", "local", "openai-compatible", "qwen3", 32768},
		{"qwen3", "local", "openai-compatible", "qwen3", 32768},
		{"local/vendor/new:1", "local", "openai-compatible", "vendor/new:1", 0},
		{"anthropic:claude-sonnet-4-5", "anthropic", "anthropic-messages", "claude-sonnet-4-5", 1_000_000},
		{"claude-haiku-4-5", "anthropic", "anthropic-messages", "claude-haiku-4-5", 200_000},
		{"acme/m/1", "acme", "extension", "m/1", 9},
	} {
		p, info, err := r.Open(t.Context(), c.reference)
		if err != nil {
			t.Errorf("%s: %v", c.reference, err)
			continue
		}
		if p.Name() != c.provider || p.Protocol() != c.protocol || info.Model != c.model || info.ContextWindow != c.window || info.Provider != c.provider {
			t.Errorf("%s opens %s (%s) with %+v", c.reference, p.Name(), p.Protocol(), info)
		}
	}
	if price := r.Models(t.Context()); len(price) < 10 {
		t.Errorf("%d models are listed", len(price))
	}
	if !r.Usable("local") || !r.Usable("acme") || r.Usable("openai") || r.Usable("nobody") {
		t.Error("usable providers are not told from others")
	}
}

func TestRegistry_refuses(t *testing.T) {
	dir := home(t, local)
	r, err := registry.New(registry.Options{
		Home: dir, Lookup: environment{"OPENAI_BASE_URL": "nonsense", "OPENAI_API_KEY": "k"}.lookup,
		Extensions: func() []model.Provider { return []model.Provider{served{name: "acme"}, served{name: "empty"}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	file := registry.File(dir)
	for reference, want := range map[string]string{
		"":                          "no model is named, and none is the default; set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a model, for example scripted:FILE",
		"anthropic/claude-opus-4-5": `provider "anthropic" needs a key: set the variable ANTHROPIC_API_KEY, or api_key of [providers.anthropic] in ` + file,
		"gateway/any":               `provider "gateway" needs a key: set the variable GATEWAY_KEY, or api_key of [providers.gateway] in ` + file,
		"opneai/gpt-5":              `there is no provider "opneai" of models; did you mean "openai"?`,
		"zzzzzz/x":                  `there is no provider "zzzzzz" of models; there are: acme, anthropic, empty, gateway, local, openai, scripted`,
		"qwen33":                    `model "qwen33" is not known; did you mean "qwen3"?`,
		"gpt-5":                     `model "gpt-5": several providers have it; name one of local:gpt-5, openai:gpt-5`,
		"openai/gpt-5":              `provider "openai": the variable OPENAI_BASE_URL is no base URL; it looks like https://HOST/v1`,
		"acme/x":                    `provider "acme" has no model "x"; it has no models`,
		"/x":                        `model "/x" is not known; write PROVIDER:MODEL; there are: acme, anthropic, empty, gateway, local, openai, scripted`,
		"scripted:" + dir + "/none": "script " + dir + "/none: no such file or directory",
	} {
		if _, _, err := r.Open(t.Context(), reference); err == nil || err.Error() != want {
			t.Errorf("%q: error is %v,\nwant %s", reference, err, want)
		}
	}
}

func TestRegistry_default(t *testing.T) {
	for _, c := range []struct {
		configured string
		variables  environment
		want       string
	}{
		{"", nil, ""},
		{"local:x", environment{"OPENAI_API_KEY": "k"}, "local:x"},
		{"", environment{"OPENAI_API_KEY": "k"}, "openai:gpt-5"},
		{"", environment{"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "k"}, "anthropic:claude-sonnet-4-5"},
		{"", environment{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "anthropic:claude-sonnet-4-5"},
	} {
		r, err := registry.New(registry.Options{Default: c.configured, Lookup: c.variables.lookup})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Default(); got != c.want {
			t.Errorf("default with %q and %v is %q, want %q", c.configured, c.variables, got, c.want)
		}
		if c.want == "" || c.configured != "" {
			continue
		}
		if _, info, err := r.Open(t.Context(), r.Default()); err != nil || info.ContextWindow == 0 {
			t.Errorf("the default %s opens as %+v, %v", c.want, info, err)
		}
	}
}

func TestRegistry_opensScriptsBesideTheDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "demo.yaml"), []byte("script: 1\nsteps: [{text: hello}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Options{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	p, info, err := r.Open(t.Context(), "scripted:demo.yaml")
	if err != nil || info.Model != "demo.yaml" || info.Provider != scripted.Name {
		t.Fatalf("opens %+v, %v", info, err)
	}
	response, _, err := modeltest.Ask(t.Context(), p, modeltest.Said("hi"))
	if err != nil || response.Message.PlainText() != "hello" {
		t.Errorf("answer is %+v, %v", response, err)
	}
}

func TestRegistry_sendsKeyAndHeadersWhereTheyBelong(t *testing.T) {
	var seen http.Header
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		w.WriteHeader(http.StatusUnauthorized)
	})
	r, err := registry.New(registry.Options{Home: home(t, `
[providers.mine]
protocol = "openai-compatible"
base_url = "`+server.URL+`"
api_key = "`+modeltest.Key+`"
headers = { X-Team = "`+modeltest.Key+`x" }
`)})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.Open(t.Context(), "mine/any")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = modeltest.Ask(t.Context(), p, modeltest.Said("hi"))
	if seen.Get("Authorization") != "Bearer "+modeltest.Key || seen.Get("X-Team") != modeltest.Key+"x" {
		t.Errorf("headers are %v", seen)
	}
	if err == nil || !strings.Contains(err.Error(), "check the key in ") || strings.Contains(err.Error(), modeltest.Key) {
		t.Errorf("error is %v", err)
	}
}

func TestRegistry_warnsOfAReadableKey(t *testing.T) {
	dir := home(t, "[providers.openai]\napi_key = \"k\"\n")
	if err := os.Chmod(registry.File(dir), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Options{Home: dir})
	if err != nil || len(r.Diagnostics()) != 1 {
		t.Errorf("diagnostics are %v, error %v", r.Diagnostics(), err)
	}
}

func TestParse_locatesFaults(t *testing.T) {
	base := "[providers.a]\nprotocol = \"openai-compatible\"\nbase_url = \"https://h/v1\"\n"
	for _, c := range []struct{ text, want string }{
		{"provider = 1", `1: the file has no key "provider"; did you mean "providers"?`},
		{"[providers.A]\nprotocol = \"openai-compatible\"\nbase_url = \"https://h\"", `1: "A" is no name of a provider: it has 1 to 64 lower-case letters, digits, dots, hyphens and underscores, a letter first, and is not "scripted"`},
		{"[providers.a]\nbase_url = \"https://h\"", `1: providers.a needs the key "protocol": one of openai-compatible, openai-responses, anthropic-messages`},
		{"[providers.a]\nprotocol = \"openai-compatible\"", `1: providers.a needs the key "base_url"`},
		{"[providers.a]\nprotocol = \"openai\"\nbase_url = \"https://h\"", `2: providers.a.protocol is "openai"; there are: openai-compatible, openai-responses, anthropic-messages`},
		{"[providers.a]\nprotocol = \"openai-compatible\"\nbase_url = \"https://u:secret@h\"", `3: providers.a.base_url is a URL with a user, a query or a fragment; a base URL has none`},
		{base + "apikey = \"x\"", `4: providers.a has no key "apikey"; did you mean "api_key"?`},
		{base + "api_key = \"secret\\nsecret\"", `4: providers.a.api_key must be one line of 1 to 4096 bytes`},
		{base + "api_key_env = \"A=B\"", `4: providers.a.api_key_env is "A=B", which is no name of a variable`},
		{base + "headers = { \"a b\" = \"x\" }", `4: providers.a.headers has "a b", which is no name of a header`},
		{base + "[providers.a.models.m]\ncontext_window = 0", `5: providers.a.models.m.context_window is out of range; it is a whole number from 1 to 1099511627776`},
		{base + "[providers.a.models.m]\ninput = [\"text\", \"smell\"]", `5: providers.a.models.m.input[1] is "smell"; there are: text, image, audio`},
		{base + "[providers.a.models.m]\nreasoning = \"low\"", `5: providers.a.models.m.reasoning is a string; it must be a list`},
		{"[providers.a", "1: "},
	} {
		_, err := registry.Parse("f", []byte(c.text))
		var located *registry.FileError
		if err == nil || !errors.As(err, &located) || !strings.HasPrefix(err.Error(), "f:"+c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error is %v,\nwant f:%s", c.text, err, c.want)
		}
	}
}

func TestFit_presentsAndPrices(t *testing.T) {
	var got model.Request
	fitted := registry.Fit(echo{&got}, model.Info{Model: "m", Input: []string{"text"}, Price: &model.Price{Input: 1_000_000, Output: 3}})
	request := modeltest.Said("look")
	request.Model = "m"
	picture := conversation.Part{Kind: conversation.Image, MediaType: "image/png", Data: []byte("p"), Text: "a cat"}
	request.Messages = append(request.Messages, conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{
		{Kind: conversation.ToolResult, CallID: "c", Content: []conversation.Part{conversation.TextPart("here"), picture}},
	}})
	response, _, err := modeltest.Ask(t.Context(), fitted, request)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Messages[1].Parts[0].PlainText(); text != "here\n[image left out: the model takes none; it is described as: a cat]" {
		t.Errorf("the model is shown %q", text)
	}
	if request.Messages[1].Parts[0].Content[1].Kind != conversation.Image {
		t.Error("the conversation itself was changed")
	}
	if cost := response.Usage.CostMicrodollars; cost == nil || *cost != 11 {
		t.Errorf("cost is %v, want 11", cost)
	}
}

// echo remembers the request.
type echo struct{ got *model.Request }

func (e echo) Name() string                                 { return "echo" }
func (e echo) Protocol() string                             { return "extension" }
func (e echo) Models(context.Context) ([]model.Info, error) { return nil, nil }
func (e echo) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (*model.Response, error) {
	*e.got = r
	return &model.Response{Stop: model.StopEnd, UsageKnown: true, Usage: conversation.Usage{Input: 10, Output: 1}}, nil
}

// served is a provider of an extension.
type served struct {
	name   string
	models []model.Info
}

func (s served) Name() string                                 { return s.name }
func (s served) Protocol() string                             { return "extension" }
func (s served) Models(context.Context) ([]model.Info, error) { return s.models, nil }
func (s served) Stream(context.Context, model.Request, func(model.Delta)) (*model.Response, error) {
	return nil, errors.New("not asked in this test")
}

func FuzzParse(f *testing.F) {
	f.Add(local)
	f.Add("[providers.a]\nmodels = { x = { price = { input = -1 } } }")
	f.Fuzz(func(t *testing.T, text string) {
		declared, err := registry.Parse("f", []byte(text))
		if err == nil {
			for _, d := range declared {
				if d.Name == "" || d.Protocol == "" {
					t.Errorf("read %+v", d)
				}
			}
		}
	})
}
