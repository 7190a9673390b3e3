package profile_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/oup/profile"
)

// TestModels_areAskedAndListedAtOneAddress: what a list of models is asked for is where a turn goes, with the same key,
// however the address is written and whoever names it.
func TestModels_areAskedAndListedAtOneAddress(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	for _, c := range []struct {
		family, kind, address, variable, base, path string
	}{
		{"acme", "anthropic", server.URL, "", "/v1", "/messages"},
		{"acme", "anthropic", server.URL + "/", "", "/v1", "/messages"},
		{"acme", "anthropic", server.URL + "/v1", "", "/v1", "/messages"},
		{"acme", "anthropic", server.URL + "/gate/v1/", "", "/gate/v1", "/messages"},
		{"anthropic", "", "", "ANTHROPIC_BASE_URL", "/v1", "/messages"},
		{"acme", "openai", server.URL + "/v1", "", "/v1", "/chat/completions"},
		{"openai", "", "", "OPENAI_BASE_URL", "", "/chat/completions"},
	} {
		s := open(t, map[string]string{c.variable: server.URL})
		models := profile.Models{Store: s, Profile: "_main"}
		var err error
		if models.Registry, err = registry.New(registry.Options{Lookup: s.Lookup("_main")}); err != nil {
			t.Fatal(err)
		}
		m := profile.Model{Family: c.family, Model: "x", Route: profile.Route{BaseURL: c.address, Type: c.kind}}
		asked = nil
		request, err := models.Listing(t.Context(), m, secret)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		provider, info, err := models.Serve(m, secret)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = provider.Stream(t.Context(), model.Request{Model: info.Model, MaxOutputTokens: 1, Messages: []conversation.Message{conversation.Say(conversation.User, "hi")}}, func(model.Delta) {})
		if want := []string{"GET " + c.base + "/models Bearer " + secret, "POST " + c.base + c.path + " Bearer " + secret}; !slices.Equal(asked, want) {
			t.Errorf("%+v: asked is %q, want %q", c, asked, want)
		}
	}
}
