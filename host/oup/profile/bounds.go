package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/model/registry"
)

// Bounds of a profile, of octet's own.
const (
	maxModels  = 500 // and as many keys
	maxWord    = 256 // bytes of a name
	maxAddress = 2048
	maxEmail   = 320

	// maxTold bounds the models of a profile by what lists of them take in a frame: every word stands there up to six
	// times, beside rowBytes of each model.
	maxTold  = oupwire.MaxTextFrameBytes - 8<<10
	rowBytes = 512
)

// ModelError says what is wrong with a model that is to be stored, by its member.
type ModelError struct{ Member, Reason string }

// Error names the member and the rule.
func (e *ModelError) Error() string { return e.Member + " " + e.Reason }

// check refuses a model that could not be asked, or told.
func (m Model) check(apiKey string) error {
	for _, word := range []struct {
		member, text string
		optional     bool
	}{
		{"selection.family_id", m.Family, false},
		{"selection.model_id", m.Model, false},
		{"selection.route.route_id", m.Route.ID, true},
		{"selection.route.label", m.Route.Label, true},
		{"selection.route.api_key_env", m.Route.Variable, true},
		{"selection.route.api_type", m.Route.Type, true},
	} {
		switch {
		case strings.TrimSpace(word.text) == "" && (word.text != "" || !word.optional):
			return &ModelError{word.member, "is empty; give one"}
		case len(word.text) > maxWord:
			return &ModelError{word.member, fmt.Sprintf("has %d bytes, at most %d", len(word.text), maxWord)}
		case strings.ContainsFunc(word.text, unicode.IsControl):
			return &ModelError{word.member, "has a control character"}
		}
	}
	if !registry.IsHeaderValue(apiKey) {
		return &ModelError{"api_key", "is not one line of at most 4096 bytes"}
	}
	if len(m.Route.BaseURL) > maxAddress {
		return &ModelError{"selection.route.base_url", fmt.Sprintf("has %d bytes, at most %d", len(m.Route.BaseURL), maxAddress)}
	}
	if m.Route.BaseURL != "" {
		if err := registry.CheckBaseURL(m.Route.BaseURL); err != nil {
			return &ModelError{"selection.route.base_url", err.Error()}
		}
	}
	return nil
}

// ErrFull says that a profile takes no more.
var ErrFull = errors.New("the profile has as many models or keys as it can; take some away")

// bounded refuses a profile that has too much.
func (p *Profile) bounded() error {
	p.forget()
	if len(p.Fallbacks) >= maxModels || len(p.Keys) > maxModels {
		return ErrFull
	}
	told := 0
	for _, m := range (Listed{Primary: p.Primary, Fallbacks: p.Fallbacks}).All() {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		told += 6*len(text) + rowBytes
	}
	if told > maxTold {
		return ErrFull
	}
	return nil
}

// forget drops the keys for addresses that no model has any more.
func (p *Profile) forget() {
	used := map[[2]string]bool{}
	for _, m := range (Listed{Primary: p.Primary, Fallbacks: p.Fallbacks}).All() {
		used[[2]string{m.Route.BaseURL, m.Route.Variable}] = true
	}
	for address, keys := range p.KeysAt {
		for variable := range keys {
			if !used[[2]string{address, variable}] {
				delete(keys, variable)
			}
		}
		if len(keys) == 0 {
			delete(p.KeysAt, address)
		}
	}
}
