// Package theme lets extensions of API 0.3 choose a theme of the host for a role.
//
// An extension names itself, a theme that the host has, and the role it is for. What becomes of it is the
// person's and the frontend's affair: a valid wish is answered, never an error. Source: sheet canonical 5.12.
package theme

import (
	"context"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/runtime/peer"
)

// Trust says why the host draws with a theme.
type Trust string

// The only reasons. A theme with another one may be listed, but no extension can have it chosen: that would
// make the host trust it.
const (
	Compiled Trust = "compiled" // it is part of the host
	User     Trust = "user"     // the person installed it
)

// Theme is a theme that the host knows.
type Theme struct {
	// ID is the resolved id, which may differ from the one that was asked for.
	ID    string
	Trust Trust
}

// Selection is a wish that the host can honour.
type Selection struct {
	Extension string
	Theme     Theme
	Role      canonicalwire.ThemeRole
}

// Verdict says what became of a wish.
type Verdict struct {
	Status canonicalwire.ThemeSelectStatus
	// Reason is for denied and unavailable; it may be empty.
	Reason string
}

// Themes are the themes of a frontend.
type Themes interface {
	// Find resolves the id of a theme.
	Find(id string) (Theme, bool)
	// Select takes a wish over, or says why not: the person has decided already, or nothing is drawn.
	Select(ctx context.Context, s Selection) (Verdict, error)
}

// Binding serves the selection. Bind it only where something is drawn with themes.
func Binding(t Themes) extension.Binding {
	return extension.Binding{
		Capabilities: []string{canonicalwire.CapabilityThemeSelection},
		Requests: map[string]extension.Handler{
			canonicalwire.MethodThemeSelect: func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
				return choose(ctx, t, r.Extension.Name(), r.Params)
			},
		},
	}
}

func choose(ctx context.Context, t Themes, caller string, params []byte) (peer.Value, error) {
	p, err := canonicalwire.DecodeThemeSelectParams(params)
	switch {
	case err != nil:
		return nil, err
	case p.Namespace != caller:
		return nil, peer.Fail(canonicalwire.ErrCapabilityMismatch, nil)
	}
	theme, known := t.Find(p.ThemeID)
	switch {
	case !known:
		return nil, peer.Fail(canonicalwire.ErrInvalidParams, nil)
	case theme.Trust != Compiled && theme.Trust != User:
		return nil, peer.Fail(canonicalwire.ErrCapabilityMismatch, nil)
	}
	verdict, err := t.Select(ctx, Selection{Extension: caller, Theme: theme, Role: p.Role})
	if err != nil {
		return nil, err
	}
	result := canonicalwire.ThemeSelectResult{Status: verdict.Status}
	if verdict.Status == canonicalwire.ThemeSelectStatusSelected {
		result.ThemeID = wirejson.Some(theme.ID)
	}
	if verdict.Reason != "" {
		result.Reason = wirejson.Some(clip.Text(verdict.Reason, canonicalwire.MaxReasonBytes))
	}
	if err := result.Validate(); err != nil {
		return nil, err // of the frontend's making: an internal error
	}
	return result, nil
}
