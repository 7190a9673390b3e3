package config

import (
	"fmt"

	"github.com/octet-dev/octet/host/diagnostic"
)

// Setting is the effective value of a key and where it stands.
type Setting struct {
	Key   *Key
	Value Value
	Place Place
}

// Effective is the configuration that counts. The zero value is not usable; Resolve makes one.
type Effective struct {
	settings []Setting // in the order of Keys
}

// Settings lists every key with its value.
func (e *Effective) Settings() []Setting { return append([]Setting(nil), e.settings...) }

// Setting returns the value of a key of Keys and where it stands.
func (e *Effective) Setting(name string) Setting {
	for _, s := range e.settings {
		if s.Key.Name == name {
			return s
		}
	}
	panic("config: no key " + name)
}

// Bool returns the value of a switch.
func (e *Effective) Bool(name string) bool { return e.Setting(name).Value.Bool }

// Word returns the value of a string.
func (e *Effective) Word(name string) string { return e.Setting(name).Value.Word }

// List returns the value of a list. Treat it as read-only.
func (e *Effective) List(name string) []string { return e.Setting(name).Value.List }

// Resolve lays the layers over the defaults, in the order given. A stronger value replaces a weaker one,
// lists too. A project may not set everything: what it may not is a warning and does not count. Unknown
// keys are warnings, or errors under strict_config.
//
// Rules: MAN-ENABLE-007, MAN-ENABLE-008, MAN-ENABLE-011, MAN-TRUST-009, MAN-TRUST-013.
func Resolve(layers ...Layer) (*Effective, []diagnostic.Diagnostic) {
	e := &Effective{settings: make([]Setting, len(Keys))}
	index := map[string]int{}
	for i := range Keys {
		e.settings[i] = Setting{Key: &Keys[i], Value: Keys[i].Default}
		index[Keys[i].Name] = i
	}
	var told []diagnostic.Diagnostic
	for _, layer := range layers {
		for _, a := range layer.Values {
			s := &e.settings[index[a.Key]]
			if refusal := s.refuse(a); refusal != nil {
				told = append(told, *refusal)
				continue
			}
			s.Value, s.Place = a.Value, a.Place
		}
	}
	level := diagnostic.Warning
	if e.Bool(StrictConfig) {
		level = diagnostic.Error
	}
	for _, layer := range layers {
		for _, d := range layer.unknown {
			d.Level = level
			told = append(told, d)
		}
	}
	return e, told
}

// refuse says why an assignment of a project does not count, nil if it does.
func (s *Setting) refuse(a Assignment) *diagnostic.Diagnostic {
	if a.Place.Origin != Project {
		return nil
	}
	d := &diagnostic.Diagnostic{Level: diagnostic.Warning, Path: a.Place.Name, Line: a.Place.Line, Column: a.Place.Column}
	switch {
	case s.Key.project == excluded:
		d.Rule, d.Message = "MAN-TRUST-009", fmt.Sprintf("a project cannot set %s; ignored", s.Key.Name)
		d.Remedy = fmt.Sprintf("set it in your own configuration, or in %s", s.Key.Variable)
	case s.Key.relaxes(s.Value, a.Value):
		d.Rule = "MAN-TRUST-013"
		d.Message = fmt.Sprintf("a project can only tighten %s, which is %s already; ignored", s.Key.Name, s.Value)
		d.Remedy = "set it in your own configuration if you want to allow more"
	default:
		return nil
	}
	return d
}
