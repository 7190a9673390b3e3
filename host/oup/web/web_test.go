package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/protocol"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/oup/web"
)

// site serves on a real socket; its connections end when their client does.
func site(t *testing.T, o web.Options) (address string, conns <-chan transport.Info) {
	t.Helper()
	seen := make(chan transport.Info, 8)
	o.Serve = func(_ context.Context, c transport.Conn) {
		seen <- c.Info()
		for {
			if _, err := c.Read(); err != nil {
				return
			}
		}
	}
	s := web.New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(func() { s.Close(transport.Ended) })
	return strings.TrimPrefix(server.URL, "http://"), seen
}

func root(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	directory := t.TempDir()
	for name, text := range files {
		path := filepath.Join(directory, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := os.OpenRoot(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// raw sends a path as it is, which no client library would.
func raw(t *testing.T, address, path string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", path, address); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(answer), "HTTP/1.0 %d", &status); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	_, body, _ = strings.Cut(string(answer), "\r\n\r\n")
	return status, body
}

func TestSite_servesFilesOfItsRootAlone(t *testing.T) {
	files := root(t, map[string]string{
		"index.html": "the index", "app.js": "the app", "sub/page.html": "a page", ".git/config": "hidden", "sub/.env": "hidden",
	})
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("the secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.txt": outside, "up": filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(files.Name(), name)); err != nil {
			t.Fatal("links are needed: ", err)
		}
	}
	if err := os.Symlink("app.js", filepath.Join(files.Name(), "inside.js")); err != nil {
		t.Fatal(err)
	}
	address, _ := site(t, web.Options{Root: files})
	for path, want := range map[string]string{
		"/": "the index", "/index.html": "the index", "/app.js": "the app", "/sub/page.html": "a page", "/inside.js": "the app",
		"/sessions/one": "the index", "/sub": "the index", "/sub/../app.js": "", "/?x=1": "the index",
		"/missing.js": "", "/link.txt": "", "/up/secret.txt": "", "/.git/config": "", "/sub/.env": "", "/api/other": "",
		"/../secret.txt": "", "/..%2fsecret.txt": "", "/%2e%2e/secret.txt": "", "/sub/..%2f..%2fsecret.txt": "",
		"/..\\secret.txt": "", "/%00": "", "/app.js%00.html": "", "//etc/passwd.txt": "", "/C:%5Cwindows.ini": "",
	} {
		status, body := raw(t, address, path)
		switch {
		case strings.Contains(body, "the secret") || strings.Contains(body, "hidden"):
			t.Errorf("%s gives %d %q", path, status, body)
		case want != "" && (status != http.StatusOK || body != want):
			t.Errorf("%s gives %d %q, want %q", path, status, body, want)
		case want == "" && status == http.StatusOK:
			t.Errorf("%s gives %q, want it refused", path, body)
		}
	}
	bare, _ := site(t, web.Options{})
	if status, _ := raw(t, bare, "/"); status != http.StatusNotFound {
		t.Errorf("without a root / gives %d", status)
	}
}

func TestSite_tellsItsStatusWithoutItsToken(t *testing.T) {
	for _, token := range []string{"", "the-token"} {
		address, _ := site(t, web.Options{Token: token, Release: "1.2.3"})
		code, body := raw(t, address, "/api/status")
		var status web.Status
		if err := json.Unmarshal([]byte(body), &status); err != nil || code != http.StatusOK {
			t.Fatalf("%d %s: %v", code, body, err)
		}
		if status.Status != "ok" || status.Protocol != protocol.Text("identifier") || status.Release != "1.2.3" || status.AuthRequired != (token != "") {
			t.Errorf("status is %+v", status)
		}
		if strings.Contains(body, "the-token") {
			t.Errorf("it tells the token: %s", body)
		}
	}
}

func dial(t *testing.T, address, path string, header http.Header) (*websocket.Conn, int, string) {
	t.Helper()
	conn, response, err := websocket.Dial(t.Context(), "ws://"+address+path, &websocket.DialOptions{HTTPHeader: header})
	if response == nil {
		t.Fatal(err)
	}
	if conn == nil {
		body, _ := io.ReadAll(response.Body)
		return nil, response.StatusCode, string(body)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, response.StatusCode, ""
}

func TestSite_asksForItsToken(t *testing.T) {
	address, conns := site(t, web.Options{Token: "the-token"})
	if _, status, body := dial(t, address, transport.WebSocketPath+"?token=wrong", nil); status != http.StatusUnauthorized || strings.Contains(body, "the-token") {
		t.Errorf("a wrong token gives %d %s", status, body)
	}
	if _, status, _ := dial(t, address, transport.WebSocketPath+"?token=the-token", nil); status != http.StatusSwitchingProtocols {
		t.Errorf("the right token gives %d", status)
	}
	if who := (<-conns).Identity; !who.Known() || who.Session != "" || strings.Contains(who.Name, "the-token") {
		t.Errorf("it stands for %+v", who)
	}
}

// TestSite_letsASessionInByItsSecret: OUP-INGRESS-001 to OUP-INGRESS-005.
func TestSite_letsASessionInByItsSecret(t *testing.T) {
	const session = "_main:local:a b/c#build"
	now := time.Now()
	grants := &access.Grants{Directory: t.TempDir(), Now: func() time.Time { return now }}
	secret, err := grants.Issue(session, "http://here", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	address, conns := site(t, web.Options{Token: "the-token", Grants: grants})
	path := protocol.Text("ingress_path") + url.PathEscape(session)
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	for name, c := range map[string]struct {
		path   string
		header http.Header
		status int
		says   string
	}{
		"header":                   {path, bearer(secret.Token), 101, ""},
		"query":                    {path + "?token=" + secret.Token, nil, 101, ""},
		"none":                     {path, nil, 401, "work secret"},
		"wrong":                    {path, bearer("x"), 401, "work secret"},
		"header wrong, query good": {path + "?token=" + secret.Token, bearer("x"), 401, "work secret"},
		"token of the server":      {path, bearer("the-token"), 401, "work secret"},
		"another session":          {protocol.Text("ingress_path") + "other", bearer(secret.Token), 401, "work secret"},
		"older query":              {path + "?_token=" + secret.Token, nil, 401, "query parameter token"},
		"oldest query":             {path + "?session_ingress_token=" + secret.Token, nil, 401, "query parameter token"},
		"main path":                {transport.WebSocketPath, bearer(secret.Token), 401, ""},
		"foreign origin":           {path, http.Header{"Authorization": {"Bearer " + secret.Token}, "Origin": {"https://evil.example"}}, 403, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, status, body := dial(t, address, c.path, c.header)
			if status != c.status || !strings.Contains(body, c.says) || strings.Contains(body, secret.Token) {
				t.Errorf("gives %d %q, want %d and %q", status, body, c.status, c.says)
			}
			if status != 101 {
				return
			}
			if who := (<-conns).Identity; who.Session != session || !who.Holds() {
				t.Errorf("it stands for %+v", who)
			}
		})
	}
	_, _, _ = dial(t, address, path, bearer(secret.Token))
	who := (<-conns).Identity
	if _, err := grants.Issue(session, "", time.Hour); err != nil || who.Holds() {
		t.Errorf("behind a new secret the old one holds: %v", err)
	}
	now = now.Add(time.Hour)
	if _, status, _ := dial(t, address, path, bearer(secret.Token)); status != 401 {
		t.Errorf("behind its time a secret gives %d", status)
	}
}
