package profile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/oup/profile"
)

const secret = "sk-never-to-be-seen-again"

func open(t *testing.T, environment map[string]string) *profile.Store {
	t.Helper()
	return profile.Open(t.TempDir(), func(name string) (string, bool) {
		value, has := environment[name]
		return value, has
	}, map[string]string{"openai": "OPENAI_API_KEY"})
}

// TestStore_sendsAKeyOfTheEnvironmentToItsFamilyAlone: an address that a client names gets the key that came with it.
func TestStore_sendsAKeyOfTheEnvironmentToItsFamilyAlone(t *testing.T) {
	s := open(t, map[string]string{"OPENAI_API_KEY": secret, "GITHUB_TOKEN": "token"})
	models := profile.Models{Store: s, Profile: "_main"}
	var err error
	if models.Registry, err = registry.New(registry.Options{Lookup: s.Lookup("_main")}); err != nil {
		t.Fatal(err)
	}
	elsewhere := profile.Model{Family: "openai", Model: "gpt-5", Route: profile.Route{BaseURL: "https://evil.example/v1"}}
	if _, _, err := models.Serve(elsewhere, ""); !errors.Is(err, profile.ErrNoKey) {
		t.Errorf("at another address it is served: %v", err)
	}
	if _, err := models.Listing(t.Context(), elsewhere, ""); !errors.Is(err, profile.ErrNoKey) || hasKey(t, s, elsewhere) {
		t.Errorf("another address is shown the key: %v", err)
	}
	home := profile.Model{Family: "openai", Model: "gpt-5"}
	if _, info, err := models.Serve(home, ""); err != nil || info.Model != "gpt-5" {
		t.Errorf("at its own address it is not served: %v", err)
	}
	if _, _, err := models.Serve(profile.Model{Family: "unheard-of", Model: "x"}, "key"); err == nil || strings.Contains(err.Error(), "key\"") {
		t.Errorf("a family without an address is served: %v", err)
	}
	if _, _, err := models.Serve(profile.Model{Family: "here", Model: "x", Route: profile.Route{BaseURL: "ftp://x"}}, "key"); err == nil {
		t.Error("an address of another kind is taken")
	}
}

// TestStore_namesNoAddressForOthersKeys: clients name addresses and variables, and get no key by that which they did
// not bring themselves.
func TestStore_namesNoAddressForOthersKeys(t *testing.T) {
	s := open(t, map[string]string{
		"OPENAI_API_KEY": secret, "GITHUB_TOKEN": secret, "ACME_API_KEY": secret, "OCTOS_AUTH_TOKEN": secret, "OCTET_API_KEY": secret,
	})
	models := profile.Models{Store: s, Profile: "_main"}
	var err error
	if models.Registry, err = registry.New(registry.Options{Lookup: s.Lookup("_main")}); err != nil {
		t.Fatal(err)
	}
	const own, evil = "https://acme.example/v1", "https://evil.example/v1"
	for _, stored := range []profile.Model{{Family: "anthropic", Model: "x"}, {Family: "acme", Model: "x", Route: profile.Route{BaseURL: own}}} {
		if err := s.Upsert("_main", stored, secret, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		family, address, variable string
		sent                      bool
	}{
		{"acme", evil, "GITHUB_TOKEN", false},
		{"acme", evil, "ACME_API_KEY", false},
		{"acme", evil, "", false},
		{"anthropic", evil, "", false},
		{"openai", evil, "ANTHROPIC_API_KEY", false},
		{"openai", "", "GITHUB_TOKEN", false},
		{"openai", "", "OCTOS_AUTH_TOKEN", false},
		{"openai", "", "OCTET_API_KEY", false},
		{"acme", own, "", true},
		{"anthropic", "", "", true},
		{"openai", "", "", true},
		{"openai", "", "ACME_API_KEY", true},
	} {
		m := profile.Model{Family: c.family, Model: "x", Route: profile.Route{BaseURL: c.address, Variable: c.variable}}
		_, listing := models.Listing(t.Context(), m, "")
		_, _, serving := models.Serve(m, "")
		if (listing == nil) != c.sent || (serving == nil) != c.sent || hasKey(t, s, m) != c.sent {
			t.Errorf("%+v: a listing gives %v, a turn %v", c, listing, serving)
		}
		if !c.sent && (!errors.Is(listing, profile.ErrNoKey) || !errors.Is(serving, profile.ErrNoKey)) {
			t.Errorf("%+v is refused with %v, %v", c, listing, serving)
		}
		if c.address == evil && serving != nil && !strings.Contains(serving.Error(), "give api_key") {
			t.Errorf("%+v: no remedy in %v", c, serving)
		}
		request, err := models.Listing(t.Context(), m, "brought")
		if err != nil || request.Header.Get("Authorization")+request.Header.Get("X-Api-Key") == "" {
			t.Errorf("%+v: a key of its own gives %v", c, err)
		}
	}
	hidden := profile.Model{Family: "openai", Model: "x", Route: profile.Route{Variable: "OPENAI_BASE_URL"}}
	if err := s.Upsert("_main", hidden, evil, false); err != nil {
		t.Fatal(err)
	}
	if value, _ := s.Lookup("_main")("OPENAI_BASE_URL"); value != "" {
		t.Errorf("a client sends the key of the machine to %q", value)
	}
	if got := s.Redact("_main", "given "+secret); got != "given ***" {
		t.Errorf("told is %q", got)
	}
}

// TestStore_takesKeysOutOfTexts: OUP-LLM-001.
func TestStore_takesKeysOutOfTexts(t *testing.T) {
	s := open(t, map[string]string{"OPENAI_API_KEY": "sk-of-the-environment"})
	if err := s.Upsert("_main", profile.Model{Family: "here", Model: "one"}, secret, false); err != nil {
		t.Fatal(err)
	}
	got := s.Redact("_main", "refused: "+secret+", sk-of-the-environment, given", "given")
	if got != "refused: ***, ***, ***" {
		t.Errorf("told is %q", got)
	}
	if value, _ := s.Lookup("_main")("HERE_API_KEY"); value != secret {
		t.Errorf("whoever asks the model gets %q", value)
	}
	if value, _ := s.Lookup("work")("HERE_API_KEY"); value != "" {
		t.Errorf("another profile gets %q", value)
	}
}

// TestStore_ordersModels: a new model goes behind the one in use unless it is to be in front, where the old one makes room.
func TestStore_ordersModels(t *testing.T) {
	s := open(t, nil)
	m := func(name, route string) profile.Model {
		return profile.Model{Family: "here", Model: name, Route: profile.Route{ID: route, BaseURL: "http://localhost:1"}}
	}
	for _, add := range []struct {
		m       profile.Model
		primary bool
		want    string
	}{
		{m("a", ""), false, "here:a"},
		{m("b", ""), false, "here:a here:b"},
		{m("b", ""), false, "here:a here:b"},
		{m("b", "r"), false, "here:a here:b here:b over r"},
		{m("c", ""), true, "here:c here:a here:b here:b over r"},
		{m("b", "r"), true, "here:b over r here:c here:a here:b"},
		{m("b", "r"), false, "here:b over r here:c here:a here:b"},
	} {
		if err := s.Upsert("_main", add.m, "", add.primary); err != nil {
			t.Fatal(err)
		}
		if got := listed(t, s); got != add.want {
			t.Errorf("with %s there are %s, want %s", add.m, got, add.want)
		}
	}
	if _, err := s.Select("_main", "b", "", ""); !errors.Is(err, profile.ErrAmbiguous) {
		t.Errorf("two that fit: %v", err)
	}
	if _, err := s.Select("_main", "none", "", ""); !errors.Is(err, profile.ErrNotConfigured) {
		t.Errorf("none that fits: %v", err)
	}
	if err := s.Upsert("_main", profile.Model{Family: "far", Model: "x"}, "", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Select("_main", "x", "", ""); !errors.Is(err, profile.ErrNoKey) {
		t.Errorf("one without a key: %v", err)
	}
	if _, err := s.Select("_main", "a", "here", ""); err != nil || listed(t, s) != "here:a here:b over r here:c here:b far:x" {
		t.Errorf("chosen is %s, %v", listed(t, s), err)
	}
	var unknown *profile.UnknownError
	if err := s.Upsert("nobody", m("a", ""), "", false); !errors.As(err, &unknown) {
		t.Errorf("an unknown profile: %v", err)
	}
	if applied, err := s.Delete("_main", "here", "a", ""); !applied || err != nil || listed(t, s) != "here:b over r here:c here:b far:x" {
		t.Errorf("behind a deletion there are %s, %v", listed(t, s), err)
	}
	if applied, _ := s.Delete("_main", "here", "a", ""); applied {
		t.Error("it is taken away twice")
	}
}

// TestStore_boundsAProfile: models have a most, and keys go with the last model of their address.
func TestStore_boundsAProfile(t *testing.T) {
	directory := t.TempDir()
	var models []string
	for i := range 499 {
		models = append(models, fmt.Sprintf(`{"family_id":"here","model_id":"m%d","route":{}}`, i))
	}
	text := `{"profiles":[{"id":"_main","primary":{"family_id":"here","model_id":"first","route":{}},"fallbacks":[` + strings.Join(models, ",") + `]}]}`
	file := filepath.Join(directory, "profiles.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := profile.Open(directory, os.LookupEnv, nil)
	at := profile.Model{Family: "here", Model: "more", Route: profile.Route{BaseURL: "https://here.example/v1"}}
	for _, primary := range []bool{false, true} {
		if err := s.Upsert("_main", at, secret, primary); !errors.Is(err, profile.ErrFull) {
			t.Errorf("one more is taken: %v", err)
		}
	}
	if err := s.Upsert("_main", profile.Model{Family: "here", Model: "m7"}, "", true); err != nil {
		t.Errorf("one that is there is not replaced: %v", err)
	}
	if _, err := s.Delete("_main", "here", "m8", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Upsert("_main", at, secret, false); err != nil || !hasKey(t, s, at) {
		t.Errorf("in the place of another it is not taken: %v", err)
	}
	if _, err := s.Delete("_main", "here", "more", ""); err != nil || hasKey(t, s, at) {
		t.Errorf("its key is still there: %v", err)
	}
}

// TestStore_listsWithOneReading: who tells of many models does not read the file for each.
func TestStore_listsWithOneReading(t *testing.T) {
	s := open(t, nil)
	m := profile.Model{Family: "here", Model: "one"}
	if err := s.Upsert("_main", m, secret, false); err != nil {
		t.Fatal(err)
	}
	l, err := s.List("_main")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	if !l.HasKey(m) || !l.Available(m) || l.HasKey(profile.Model{Family: "there", Model: "one"}) {
		t.Error("what is listed is looked up again")
	}
}

// TestStore_takesNoMoreThanCanBeTold: a list of models fits into a frame, and the file of all profiles is read again.
func TestStore_takesNoMoreThanCanBeTold(t *testing.T) {
	s := open(t, nil)
	long := func(n int) profile.Model {
		return profile.Model{Family: "here", Model: fmt.Sprint(n), Route: profile.Route{BaseURL: "http://localhost/" + strings.Repeat("a", 2000)}}
	}
	n := 0
	for ; n < 200; n++ {
		if err := s.Upsert("_main", long(n), "", false); err != nil {
			if !errors.Is(err, profile.ErrFull) {
				t.Fatal(err)
			}
			break
		}
	}
	if n < 50 || n == 200 {
		t.Errorf("%d models of 2000 bytes are taken", n)
	}
	if err := s.Upsert("_main", profile.Model{Family: "here", Model: "short"}, "", false); err != nil && !errors.Is(err, profile.ErrFull) {
		t.Error(err)
	}
	if _, err := s.List("_main"); err != nil {
		t.Error(err)
	}
}

func hasKey(t *testing.T, s *profile.Store, m profile.Model) bool {
	t.Helper()
	l, err := s.List("_main")
	if err != nil {
		t.Fatal(err)
	}
	return l.HasKey(m)
}

func listed(t *testing.T, s *profile.Store) string {
	t.Helper()
	l, err := s.List("_main")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range l.All() {
		names = append(names, m.String())
	}
	return strings.Join(names, " ")
}

func TestStore_goesOnBehindADamagedFile(t *testing.T) {
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "profiles.json"), []byte(`{"profiles": "`+secret), 0o600); err != nil {
		t.Fatal(err)
	}
	s := profile.Open(directory, os.LookupEnv, nil)
	if _, err := s.List("_main"); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("it is read: %v", err)
	}
	if s.Has("_main") || s.Default() != "_main" {
		t.Error("it has profiles")
	}
}
