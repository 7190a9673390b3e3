//go:build browser

package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// Browser drives one Chromium through the WebDriver protocol.
type Browser struct {
	t       *testing.T
	session string // URL
}

// New starts chromedriver, which picks a free port and says so, and one session.
func New(t *testing.T) *Browser {
	t.Helper()
	driver := exec.Command("chromedriver", "--port=0")
	out, err := driver.StdoutPipe()
	if err == nil {
		err = driver.Start()
	}
	if err != nil {
		t.Fatalf("%v; install the packages chromium and chromium-driver", err)
	}
	port := ""
	lines := bufio.NewScanner(out)
	for port == "" && lines.Scan() {
		if m := regexp.MustCompile(`started successfully on port (\d+)`).FindStringSubmatch(lines.Text()); m != nil {
			port = m[1]
		}
	}
	b := &Browser{t: t, session: "http://127.0.0.1:" + port}
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--window-size=1200,1000", "--user-data-dir=" + t.TempDir(),
	}
	created := b.ask("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:chromeOptions": map[string]any{"args": args},
	}}})
	b.session += "/session/" + created.(map[string]any)["sessionId"].(string)
	t.Cleanup(func() {
		b.ask("DELETE", "", nil)
		_ = driver.Process.Kill()
		_ = driver.Wait()
	})
	return b
}

func (b *Browser) ask(method, path string, body any) any {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	if method != "POST" {
		text = nil
	}
	// Clean-up asks when the test's context has ended.
	request, err := http.NewRequest(method, b.session+path, bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct{ Value any }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		b.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %v", method, path, answer.Value)
	}
	return answer.Value
}

// Open loads a page.
func (b *Browser) Open(url string) { b.ask("POST", "/url", map[string]any{"url": url}) }

// Run runs a script and returns its value.
func (b *Browser) Run(script string) any {
	b.t.Helper()
	return b.ask("POST", "/execute/sync", map[string]any{"script": script, "args": []any{}})
}

// Click clicks the first element of a selector, as a person would.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.ask("POST", b.element(selector)+"/click", map[string]any{})
}

// element is the path of the first element of a selector.
func (b *Browser) element(selector string) string {
	b.t.Helper()
	for _, id := range b.ask("POST", "/element", map[string]any{"using": "css selector", "value": selector}).(map[string]any) {
		return fmt.Sprint("/element/", id)
	}
	b.t.Fatalf("no element %q", selector)
	return ""
}

// Shoot keeps a picture of the window where OCTET_SCREENSHOTS names a directory.
func (b *Browser) Shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("OCTET_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := base64.StdEncoding.DecodeString(b.ask("GET", "/screenshot", nil).(string))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Type types into the first element of a selector, as a person would.
func (b *Browser) Type(selector, text string) {
	b.t.Helper()
	b.ask("POST", b.element(selector)+"/value", map[string]any{"text": text})
}

// patience bounds how long a page may take to become what is expected.
const patience = 10 * time.Second

// Expect asks for the value of an expression until it is what is wanted: a click changes the page at once, and what
// the page does about the new place in it follows in a task of its own.
func (b *Browser) Expect(what, expression string, want any) {
	b.t.Helper()
	for begun := time.Now(); ; {
		got := b.Run("return " + expression)
		if got == want {
			return
		}
		if time.Since(begun) > patience {
			b.t.Errorf("%s: %s is %v, want %v", what, expression, got, want)
			return
		}
	}
}
