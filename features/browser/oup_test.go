//go:build browser

package browser

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The model of the page: it streams, calls a tool that has to be allowed, and says what came of it.
const pageScript = `script: 1
steps:
  - when: {result_of: shell}
    text: "There are two notes here, as ls says."
    chunk: 4
    repeat: always
  - when: {user_contains: how many}
    reasoning: The shell can count them.
    text: "Let me look at what is here before I say anything."
    chunk: 3
    pause: 20ms
    calls: [{name: shell, arguments: {command: ls *.txt}}]
    repeat: always
  - when: {user_contains: for ever}
    text: "and on and on and on and on and on and on and on and on and on and on and on and on and on"
    chunk: 1
    pause: 500ms
    repeat: always
  - text: "You said ${user}."
    chunk: 4
    repeat: always
`

// site is where the build of TypeScript leaves the example page, with the client beside it.
const site = "../../sdk-ts/oup/dist/examples/browser"

// served is octet serve in a home of its own, which outlives its processes.
type served struct {
	t       *testing.T
	binary  string
	home    string
	address string // HOST:PORT of the first start, taken again by the next ones
	process *exec.Cmd
}

func newServed(t *testing.T) *served {
	t.Helper()
	if _, err := os.Stat(filepath.Join(site, "page.js")); err != nil {
		t.Fatalf("%v; run make build-ts first", err)
	}
	s := &served{t: t, home: t.TempDir(), address: "127.0.0.1:0"}
	s.binary = filepath.Join(s.home, "octet")
	if out, err := exec.Command("go", "build", "-o", s.binary, "../../cmd/octet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"script.yaml": pageScript, "work/a.txt": "a", "work/b.txt": "b"} {
		path := filepath.Join(s.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.kill)
	return s
}

var servesAt = regexp.MustCompile(`octet serves at http://(\S+)`)

// start starts the server and returns when it takes connections.
func (s *served) start() {
	s.t.Helper()
	root, err := filepath.Abs(site)
	if err != nil {
		s.t.Fatal(err)
	}
	s.process = exec.Command(s.binary, "serve", "--listen", s.address, "--web-root", root, "--model", "scripted:"+filepath.Join(s.home, "script.yaml"),
		"--data-dir", filepath.Join(s.home, "data"), "--cwd", filepath.Join(s.home, "work"))
	s.process.Env = append(os.Environ(), "HOME="+s.home)
	stderr, err := s.process.StderrPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for said := ""; lines.Scan(); {
		said += lines.Text() + "\n"
		if m := servesAt.FindStringSubmatch(lines.Text()); m != nil {
			s.address = m[1]
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	s.t.Fatal("octet serve ended before it took connections")
}

// kill ends the server as a power cut does.
func (s *served) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

func (b *Browser) text(selector string) string {
	b.t.Helper()
	text, _ := b.Run(fmt.Sprintf("return document.querySelector(%q)?.textContent ?? ''", selector)).(string)
	return text
}

// scheme makes the page believe in a colour scheme.
func (b *Browser) scheme(name string) {
	b.t.Helper()
	b.ask("POST", "/goog/cdp/execute", map[string]any{
		"cmd": "Emulation.setEmulatedMedia", "params": map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": name}}},
	})
}

const (
	enter  = "\ue007"
	escape = "\ue00c"
)

// TestChromiumOUP clicks through the example page of the npm client: a turn that streams, a tool and its approval,
// and a server that dies and comes back.
func TestChromiumOUP(t *testing.T) {
	server := newServed(t)
	server.start()
	b := New(t)
	page := "http://" + server.address + "/#session=" + url.QueryEscape("_main:local:page")
	b.Open(page)
	b.Expect("the page connects", `document.body.dataset.state`, "open")
	b.Expect("it says so to everybody", `document.querySelector("#state").textContent`, "Connected")
	b.Expect("it shows the workspace", `document.querySelector("#place").textContent`, filepath.Join(server.home, "work"))
	if label := b.ask("GET", b.element("#input")+"/computedlabel", nil); label != "Your message" {
		t.Errorf("the field is called %q", label)
	}
	b.Shoot("oup-empty")

	// What the answer was on its way: a poll from here would miss it.
	b.Run(`window.pieces = new Set(); new MutationObserver(() => {
		const text = document.querySelector(".assistant")?.textContent;
		if (text) window.pieces.add(text);
	}).observe(document.querySelector("#log"), { childList: true, subtree: true, characterData: true });`)
	b.Type("#input", "how many notes are here?"+enter)
	b.Expect("the approval is asked for, with the command", `document.querySelector(".approval pre")?.textContent.includes("ls *.txt")`, true)
	b.Expect("the answer streamed", `window.pieces.size > 3`, true)
	b.Expect("the turn runs", `document.querySelector(".turn").ariaBusy`, "true")
	b.Expect("the turn can be stopped", `document.querySelector("#stop").hidden`, false)
	b.Shoot("oup-approval")
	b.scheme("dark")
	b.Shoot("oup-approval-dark")
	b.scheme("light")
	b.Click(".approval .first")
	b.Expect("the tool ran", `document.querySelector(".tool")?.dataset.status`, "complete")
	b.Expect("its result is shown", `document.querySelector(".tool .output").textContent.includes("b.txt")`, true)
	b.Expect("the turn is over", `document.querySelector(".turn").dataset.outcome`, "completed")
	b.Expect("its answer is whole", `[...document.querySelectorAll(".assistant")].at(-1).textContent`, "There are two notes here, as ls says.")
	b.Expect("nothing is asked any more", `document.querySelectorAll(".approval").length`, 0.0)
	b.Shoot("oup-result")

	before := b.text("#log")
	server.kill()
	b.Expect("the page sees the end", `document.body.dataset.state`, "waiting")
	b.Shoot("oup-waiting")
	server.start()
	b.Expect("the page comes back", `document.body.dataset.state`, "open")
	if after := b.text("#log"); after != before {
		t.Errorf("after the restart the page shows\n%s\nand before it showed\n%s", after, before)
	}

	b.Type("#input", "<b>bold</b>"+enter)
	b.Expect("a second turn works", `document.querySelectorAll(".turn")[1]?.dataset.outcome`, "completed")
	b.Expect("what is said is no HTML", `[...document.querySelectorAll(".assistant")].at(-1).textContent + document.querySelectorAll("#log b").length`, "You said <b>bold</b>.0")

	shown := b.text("#log")
	b.Open("about:blank")
	b.Open(page)
	b.Expect("a new page shows the same", `document.querySelectorAll(".turn").length`, 2.0)
	if again := b.text("#log"); again != shown {
		t.Errorf("a new page shows\n%s\nand the old one showed\n%s", again, shown)
	}

	b.Type("#input", "go on for ever"+enter)
	b.Expect("a long turn runs", `document.querySelectorAll(".turn")[2]?.querySelector(".assistant")?.textContent.startsWith("and")`, true)
	b.Type("#input", escape)
	b.Expect("Escape stops it", `document.querySelectorAll(".turn")[2]?.dataset.outcome`, "interrupted")
	b.Expect("the page is ready again", `document.querySelector("#stop").hidden`, true)
	b.scheme("dark")
	b.Shoot("oup-end-dark")
	complain(t, b)
}

// complain fails for what the browser's console has against the page: blocked by its policy, broken, or not found.
func complain(t *testing.T, b *Browser) {
	t.Helper()
	entries, _ := b.ask("POST", "/se/log", map[string]any{"type": "browser"}).([]any)
	// The server was away, and the client asks by HTTP why.
	away := []string{"WebSocket connection", "ERR_CONNECTION_REFUSED", "426 (Upgrade Required)"}
	for _, entry := range entries {
		text, _ := entry.(map[string]any)["message"].(string)
		if !slices.ContainsFunc(away, func(part string) bool { return strings.Contains(text, part) }) {
			t.Errorf("the console says: %s", text)
		}
	}
}
