package config

import (
	"fmt"
	"strings"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/runtime/manifest/near"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// Origin is a layer. A higher one decides.
type Origin int

// The layers, the weakest first.
const (
	Default Origin = iota
	User
	Project
	Environment
	CommandLine
	Session // what a resumed session brings along
)

var origins = [...]string{"default", "user", "project", "environment", "command line", "session"}

// String names the layer.
func (o Origin) String() string { return origins[o] }

// Place says where a value stands.
type Place struct {
	Origin Origin
	// Name is the file, variable or option; empty for a default.
	Name         string
	Line, Column int // in a file; 0 elsewhere
}

// String is "default", "FILE:LINE" or the name of the variable or option.
func (p Place) String() string {
	switch {
	case p.Name == "":
		return p.Origin.String()
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", p.Name, p.Line)
	}
	return p.Name
}

// Assignment is one value of a layer.
type Assignment struct {
	Key   string
	Value Value
	Place Place
}

// Layer is what one source says.
type Layer struct {
	Values  []Assignment
	unknown []diagnostic.Diagnostic // of keys nobody knows; their level depends on strict_config
}

// Set adds a value.
func (l *Layer) Set(key string, value Value, place Place) {
	l.Values = append(l.Values, Assignment{Key: key, Value: value, Place: place})
}

// Parse reads the text of a configuration file. What cannot be used is an error that tells file, place,
// rule and remedy, and the rest of the layer is still good.
func Parse(path string, origin Origin, data []byte) (Layer, []diagnostic.Diagnostic) {
	root, faults := tomltree.Parse(data)
	var told []diagnostic.Diagnostic
	for _, fault := range faults {
		told = append(told, diagnostic.Diagnostic{
			Level: diagnostic.Error, Path: path, Line: fault.Line, Column: fault.Column,
			Message: "invalid TOML: " + fault.Message, Remedy: "correct the file; nothing in it counts until then",
		})
	}
	if len(faults) > 0 {
		return Layer{}, told
	}
	var layer Layer
	for _, member := range root.Members {
		d := diagnostic.Diagnostic{Level: diagnostic.Error, Path: path, Line: member.Position.Line, Column: member.Position.Column}
		key := find(member.Key)
		if key == nil {
			d.Rule, d.Message, d.Remedy = "MAN-ENABLE-011", fmt.Sprintf("unknown key `%s`", member.Key), "remove it; octet config lists the keys"
			if guess := near.Find(member.Key, names()); guess != "" {
				d.Remedy = fmt.Sprintf("did you mean `%s`?", guess)
			}
			layer.unknown = append(layer.unknown, d)
			continue
		}
		value, reason, remedy := convert(key, member.Value)
		if reason != "" {
			d.Rule, d.Message, d.Remedy = key.Rule, fmt.Sprintf("%s %s", key.Name, reason), remedy
			told = append(told, d)
			continue
		}
		layer.Set(key.Name, value, Place{Origin: origin, Name: path, Line: member.Position.Line, Column: member.Position.Column})
	}
	return layer, told
}

// convert reads a value of a file.
func convert(key *Key, node *tomltree.Node) (value Value, reason, remedy string) {
	value.Kind = key.Default.Kind
	reason, remedy = fmt.Sprintf("is %s, want %s", node.Kind, value.Kind), "write "+key.Name+" = "+example(key)
	switch {
	case value.Kind == Bool && node.Kind == tomltree.Boolean:
		value.Bool = node.Bool
	case value.Kind == Word && node.Kind == tomltree.String:
		value.Word = node.Text
	case value.Kind == List && node.Kind == tomltree.Array:
		for i, element := range node.Elems {
			if element.Kind != tomltree.String {
				return value, fmt.Sprintf("has %s as element %d, want strings", element.Kind, i+1), remedy
			}
			value.List = append(value.List, element.Text)
		}
	default:
		return value, reason, remedy
	}
	reason, remedy = key.check(value)
	return value, reason, remedy
}

func example(key *Key) string {
	if key.Default.Kind == List {
		return `["NAME"]`
	}
	return key.Default.String()
}

// FromEnvironment reads the variables. One that is empty counts as absent.
func FromEnvironment(lookup func(string) (string, bool)) (Layer, []diagnostic.Diagnostic) {
	var layer Layer
	var told []diagnostic.Diagnostic
	for i := range Keys {
		key := &Keys[i]
		if key.Variable == "" {
			continue
		}
		text, found := lookup(key.Variable)
		if !found || strings.TrimSpace(text) == "" {
			continue
		}
		value, reason, remedy := key.parse(text)
		if reason != "" {
			told = append(told, diagnostic.Diagnostic{
				Level: diagnostic.Error, Path: key.Variable, Rule: key.Rule,
				Message: fmt.Sprintf("the variable %s", reason), Remedy: remedy + ", or unset it",
			})
			continue
		}
		layer.Set(key.Name, value, Place{Origin: Environment, Name: key.Variable})
	}
	return layer, told
}
