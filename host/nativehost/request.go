package nativehost

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// The bounds of a run.
const (
	maxIDBytes      = 128
	maxPromptBytes  = 512 << 10
	maxSystemBytes  = 512 << 10
	maxDisplayBytes = 256 << 10
	maxHistory      = 256
	maxHistoryBytes = 2 << 20
	maxMedia        = 12
	maxImages       = 8
	maxAudio        = 4
	maxItems        = 64 // of every other list
)

// The commands.
const (
	commandHello    = "hello"
	commandModels   = "models"
	commandRun      = "run"
	commandShutdown = "shutdown"
)

var commands = []string{commandHello, commandModels, commandRun, commandShutdown}

// header is what all requests share.
type header struct {
	ProtocolVersion *int64 `json:"protocol_version"`
	RequestID       string `json:"request_id"`
	Command         string `json:"command"`
}

// modelsRequest asks for the catalog. Offline changes nothing: the catalog never needs the network.
type modelsRequest struct {
	header
	Offline bool `json:"offline"`
}

// runRequest asks for one run.
type runRequest struct {
	header
	RunID     string `json:"run_id"`
	Workspace string `json:"workspace"`
	Model     string `json:"model"`
	Prompt    string `json:"prompt"`

	WorkingDir    string `json:"working_dir"` // inside the workspace
	SessionID     string `json:"session_id"`  // a name for the session, or the id that the store gave it
	SessionDir    string `json:"session_dir"`
	ResumeSession bool   `json:"resume_session"`

	SystemPrompt      string         `json:"system_prompt"`
	PromptDisplayText string         `json:"prompt_display_text"`
	History           []pastMessage  `json:"history"`
	Media             []media        `json:"media"`
	ImagePaths        []string       `json:"image_paths"`
	ContextFiles      []string       `json:"context_files"`
	PromptPaths       []string       `json:"prompt_paths"`
	SkillPaths        []string       `json:"skill_paths"`
	Tools             jsontext.Value `json:"tools"` // true, false, or the names of tools

	AllowFileMutation   bool   `json:"allow_file_mutation"`
	AllowExternalPaths  bool   `json:"allow_external_paths"`
	Reasoning           string `json:"reasoning"`
	MaxTurns            *int64 `json:"max_turns"`
	MaxCostMicrodollars *int64 `json:"max_cost_microdollars"`
	Offline             bool   `json:"offline"`

	// Extensions are discovered and told about, never started.
	ExtensionPaths    []string `json:"extension_paths"`
	EnabledExtensions []string `json:"enabled_extensions"`
	TrustedExtensions []string `json:"trusted_extensions"`

	// An inline route names the server itself.
	Provider            string            `json:"provider"`
	BaseURL             string            `json:"base_url"`
	APIKey              string            `json:"api_key"`
	CustomHeaders       map[string]string `json:"custom_headers"`
	ProviderMode        string            `json:"provider_mode"`
	ContextWindowTokens *int64            `json:"context_window_tokens"`
	MaxOutputTokens     *int64            `json:"max_output_tokens"`
	InputModalities     []string          `json:"input_modalities"`
	SupportsReasoning   *bool             `json:"supports_reasoning"`

	tools    []string // of Tools, where it is a list
	noTools  bool
	allTools bool
}

// pastMessage is one message of a history.
type pastMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// media is an image or an audio of a prompt.
type media struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64
	Text      string `json:"text"` // what it shows or says
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// readHeader finds out what a line asks for. The id is empty if none could be read.
func readHeader(line []byte) (h header, err error) {
	value := jsontext.Value(line)
	if !value.IsValid() {
		return h, refuse(codeJSON, "the line is no JSON document; it is one object")
	}
	if value.Kind() != '{' {
		return h, refuse(codeJSON, "the line is no JSON object")
	}
	// Unknown members are judged with the command; here a member of the wrong kind costs no more than itself.
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(line, &members); err != nil {
		return h, refuse(codeJSON, "the object cannot be read: %s", plain(err))
	}
	var id string
	if json.Unmarshal(members["request_id"], &id) == nil && idPattern.MatchString(id) {
		h.RequestID = id
	}
	var version int64
	switch {
	case members["protocol_version"] == nil:
		return h, refuse(codeVersion, "protocol_version is missing; it is %d", Version)
	case json.Unmarshal(members["protocol_version"], &version) != nil || version != Version:
		return h, refuse(codeVersion, "protocol_version is %s; this host speaks %d", short(string(members["protocol_version"])), Version)
	case h.RequestID == "":
		return h, refuse(codeRequest, "request_id is no id: it has 1 to %d letters, digits, dots, underscores, colons and hyphens", maxIDBytes)
	case json.Unmarshal(members["command"], &h.Command) != nil || h.Command == "":
		return h, refuse(codeRequest, "command is missing; it is one of %s", strings.Join(commands, ", "))
	case !slices.Contains(commands, h.Command):
		text := "there are: " + strings.Join(commands, ", ")
		if meant := near.Find(h.Command, commands); meant != "" {
			text = fmt.Sprintf("did you mean %q?", meant)
		}
		return h, refuse(codeCommand, "there is no command %q; %s", short(h.Command), text)
	}
	return h, nil
}

// readStrictly reads a request that may hold nothing but what its command knows.
func readStrictly(line []byte, into any) error {
	if err := json.Unmarshal(line, into, json.RejectUnknownMembers(true)); err != nil {
		return refuse(codeRequest, "%s", plain(err))
	}
	return nil
}

// plain words an error of the decoder.
func plain(err error) string {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		at := string(semantic.JSONPointer)
		if errors.Is(err, json.ErrUnknownName) {
			return fmt.Sprintf("%s is unknown here; remove it", short(at))
		}
		return fmt.Sprintf("%s has the wrong type: it cannot be a %s", short(at), semantic.JSONKind)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("%s: %v", short(string(syntax.JSONPointer)), syntax.Err)
	}
	return err.Error()
}

func short(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "..."
	}
	return text
}

// check judges what the types leave open. It looks at no file.
func (r *runRequest) check() error {
	for _, required := range []struct{ name, value string }{
		{"run_id", r.RunID}, {"workspace", r.Workspace}, {"model", r.Model}, {"prompt", r.Prompt},
	} {
		if required.value == "" {
			return refuse(codeRequest, "%s is missing", required.name)
		}
	}
	for _, id := range []struct{ name, value string }{{"run_id", r.RunID}, {"session_id", r.SessionID}} {
		if id.value != "" && !idPattern.MatchString(id.value) {
			return refuse(codeRequest, "%s is no id: it has 1 to %d letters, digits, dots, underscores, colons and hyphens", id.name, maxIDBytes)
		}
	}
	for _, bound := range []struct {
		name       string
		bytes, max int
	}{
		{"prompt", len(r.Prompt), maxPromptBytes},
		{"system_prompt", len(r.SystemPrompt), maxSystemBytes},
		{"prompt_display_text", len(r.PromptDisplayText), maxDisplayBytes},
	} {
		if bound.bytes > bound.max {
			return refuse(codeRequest, "%s has %d bytes; %d are the most", bound.name, bound.bytes, bound.max)
		}
	}
	if !filepath.IsAbs(r.Workspace) {
		return refuse(codeRequest, "workspace is %q; it must be an absolute path", short(r.Workspace))
	}
	for _, check := range []func() error{r.checkSession, r.checkMedia, r.checkLists, r.checkBudgets, r.checkRoute, r.readTools} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *runRequest) checkSession() error {
	if r.ResumeSession && r.SessionID == "" {
		return refuse(codeRequest, "resume_session needs session_id")
	}
	if r.ResumeSession && len(r.History) > 0 {
		return refuse(codeRequest, "history goes with a new session; drop it, or resume_session")
	}
	if len(r.History) > maxHistory {
		return refuse(codeRequest, "history has %d messages; %d are the most", len(r.History), maxHistory)
	}
	bytes := 0
	for i, m := range r.History {
		switch conversation.Role(m.Role) {
		case conversation.User, conversation.Assistant, conversation.System:
		default:
			return refuse(codeRequest, "history[%d].role is %q; it is user, assistant or system", i, short(m.Role))
		}
		bytes += len(m.Content)
	}
	if bytes > maxHistoryBytes {
		return refuse(codeRequest, "history has %d bytes; %d are the most", bytes, maxHistoryBytes)
	}
	return nil
}

func (r *runRequest) checkMedia() error {
	if len(r.Media) > 0 && len(r.ImagePaths) > 0 {
		return refuse(codeRequest, "media and image_paths exclude each other; use one of them")
	}
	if len(r.Media) > maxMedia {
		return refuse(codeRequest, "media has %d items; %d are the most", len(r.Media), maxMedia)
	}
	if len(r.ImagePaths) > maxImages {
		return refuse(codeRequest, "image_paths has %d items; %d are the most", len(r.ImagePaths), maxImages)
	}
	count := map[string]int{}
	for i, m := range r.Media {
		if m.Type != string(conversation.Image) && m.Type != string(conversation.Audio) {
			return refuse(codeRequest, "media[%d].type is %q; it is image or audio", i, short(m.Type))
		}
		if !strings.HasPrefix(m.MediaType, m.Type+"/") || len(m.MediaType) > 128 {
			return refuse(codeRequest, "media[%d].media_type is %q, which is no media type of an %s", i, short(m.MediaType), m.Type)
		}
		if len(m.Data) == 0 {
			return refuse(codeRequest, "media[%d].data is empty", i)
		}
		count[m.Type]++
	}
	if count[string(conversation.Image)] > maxImages || count[string(conversation.Audio)] > maxAudio {
		return refuse(codeRequest, "media has %d images and %d audio; %d and %d are the most", count[string(conversation.Image)], count[string(conversation.Audio)], maxImages, maxAudio)
	}
	return nil
}

func (r *runRequest) checkLists() error {
	for _, list := range []struct {
		name  string
		items []string
	}{
		{"context_files", r.ContextFiles},
		{"extension_paths", r.ExtensionPaths},
		{"enabled_extensions", r.EnabledExtensions},
		{"trusted_extensions", r.TrustedExtensions},
		{"prompt_paths", r.PromptPaths},
		{"skill_paths", r.SkillPaths},
		{"image_paths", r.ImagePaths},
	} {
		if len(list.items) > maxItems {
			return refuse(codeRequest, "%s has %d items; %d are the most", list.name, len(list.items), maxItems)
		}
		if slices.Contains(list.items, "") {
			return refuse(codeRequest, "%s has an empty item", list.name)
		}
	}
	if len(r.PromptPaths) > 0 || len(r.SkillPaths) > 0 {
		return refuse(codeUnsupported, "this host has no skills and no prompt templates: hello says so; drop prompt_paths and skill_paths")
	}
	return nil
}

func (r *runRequest) checkBudgets() error {
	for _, n := range []struct {
		name  string
		value *int64
	}{
		{"max_turns", r.MaxTurns}, {"max_cost_microdollars", r.MaxCostMicrodollars}, {"context_window_tokens", r.ContextWindowTokens}, {"max_output_tokens", r.MaxOutputTokens},
	} {
		if n.value != nil && (*n.value < 1 || *n.value > 1<<50) {
			return refuse(codeRequest, "%s is %d; it is at least 1", n.name, *n.value)
		}
	}
	return nil
}

// inline reports whether the request names the server itself.
func (r *runRequest) inline() bool {
	return r.Provider != "" || r.BaseURL != "" || r.APIKey != "" || r.CustomHeaders != nil || r.ProviderMode != "" ||
		r.ContextWindowTokens != nil || r.MaxOutputTokens != nil || r.InputModalities != nil || r.SupportsReasoning != nil
}

func (r *runRequest) checkRoute() error {
	if !r.inline() {
		return nil
	}
	if r.BaseURL == "" || r.ProviderMode == "" {
		return refuse(codeRequest, "an inline route needs base_url and provider_mode; drop its other fields, or add them")
	}
	if err := registry.CheckBaseURL(r.BaseURL); err != nil {
		return refuse(codeRequest, "base_url %v", err)
	}
	if !slices.Contains(registry.Protocols, r.ProviderMode) {
		return refuse(codeRequest, "provider_mode is %q; it is one of %s", short(r.ProviderMode), strings.Join(registry.Protocols, ", "))
	}
	if r.Provider != "" && !idPattern.MatchString(r.Provider) {
		return refuse(codeRequest, "provider is no name: it has 1 to %d letters, digits, dots, underscores, colons and hyphens", maxIDBytes)
	}
	for _, modality := range r.InputModalities {
		if !slices.Contains([]string{"text", "image", "audio"}, modality) {
			return refuse(codeRequest, "input_modalities holds %q; there are: text, image, audio", short(modality))
		}
	}
	if !registry.IsHeaderValue(r.APIKey) || len(r.CustomHeaders) > maxItems {
		return refuse(codeRequest, "api_key is one line of at most 4096 bytes, and custom_headers has at most %d members", maxItems)
	}
	for name, value := range r.CustomHeaders {
		if !registry.IsHeaderName(name) || !registry.IsHeaderValue(value) {
			return refuse(codeRequest, "custom_headers holds %q, whose name or value is no header", short(name))
		}
	}
	return nil
}

// readTools reads the member that is a switch or a list.
func (r *runRequest) readTools() error {
	switch kind := r.Tools.Kind(); {
	case len(r.Tools) == 0 || kind == 't':
		r.allTools = true
	case kind == 'f':
		r.noTools = true
	case kind != '[' || json.Unmarshal(r.Tools, &r.tools) != nil || len(r.tools) > maxItems:
		return refuse(codeRequest, "tools is true, false or a list of at most %d names", maxItems)
	}
	return nil
}
