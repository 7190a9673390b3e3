package oupreferee

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A work secret is base64url of JSON with the token in it, padded or not, or the token itself.
func TestReadSecret(t *testing.T) {
	inside := `{"version":1,"session_ingress_token":"tok","api_base_url":"http://127.0.0.1:1"}`
	for _, c := range []struct{ printed, token string }{
		{base64.RawURLEncoding.EncodeToString([]byte(inside)) + "\n", "tok"},
		{base64.URLEncoding.EncodeToString([]byte(inside)) + "\r\n", "tok"},
		{"plain-token\n", "plain-token"},
		{base64.RawURLEncoding.EncodeToString([]byte(`["no object"]`)), base64.RawURLEncoding.EncodeToString([]byte(`["no object"]`))},
	} {
		if s, err := readSecret([]byte(c.printed)); err != nil || s.Token != c.token || s.Text != strings.TrimSpace(c.printed) {
			t.Errorf("%q: got %+v, %v, want the token %q", c.printed, s, err, c.token)
		}
	}
	for _, printed := range []string{"", "\n", "two words", "two\nlines", strings.Repeat("x", maxSecret+1)} {
		if s, err := readSecret([]byte(printed)); err == nil {
			t.Errorf("%.20q: got %+v, want an error", printed, s)
		}
	}
}

// A path takes the place of that of the target, as it is spelled, and the text of a refusal is kept.
func TestDial_toAnotherPath(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.EscapedPath()
		http.Error(w, "not here", http.StatusForbidden)
	}))
	defer server.Close()
	_, _, err := dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/usual", "/one/a%23b", "", nil, nil)
	refused, is := err.(*refusal)
	if !is || asked != "/one/a%23b" || refused.status != http.StatusForbidden || strings.TrimSpace(refused.text) != "not here" {
		t.Errorf("asked for %q, got %v, want the escaped path and the text of the refusal", asked, err)
	}
}
