package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withDesk adds the extension desk to a place.
func withDesk(t *testing.T, p place) place {
	t.Helper()
	dir := filepath.Join(p.extensions, "desk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest := `name = "desk"
version = "1.0.0"
api_version = "0.4"
entrypoint = { command = "desk" }
[contributes]
commands = ["offered", "line", "tty", "hold"]
shortcuts = [{ name = "desk.press", key = "ctrl+t", description = "Presses" }, { name = "desk.never", key = "ctrl+c", description = "Is taken" }]
notifications = true
`
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// At a terminal an extension completes what is typed, is told of its key, and writes into the line.
func TestTerminal_lineOfExtensions(t *testing.T) {
	p := withDesk(t, newPlace(t, echoes))
	term := p.octet(t, nil, "--extension-dir", p.extensions, "--enable-extension", "desk")
	term.expect(prompt)
	term.typed("/offered\r")
	term.expect(`offered: .*autocomplete autocomplete_edit_v1.*composer.*session_control_v1.*shortcuts.*terminal_handoff`)
	term.expect(prompt)
	term.typed("ask @bo\t")
	term.expect(`ask @bob\(\)`)
	term.typed("1\r") // between the brackets
	term.expect(`You said ask @bob\(1\)\.`)
	term.expect(prompt)
	term.typed("ask @a\t")
	term.expect(`@adam a person +@adele a person`)
	term.expect(`ask @a`)
	term.typed("\t")
	term.expect(`ask @adam`)
	term.typed("\t")
	term.expect(`ask @adele`)
	term.typed("\r")
	term.expect(`You said ask @adele\.`)
	term.expect(prompt)
	term.typed("look at no\t\r") // of the host, where no extension has anything
	term.expect(`You said look at notes\.txt\.`)
	term.expect(prompt)
	term.typed("\x14")
	term.expect(`info from desk: the key was pressed`)
	term.typed("/line\r")
	term.expect(`the line is drafted`)
	term.expect(prompt + `drafted`)
	term.typed("\r")
	term.expect(`You said drafted\.`)
	term.typed("/help\r")
	term.expect(`ctrl\+t +Presses \(desk\)`)
	term.typed("/exit\r")
	term.ends(0)
	if all := term.all(); strings.Contains(all, "Is taken") {
		t.Errorf("a key of the editor was given away: %q", all)
	}
}

// The terminal is lent to an extension, which reads from it alone; it comes back when it is released, and when
// the conversation that it was lent for is no longer in front.
func TestTerminal_isLent(t *testing.T) {
	p := withDesk(t, newPlace(t, echoes))
	term := p.octet(t, nil, "--extension-dir", p.extensions, "--enable-extension", "desk")
	term.expect(prompt)
	term.typed("/tty\r")
	term.expect(`80 columns, 24 rows; your name\? `)
	if strings.Contains(term.all(), "held back") {
		t.Errorf("the host wrote to a terminal that it had lent: %q", term.all())
	}
	term.typed("Ada\n")
	term.expect(`info from desk: held back`)
	term.expect(`the name is Ada`)
	term.expect(prompt)
	term.typed("still here\r")
	term.expect(`You said still here\.`)
	term.expect(prompt)
	term.typed("/hold\r")
	term.expect(`holding`) // it was held back until then
	term.expect(`an extension has put another conversation in front`)
	term.expect(`info from desk: lost because the conversation in front has ended`)
	term.typed("and now\r")
	term.expect(`You said and now\.`)
	term.typed("/exit\r")
	term.ends(0)
}

// With piped lines, and for one prompt, nothing of it is offered.
func TestTerminal_lineIsOfferedAtATerminalAlone(t *testing.T) {
	p := withDesk(t, newPlace(t, echoes))
	command := exec.Command("octet", "--model", "scripted:script.yaml", "--extension-dir", p.extensions, "--enable-extension", "desk")
	command.Dir, command.Env = p.work, append(os.Environ(), "HOME="+p.home)
	command.Stdin = strings.NewReader("/offered\n/tty\n")
	output, _ := command.CombinedOutput()
	_, offered, _ := strings.Cut(string(output), "offered: ")
	offered, _, _ = strings.Cut(offered, "\n")
	if !strings.Contains(offered, "session_control_v1") {
		t.Errorf("nothing was offered: %s", output)
	}
	for _, feature := range []string{"composer", "autocomplete", "terminal_handoff", "shortcuts"} {
		if strings.Contains(offered, feature) {
			t.Errorf("%s is offered without a terminal: %s", feature, output)
		}
	}
}
