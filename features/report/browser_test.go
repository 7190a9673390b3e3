//go:build browser

package report_test

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
)

// browser drives one Chromium through the WebDriver protocol.
type browser struct {
	t       *testing.T
	session string // URL
}

// newBrowser starts chromedriver, which picks a free port and says so, and one session.
func newBrowser(t *testing.T) *browser {
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
	b := &browser{t: t, session: "http://127.0.0.1:" + port}
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

func (b *browser) ask(method, path string, body any) any {
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

func (b *browser) open(url string) { b.ask("POST", "/url", map[string]any{"url": url}) }

// run runs a script and returns its value.
func (b *browser) run(script string) any {
	b.t.Helper()
	return b.ask("POST", "/execute/sync", map[string]any{"script": script, "args": []any{}})
}

// click clicks the first element of a selector, as a person would.
func (b *browser) click(selector string) {
	b.t.Helper()
	found := b.ask("POST", "/element", map[string]any{"using": "css selector", "value": selector}).(map[string]any)
	for _, id := range found {
		b.ask("POST", fmt.Sprintf("/element/%s/click", id), map[string]any{})
		return
	}
}

// shoot keeps a picture of the window where OCTET_SCREENSHOTS names a directory.
func (b *browser) shoot(name string) {
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

// A reader follows a red cell to its rule, from there to the frames, and sees the byte; and filters rules.
func TestHTML_inChromium(t *testing.T) {
	r, _ := sample(false)
	text, offset, frame := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, 35, 1
	r.Scenarios[1].Frames[1].Text, r.Scenarios[1].Frames[1].Base64, r.Scenarios[1].Frames[1].Size = &text, nil, len(text)
	r.Scenarios[1].Findings[0].Offset, r.Scenarios[1].Findings[0].Frame = &offset, &frame
	path := filepath.Join(t.TempDir(), "report.html")
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	b.open("file://" + path)
	expect := func(what, script string, want any) {
		t.Helper()
		if got := b.run("return " + script); got != want {
			t.Errorf("%s: %s is %v, want %v", what, script, got, want)
		}
	}
	expect("the verdict stands at the top", `document.getElementById('verdict').textContent`, "not conformant")
	b.shoot("report-top")

	b.click(`a.cell[href="#X-A-002"]`)
	expect("a cell opens its rule", `document.getElementById('X-A-002').open`, true)
	b.click(`#X-A-002 a[href^="#scenario-"]`)
	expect("a finding opens its scenario", `document.getElementById('scenario-1').open`, true)
	expect("the guilty frame is open", `document.querySelector('#scenario-1 .guilty details').open`, true)
	expect("its byte is marked", `document.querySelector('#scenario-1 .guilty mark').textContent`, string(text[offset]))
	expect("its JSON is shown in lines", `document.querySelector('#scenario-1 .guilty .pretty').textContent.split('\n').length > 4`, true)
	expect("the host's frame is left of the extension's",
		`document.querySelector('#scenario-1 .frame.host').getBoundingClientRect().right < document.querySelector('#scenario-1 .frame.extension').getBoundingClientRect().left`, true)
	b.shoot("report-scenario")

	visible := `[...document.querySelectorAll('.rule')].filter((r) => !r.hidden).length`
	b.click(`button[data-filter="pass"]`)
	expect("the filter leaves rules of one verdict", visible, float64(1))
	b.click(`a.cell[href="#X-A-003"]`)
	expect("a cell shows a rule that was filtered out", visible, float64(4))
	b.click(`button[data-filter="errored"]`)
	expect("an empty filter says so", `document.getElementById('none').hidden`, false)
	b.click(`button[data-filter="errored"]`)
	expect("a second click takes the filter back", visible, float64(4))
}
