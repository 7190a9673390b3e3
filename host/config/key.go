// Package config reads the configuration of a host: what each layer says, which layer decides, and where
// exactly the deciding value stands. It also changes single names in the lists of a configuration file.
//
// Sheet: manifest 5, 6.3, 6.4, 10.
package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/host/policy"
)

// Kind is the type of a value.
type Kind string

// The kinds.
const (
	Bool Kind = "a boolean"
	Word Kind = "a string"
	List Kind = "a list of strings"
)

// Value is a value of one kind.
type Value struct {
	Kind Kind
	Bool bool
	Word string
	List []string
}

// String is the value as TOML.
func (v Value) String() string {
	switch v.Kind {
	case Bool:
		return strconv.FormatBool(v.Bool)
	case Word:
		return quote(v.Word)
	default:
		words := make([]string, len(v.List))
		for i, word := range v.List {
			words[i] = quote(word)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
}

// project says what a trusted project may do with a key.
type project int

const (
	free     project = iota // set it
	tighten                 // set it to something stricter than what is there
	tightUp                 // the same for a switch that is strict when it is on
	excluded                // nothing
)

// Key is one key of the configuration.
type Key struct {
	Name     string
	Variable string // of the environment; empty: none
	Default  Value
	Words    []string // the legal words, the one that allows most first; nil: any
	Rule     string   // id of the rule that a wrong value breaks
	Help     string

	project project
}

// The names of the keys.
const (
	EnabledExtensions  = "enabled_extensions"
	TrustedExtensions  = "trusted_extensions"
	EffectPolicy       = "effect_policy"
	AllowProcess       = "allow_process"
	AllowShell         = "allow_shell"
	AllowExternalPaths = "allow_external_paths"
	StrictConfig       = "strict_config"
	Model              = "model"
	Reasoning          = "reasoning"
	ToolInterface      = "tool_interface"
	CacheWarming       = "cache_warming"
)

// Keys lists every key.
var Keys = []Key{
	{
		Name: EnabledExtensions, Variable: "OCTET_ENABLED_EXTENSIONS", Default: Value{Kind: List},
		Rule: "MAN-ENABLE-003", Help: "extensions that are switched on",
	},
	{
		Name: TrustedExtensions, Variable: "OCTET_TRUSTED_EXTENSIONS", Default: Value{Kind: List}, project: excluded,
		Rule: "MAN-TRUST-009", Help: "grants: NAME for a global extension, NAME@/PATH/extension.toml for any",
	},
	{
		Name: EffectPolicy, Variable: "OCTET_EFFECT_POLICY", Default: Value{Kind: Word, Word: string(policy.UnsafeHost)},
		Words: policy.Effects, project: tighten, Rule: "MAN-POLICY-002", Help: "what effects are let through",
	},
	{
		Name: AllowProcess, Variable: "OCTET_ALLOW_PROCESS", Default: Value{Kind: Bool, Bool: true}, project: tighten,
		Rule: "MAN-POLICY-005", Help: "whether processes may be started",
	},
	{
		Name: AllowShell, Variable: "OCTET_ALLOW_SHELL", Default: Value{Kind: Bool, Bool: true}, project: tighten,
		Rule: "MAN-POLICY-005", Help: "whether shell commands may be started",
	},
	{
		Name: AllowExternalPaths, Variable: "OCTET_ALLOW_EXTERNAL_PATHS", Default: Value{Kind: Bool, Bool: true}, project: tighten,
		Rule: "MAN-POLICY-006", Help: "whether file tools may leave the workspace; it confines no extension",
	},
	{
		Name: StrictConfig, Default: Value{Kind: Bool}, project: tightUp,
		Rule: "MAN-ENABLE-011", Help: "whether an unknown key is an error",
	},
	{
		Name: Model, Variable: "OCTET_MODEL", Default: Value{Kind: Word},
		Help: "who answers where --model does not say: PROVIDER:MODEL",
	},
	{
		Name: Reasoning, Variable: "OCTET_REASONING", Default: Value{Kind: Word},
		Help: "how much the model reasons, a label of the model",
	},
	{
		Name: ToolInterface, Variable: "OCTET_TOOL_INTERFACE", Default: Value{Kind: Word, Word: "direct"}, Words: []string{"direct", "fixed"},
		Help: "how tools are shown to models: every one of them, or a list that never changes",
	},
	{
		Name: CacheWarming, Variable: "OCTET_CACHE_WARMING", Default: Value{Kind: Bool}, project: tighten,
		Help: "whether the provider's cache of a conversation is kept alive while it waits, where that is likely to save money",
	},
}

func find(name string) *Key {
	i := slices.IndexFunc(Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &Keys[i]
}

func names() []string {
	list := make([]string, len(Keys))
	for i, key := range Keys {
		list[i] = key.Name
	}
	return list
}

// relaxes reports whether a project's value allows more than the value below it.
func (k *Key) relaxes(below, value Value) bool {
	switch {
	case k.project == tighten && value.Kind == Bool:
		return value.Bool && !below.Bool
	case k.project == tighten:
		return slices.Index(k.Words, value.Word) < slices.Index(k.Words, below.Word)
	case k.project == tightUp:
		return below.Bool && !value.Bool
	}
	return false
}

// parse reads a value from the text of a variable. Lists are separated by commas, blanks around their
// words are dropped, and so are empty words. The reason is empty if the text is legal.
func (k *Key) parse(text string) (value Value, reason, remedy string) {
	value.Kind = k.Default.Kind
	switch value.Kind {
	case List:
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				value.List = append(value.List, word)
			}
		}
	case Bool:
		switch text {
		case "true", "1":
			value.Bool = true
		case "false", "0":
		default:
			return value, "is " + strconv.Quote(text) + ", which is no boolean", "write true or false"
		}
	case Word:
		value.Word = text
	}
	reason, remedy = k.check(value)
	return value, reason, remedy
}

// check judges a value of the right kind.
func (k *Key) check(value Value) (reason, remedy string) {
	switch {
	case k.Words != nil && !slices.Contains(k.Words, value.Word):
		return "is " + strconv.Quote(value.Word) + ", which is none of its values", "use one of " + strings.Join(k.Words, ", ")
	case slices.Contains(value.List, ""):
		return "holds an empty name", "remove it from the list"
	}
	return "", ""
}
