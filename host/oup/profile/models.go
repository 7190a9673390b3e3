package profile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/tool/builtin"
)

// Model is a model that a profile has configured.
type Model struct {
	Family string `json:"family_id"`
	Model  string `json:"model_id"`
	Route  Route  `json:"route"`
}

// Route says how a model is reached. Empty members are those of the family.
type Route struct {
	ID       string `json:"route_id,omitempty"`
	Label    string `json:"label,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`
	Variable string `json:"api_key_env,omitempty"` // that holds the key
	Type     string `json:"api_type,omitempty"`
}

// DefaultType is the kind of a route that names none.
const DefaultType = "openai"

// Reference is how the model is named in a session.
func (m Model) Reference() string { return m.Family + ":" + m.Model }

// same reports whether two models are one entry of the list.
func (m Model) same(other Model) bool {
	return m.Family == other.Family && m.Model == other.Model && m.Route.ID == other.Route.ID && m.Route.BaseURL == other.Route.BaseURL
}

// Settled fills in what follows from the family.
func (s *Store) Settled(m Model) Model {
	m.Route.Type = cmp.Or(m.Route.Type, DefaultType)
	if m.Route.Variable == "" {
		m.Route.Variable = cmp.Or(s.families[m.Family], variable(m.Family))
	}
	return m
}

// variable is the name of the variable of a family that is not known.
func variable(family string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, family)
	return name + "_API_KEY"
}

// Listed are the models of a profile: the one in use, nil if there is none, and those behind it.
type Listed struct {
	Profile   string
	Primary   *Model
	Fallbacks []Model

	store *Store
	of    *Profile // as it was when they were listed
}

// HasKey reports whether a model has a key.
func (l Listed) HasKey(m Model) bool { return l.store.keyOf(l.of, m) != "" }

// Available reports whether a model could be asked.
func (l Listed) Available(m Model) bool { return l.HasKey(m) || keyless(m) }

// All are the model in use and those behind it.
func (l Listed) All() []Model {
	if l.Primary == nil {
		return l.Fallbacks
	}
	return append([]Model{*l.Primary}, l.Fallbacks...)
}

// List returns the models of a profile. The error is an *UnknownError, or of the file.
func (s *Store) List(id string) (Listed, error) {
	d, err := s.file.Read()
	if err != nil {
		return Listed{}, err
	}
	p := d.find(id)
	if p == nil {
		return Listed{}, &UnknownError{ID: id}
	}
	return Listed{Profile: id, Primary: p.Primary, Fallbacks: p.Fallbacks, store: s, of: p}, nil
}

// Upsert stores a model, and its key if one is given. Primary puts it in front, as does a profile without a model. Errors
// are *ModelError, ErrFull, *private.LargeError and *UnknownError.
//
// Rules: OUP-LLM-003, OUP-LLM-004, OUP-LLM-005, OUP-LLM-015.
func (s *Store) Upsert(id string, m Model, apiKey string, primary bool) error {
	if err := m.check(apiKey); err != nil {
		return err
	}
	m = s.Settled(m)
	return s.change(id, func(p *Profile) error {
		if apiKey != "" {
			p.keep(m.Route.BaseURL, m.Route.Variable, apiKey)
		}
		if p.Primary == nil || primary {
			p.promote(m)
		} else if p.Primary.same(m) {
			p.Primary = &m
		} else if i := slices.IndexFunc(p.Fallbacks, m.same); i >= 0 {
			p.Fallbacks[i] = m
		} else {
			p.Fallbacks = append(p.Fallbacks, m)
		}
		return p.bounded()
	})
}

// promote puts a model in front; the one before moves behind it.
func (p *Profile) promote(m Model) {
	p.Fallbacks = slices.DeleteFunc(p.Fallbacks, m.same)
	if p.Primary != nil && !p.Primary.same(m) {
		p.Fallbacks = append([]Model{*p.Primary}, p.Fallbacks...)
	}
	p.Primary = &m
}

// Errors of a choice.
var (
	ErrNotConfigured = errors.New("the model is not configured; add it with " + oupwire.MethodProfileLlmUpsert)
	ErrAmbiguous     = errors.New("more than one configured model fits; name family_id and route_id")
	ErrNoKey         = errors.New("the model has no key; give one with " + oupwire.MethodProfileLlmUpsert)
)

// errNoKeyThere is ErrNoKey of an address that a client names.
var errNoKeyThere = fmt.Errorf("no key came with this base_url, and others do not go there; give api_key too: %w", ErrNoKey)

// noKey says why a model has no key.
func noKey(m Model) error {
	if m.Route.BaseURL != "" {
		return errNoKeyThere
	}
	return ErrNoKey
}

// Select puts a configured model in front. Empty members of what is wanted fit all. Errors are ErrNotConfigured,
// ErrAmbiguous, ErrNoKey and *UnknownError.
//
// Rules: OUP-LLM-009, OUP-LLM-010, OUP-LLM-011.
func (s *Store) Select(id, model, family, route string) (chosen Model, err error) {
	err = s.change(id, func(p *Profile) error {
		var fitting []Model
		for _, m := range (Listed{Primary: p.Primary, Fallbacks: p.Fallbacks}).All() {
			if m.Model == model && (family == "" || m.Family == family) && (route == "" || m.Route.ID == route) {
				fitting = append(fitting, m)
			}
		}
		switch {
		case len(fitting) == 0:
			return ErrNotConfigured
		case len(fitting) > 1:
			return ErrAmbiguous
		case s.keyOf(p, fitting[0]) == "" && !keyless(fitting[0]):
			return noKey(fitting[0])
		}
		chosen = fitting[0]
		p.promote(chosen)
		return nil
	})
	return chosen, err
}

// Delete takes a model away and reports whether it was there. The first one behind it comes in front.
func (s *Store) Delete(id, family, model, route string) (applied bool, err error) {
	err = s.change(id, func(p *Profile) error {
		gone := func(m Model) bool { return m.Family == family && m.Model == model && m.Route.ID == route }
		before := len(p.Fallbacks)
		p.Fallbacks = slices.DeleteFunc(p.Fallbacks, gone)
		applied = len(p.Fallbacks) < before
		if p.Primary != nil && gone(*p.Primary) {
			p.Primary, applied = nil, true
			if len(p.Fallbacks) > 0 {
				p.Primary, p.Fallbacks = &p.Fallbacks[0], slices.Clone(p.Fallbacks[1:])
			}
		}
		p.forget()
		return nil
	})
	return applied, err
}

func (s *Store) change(id string, do func(*Profile) error) error {
	return s.file.Change(func(d *document) error {
		p := d.find(id)
		if p == nil {
			return &UnknownError{ID: id}
		}
		return do(p)
	})
}

// stored is the key that a profile has for an address, empty for none.
func (s *Store) stored(id, address, name string) string {
	d, err := s.file.Read()
	if err != nil {
		return ""
	}
	p := d.find(id)
	if p == nil {
		return ""
	}
	return p.keys(address)[name]
}

// keyFor is the key that a model is asked with. Clients name addresses and variables. So a stored key goes to the
// address that it came with alone, and what the environment has to a family's own address alone, out of variables that
// hold keys of providers.
func (s *Store) keyFor(id string, m Model) string {
	d, err := s.file.Read()
	if err != nil {
		return s.keyOf(nil, m)
	}
	return s.keyOf(d.find(id), m)
}

// keyOf is keyFor of a profile that was read; nil: of one that is not stored.
func (s *Store) keyOf(p *Profile, m Model) string {
	m = s.Settled(m)
	if p != nil {
		if value := p.keys(m.Route.BaseURL)[m.Route.Variable]; value != "" {
			return value
		}
	}
	if m.Route.BaseURL != "" || !s.holdsKey(m.Route.Variable) {
		return ""
	}
	value, _ := s.lookup(m.Route.Variable)
	return value
}

// holdsKey reports whether a variable is one of a provider: the machine says so, or the name does.
func (s *Store) holdsKey(name string) bool {
	for _, known := range s.families {
		if name != "" && known == name {
			return true
		}
	}
	return builtin.IsKey(name) && !builtin.IsOurs(name)
}

// Lookup is the environment of a profile: its keys in front of the variables of the process. A key that is stored under
// another kind of name, as that of an address, changes nothing.
func (s *Store) Lookup(id string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if s.holdsKey(name) {
			if value := s.stored(id, "", name); value != "" {
				return value, true
			}
		}
		return s.lookup(name)
	}
}

// scripted is the family of models that are played from a file.
const scripted = "scripted"

// keyless reports whether a model needs no key: it is played from a file, or served on this machine.
func keyless(m Model) bool {
	if m.Family == scripted {
		return true
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		for _, scheme := range []string{"http://", "https://"} {
			if rest, has := strings.CutPrefix(m.Route.BaseURL, scheme+host); has && (rest == "" || rest[0] == ':' || rest[0] == '/') {
				return true
			}
		}
	}
	return false
}

// Families are the families of the providers that are known, with their variables.
func (s *Store) Families() map[string]string { return maps.Clone(s.families) }

// Redact takes every key of a profile out of a text.
func (s *Store) Redact(id, text string, more ...string) string {
	if d, err := s.file.Read(); err == nil {
		if p := d.find(id); p != nil {
			for _, value := range p.Keys {
				more = append(more, value)
			}
			for _, keys := range p.KeysAt {
				more = slices.AppendSeq(more, maps.Values(keys))
			}
		}
	}
	for _, name := range s.families {
		if value, _ := s.lookup(name); value != "" {
			more = append(more, value)
		}
	}
	for _, secret := range more {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// String names a model without anything secret.
func (m Model) String() string {
	if m.Route.ID != "" {
		return fmt.Sprintf("%s over %s", m.Reference(), m.Route.ID)
	}
	return m.Reference()
}
