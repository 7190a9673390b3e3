package theme

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// drawn are the themes of a frontend that answers as it is told.
type drawn struct {
	verdict Verdict
	err     error
	chosen  []Selection
}

func (d *drawn) Find(id string) (Theme, bool) {
	switch id {
	case "night", "dark":
		return Theme{ID: "night", Trust: Compiled}, true
	case "mine":
		return Theme{ID: "mine", Trust: User}, true
	case "theirs":
		return Theme{ID: "theirs", Trust: "extension"}, true
	case "bare":
		return Theme{ID: "bare"}, true
	}
	return Theme{}, false
}

func (d *drawn) Select(_ context.Context, s Selection) (Verdict, error) {
	d.chosen = append(d.chosen, s)
	return d.verdict, d.err
}

func wish(namespace, theme, role string) string {
	return `{"namespace":"` + namespace + `","theme_id":"` + theme + `","role":"` + role + `","scope":"extension"}`
}

// EXT03-THEME-003, EXT03-THEME-004, EXT03-THEME-005, EXT03-THEME-006
func TestChoose_refuses(t *testing.T) {
	d := &drawn{verdict: Verdict{Status: canonicalwire.ThemeSelectStatusSelected}}
	for name, c := range map[string]struct {
		params string
		code   int64
	}{
		"another namespace":        {wish("other", "night", "accent"), canonicalwire.CodeCapabilityMismatch},
		"another, unknown theme":   {wish("other", "none", "accent"), canonicalwire.CodeCapabilityMismatch},
		"unknown theme":            {wish("me", "none", "accent"), canonicalwire.CodeInvalidParams},
		"unknown role":             {wish("me", "night", "sparkle"), canonicalwire.CodeInvalidParams},
		"theme nobody trusts":      {wish("me", "theirs", "accent"), canonicalwire.CodeCapabilityMismatch},
		"theme without trust":      {wish("me", "bare", "accent"), canonicalwire.CodeCapabilityMismatch},
		"another scope":            {strings.Replace(wish("me", "night", "accent"), `"extension"`, `"host"`, 1), canonicalwire.CodeInvalidParams},
		"stray member":             {strings.Replace(wish("me", "night", "accent"), `{`, `{"trust":"user",`, 1), canonicalwire.CodeInvalidParams},
		"longest theme, unknown":   {wish("me", strings.Repeat("x", 128), "accent"), canonicalwire.CodeInvalidParams},
		"theme over the bound":     {wish("me", strings.Repeat("x", 129), "accent"), canonicalwire.CodeResourceExhausted},
		"namespace over the bound": {wish(strings.Repeat("x", 65), "night", "accent"), canonicalwire.CodeResourceExhausted},
		"nothing":                  {`{}`, canonicalwire.CodeInvalidParams},
	} {
		_, err := choose(t.Context(), d, "me", []byte(c.params))
		if code := codeOf(err); code != c.code {
			t.Errorf("%s: got %v (%d), want %d", name, err, code, c.code)
		}
	}
	if len(d.chosen) > 0 {
		t.Errorf("refused wishes reached the frontend: %v", d.chosen)
	}
}

func codeOf(err error) int64 {
	var e *peer.Error
	var v *wirejson.Violation
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &v):
		row, _ := canonicalwire.ErrorByName(v.ErrorName)
		return row.Code
	}
	return 0
}

// EXT03-THEME-007, EXT03-THEME-008
func TestChoose_answersWhatTheFrontendDid(t *testing.T) {
	for want, c := range map[string]struct {
		theme   string
		verdict Verdict
	}{
		`{"status":"selected","theme_id":"night"}`:                         {"dark", Verdict{Status: canonicalwire.ThemeSelectStatusSelected}},
		`{"status":"selected","theme_id":"mine"}`:                          {"mine", Verdict{Status: canonicalwire.ThemeSelectStatusSelected}},
		`{"reason":"the person chose another","status":"denied"}`:          {"night", Verdict{canonicalwire.ThemeSelectStatusDenied, "the person chose another"}},
		`{"status":"unavailable"}`:                                         {"night", Verdict{Status: canonicalwire.ThemeSelectStatusUnavailable}},
		`{"reason":"` + strings.Repeat("r", 4096) + `","status":"denied"}`: {"night", Verdict{canonicalwire.ThemeSelectStatusDenied, strings.Repeat("r", 4096) + "ü"}},
	} {
		d := &drawn{verdict: c.verdict}
		got, err := choose(t.Context(), d, "me", []byte(wish("me", c.theme, "md_heading")))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(got.AppendJSON(nil)); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
		if len(d.chosen) != 1 || d.chosen[0].Extension != "me" || d.chosen[0].Role != canonicalwire.ThemeRoleMdHeading {
			t.Errorf("the frontend was asked for %v", d.chosen)
		}
	}
}

func TestChoose_brokenFrontendIsAnInternalError(t *testing.T) {
	broken := errors.New("nothing drawn")
	if _, err := choose(t.Context(), &drawn{err: broken}, "me", []byte(wish("me", "night", "accent"))); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := choose(t.Context(), &drawn{verdict: Verdict{Status: "maybe"}}, "me", []byte(wish("me", "night", "accent"))); err == nil {
		t.Error("an unknown status is answered")
	}
}
