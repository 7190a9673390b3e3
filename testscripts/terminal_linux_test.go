package testscripts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program at a real terminal of 80 columns. A terminal is four calls to the system here; a
// module for it would be one more that everybody who imports the SDK for Go has to load.
type terminal struct {
	t       *testing.T
	master  *os.File
	slave   *os.File
	command *exec.Cmd
	ended   chan error

	mu     sync.Mutex
	output []byte
	seen   int // how much of it was expected
	grown  chan struct{}
}

// openTerminal opens both ends of a terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// place is a home, a workspace and the extensions of a test.
type place struct{ home, work, extensions string }

func newPlace(t *testing.T, script string) place {
	t.Helper()
	root := t.TempDir()
	p := place{filepath.Join(root, "home"), filepath.Join(root, "work"), filepath.Join(root, "extensions")}
	files := map[string]string{
		filepath.Join(p.home, "readme"): "", filepath.Join(p.work, "notes.txt"): "first line\n",
		filepath.Join(p.work, "script.yaml"): "script: 1\nname: test\nsteps:\n" + script,
		filepath.Join(p.extensions, "companion", "extension.toml"): `name = "companion"
version = "1.0.0"
api_version = "0.4"
entrypoint = { command = "companion" }
[contributes]
tools = ["note", "wait"]
commands = ["greet", "ask", "secret", "present", "branch", "draft", "wipe", "broken"]
hooks = ["before_tool_call"]
notifications = true
confirmations = true
presentation = true
`,
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// octet starts a conversation at a terminal.
func (p place) octet(t *testing.T, environment []string, words ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, ended: make(chan error, 1), grown: make(chan struct{}, 1)}
	term.master, term.slave = openTerminal(t)
	term.command = exec.Command("octet", append([]string{"--model", "scripted:script.yaml"}, words...)...)
	term.command.Dir = p.work
	term.command.Env = append(os.Environ(), append([]string{"HOME=" + p.home, "TERM=xterm-256color", "NO_COLOR=", "GORACE=atexit_sleep_ms=0"}, environment...)...)
	term.command.Stdin, term.command.Stdout, term.command.Stderr = term.slave, term.slave, term.slave
	term.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.command.Start(); err != nil {
		t.Fatal(err)
	}
	go term.read()
	go func() { term.ended <- term.command.Wait() }()
	t.Cleanup(func() {
		_ = term.command.Process.Kill()
		_ = term.slave.Close()
		_ = term.master.Close()
	})
	return term
}

func (term *terminal) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := term.master.Read(buffer)
		term.mu.Lock()
		term.output = append(term.output, buffer[:n]...)
		term.mu.Unlock()
		select {
		case term.grown <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// patience is how long a terminal may take to show something; a test that waits that long has failed.
const patience = 2 * time.Minute

// expect waits until the terminal shows something behind what was expected before.
func (term *terminal) expect(pattern string) {
	term.t.Helper()
	expression := regexp.MustCompile(pattern)
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		term.mu.Lock()
		found := expression.FindIndex(term.output[term.seen:])
		if found != nil {
			term.seen += found[1]
		}
		left := string(term.output[term.seen:])
		term.mu.Unlock()
		if found != nil {
			return
		}
		select {
		case <-term.grown:
		case <-deadline.C:
			term.t.Fatalf("the terminal does not show %q, but %q", pattern, left)
		}
	}
}

func (term *terminal) typed(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// ends waits for the end of the program and demands its code.
func (term *terminal) ends(code int) {
	term.t.Helper()
	select {
	case err := <-term.ended:
		var ended *exec.ExitError
		got := 0
		if errors.As(err, &ended) {
			got = ended.ExitCode()
		} else if err != nil {
			term.t.Fatal(err)
		}
		if got != code {
			term.t.Errorf("octet ended with %d, want %d; the terminal shows %q", got, code, term.all())
		}
	case <-time.After(patience):
		term.t.Fatalf("octet does not end; the terminal shows %q", term.all())
	}
}

func (term *terminal) all() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.output)
}

// prompt is the mark in front of a line, with its colour or without.
const prompt = `>(\x1b\[0?m)? `

const echoes = `
  - text: "You said ${user}."
    repeat: always
`

// A line is edited with history and completion, the answer is shown, Ctrl-D leaves, and the terminal is as it
// was before.
func TestTerminal_conversation(t *testing.T) {
	p := newPlace(t, echoes)
	term := p.octet(t, nil)
	before, err := unix.IoctlGetTermios(int(term.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	term.expect(`octet .* scripted script\.yaml; /help explains`)
	term.expect(prompt)
	term.typed("helo there\x1b[1;5D\x1b[D\x1b[Dl\r")
	term.expect(`You said hello there\.`)
	term.typed("/hel\t\r")
	term.expect(`Write what you want done`)
	term.typed("\x1b[A\x1b[A\r") // the line before the last one
	term.expect(`You said hello there\.`)
	term.typed("look at no\t\r")
	term.expect(`You said look at notes\.txt\.`)
	term.expect(prompt) // only now Ctrl-C is a key
	term.typed("half a line\x03")
	term.expect(`\^C`)
	term.expect(`Ctrl-D or /exit leaves`)
	term.expect(prompt)
	term.typed("\x04")
	term.ends(0)
	after, err := unix.IoctlGetTermios(int(term.slave.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal is left in another mode: %+v, %v", after, err)
	}
	history, err := os.ReadFile(filepath.Join(p.home, ".octet", "history"))
	if err != nil || !bytes.HasPrefix(history, []byte("\"hello there\"\n\"/help \"\n\"hello there\"\n")) {
		t.Errorf("the history is %q, %v", history, err)
	}
	// The next conversation has the history of this one.
	term = p.octet(t, nil, "--continue")
	term.expect(prompt)
	term.typed("\x1b[A\r")
	term.expect(`You said look at notes\.txt\.`)
	term.typed("/exit\r")
	term.ends(0)
}

// What the policy wants asked is asked in place: yes, no with a reason, and Ctrl-C, which cancels the turn.
func TestTerminal_approvals(t *testing.T) {
	p := newPlace(t, `
  - when: {result_of: write}
    text: "The tool: ${result}"
    repeat: always
  - when: {user_contains: write}
    calls: [{name: write, arguments: {path: new.txt, content: new}}]
    repeat: always
`+echoes)
	term := p.octet(t, nil, "--effect-policy", "controlled")
	term.expect(prompt)
	term.typed("write it\r")
	term.expect(`write wants to run \(write\): new\.txt`)
	term.expect(`\+new`) // what would change
	term.expect(`allow\? \[y\]es, once, \[r\] for this run, \[s\] for this session, \[n\]o or why not: `)
	term.typed("not there\r")
	term.expect(`write may not run: .*not there`)
	term.expect(`The tool: .*not there`)
	if _, err := os.Stat(filepath.Join(p.work, "new.txt")); err == nil {
		t.Error("a denied call has written")
	}
	term.typed("write it\r")
	term.expect(`allow\? `)
	term.typed("?\r")
	term.expect(`answer with one of the letters`)
	term.expect(`allow\? `)
	term.typed("\x03")
	term.expect(`cancelled`)
	term.expect(prompt)
	term.typed("write it\r")
	term.expect(`allow\? `)
	term.typed("s\r")
	term.expect(`created new\.txt \+1 -0`)
	term.expect(`The tool: `)
	term.typed("write again\r") // the answer holds for the session
	term.expect(`The tool: `)
	term.expect(prompt)
	term.typed("\x04")
	term.ends(0)
	if strings.Count(term.all(), "wants to run") != 3 {
		t.Errorf("asked %d times, want 3: %q", strings.Count(term.all(), "wants to run"), term.all())
	}
}

// Extensions ask the person: yes or no, and for a text that is not shown. Their actions are confirmed.
func TestTerminal_questionsOfExtensions(t *testing.T) {
	p := newPlace(t, echoes)
	term := p.octet(t, nil, "--extension-dir", p.extensions, "--enable-extension", "companion")
	term.expect(`1 extension`)
	term.typed("/ask\r")
	term.expect(`extension companion asks: shall I\?`)
	term.expect(`it is a test`)
	term.expect(`this cannot be undone`)
	term.expect(`\[y\]es or \[n\]o: `)
	term.typed("y\r")
	term.expect(`confirmed: true`)
	term.typed("/ask\r")
	term.expect(`\[y\]es or \[n\]o: `)
	term.typed("maybe\r")
	term.expect(`confirmed: false`)
	term.typed("/secret\r")
	term.expect(`answer, not shown`)
	term.typed("hush-hush\r")
	term.expect(`given: true, 9 bytes`)
	term.typed("/secret\r")
	term.expect(`answer, not shown`)
	term.typed("\x04")
	term.expect(`given: false`)
	term.typed("/present\r")
	term.expect(`presented`)
	term.typed("/extensions action companion hi\r")
	term.expect(`says hello \["from the action"\]`)
	term.typed("/extensions action companion wipe\r")
	term.expect(`Wipe everything`)
	term.expect(`\[y\]es or \[n\]o: `)
	term.typed("n\r")
	term.expect(`the action was not confirmed`)
	term.typed("/extensions menu companion\r")
	term.expect(`Escape closes`)
	term.typed("\x1b[B\x1b[B\x1b[B\x1b[B\r") // commands in their order: greet is the fifth
	term.expect(`companion says hello \[\]`)
	term.typed("/draft written by another\r") // into the line that comes
	term.expect(`drafted`)
	term.expect(`written by another`)
	term.typed("!\r")
	term.expect(`You said written by another!\.`)
	term.typed("/branch\r")
	term.expect(`branching`)
	term.expect(`success from companion: switched`)
	term.typed("in the fork\r")
	term.expect(`You said in the fork\.`)
	term.typed("/exit\r")
	term.ends(0)
	if strings.Contains(term.all(), "hush-hush") {
		t.Errorf("the secret was shown: %q", term.all())
	}
}

// Ctrl-C cancels the turn that runs, and the conversation goes on.
func TestTerminal_interrupt(t *testing.T) {
	p := newPlace(t, `
  - when: {user_contains: wait}
    calls: [{name: wait, arguments: {}}]
    repeat: always
`+echoes)
	term := p.octet(t, nil, "--extension-dir", p.extensions, "--enable-extension", "companion")
	term.expect(prompt)
	term.typed("wait for me\r")
	term.expect(`info from companion: waiting`)
	term.typed("\x03")
	term.expect(`cancelling; press Ctrl-C again to end the extensions`)
	term.expect(`cancelled`)
	term.typed("still there?\r")
	term.expect(`You said still there\?`)

	// A polite signal ends everything, within the bound for signals, with the code of shells.
	term.typed("wait again\r")
	term.expect(`info from companion: waiting`)
	if err := term.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.ends(128 + int(syscall.SIGTERM))
}

// Without colours there are none, and a simple terminal gets no escape at all.
func TestTerminal_colours(t *testing.T) {
	colours := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, c := range []struct {
		environment     []string
		colours, escape bool
	}{
		{nil, true, true},
		{[]string{"NO_COLOR=1"}, false, true},
		{[]string{"TERM=dumb"}, false, false},
	} {
		p := newPlace(t, echoes)
		term := p.octet(t, c.environment)
		term.expect(prompt)
		term.typed("hello\n")
		term.expect(`You said hello\.`)
		term.typed("/nothing\n")
		term.expect(`octet:.* there is no command "nothing"`)
		term.typed("/exit\n")
		term.ends(0)
		if got := colours.MatchString(term.all()); got != c.colours {
			t.Errorf("%v: colours %v, want %v: %q", c.environment, got, c.colours, term.all())
		}
		if got := strings.Contains(term.all(), "\x1b"); got != c.escape {
			t.Errorf("%v: escapes %v, want %v: %q", c.environment, got, c.escape, term.all())
		}
	}
}

// MAN-SURFACE-001: the menu of extensions writes the user's list, by keys.
func TestTerminal_extensionsMenu(t *testing.T) {
	p := newPlace(t, echoes)
	if err := os.MkdirAll(filepath.Join(p.home, ".octet"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.extensions, filepath.Join(p.home, ".octet", "extensions")); err != nil {
		t.Fatal(err)
	}
	term := p.octet(t, nil)
	term.expect(prompt)
	term.typed("/extensions\r")
	term.expect(`\[ \] companion 1\.0\.0`)
	term.typed("\r")
	term.expect(`companion is enabled`)
	term.expect(`\[x\] companion 1\.0\.0`)
	term.typed("\x1b")
	term.expect(`/reload makes the change count`)
	term.typed("/reload\r")
	term.expect(`companion: ready, generation 1`)
	term.typed("/greet you\r")
	term.expect(`says hello \["you"\]`)
	term.typed("/exit\r")
	term.ends(0)
	text, err := os.ReadFile(filepath.Join(p.home, ".octet", "config.toml"))
	if err != nil || string(text) != "enabled_extensions = [\"companion\"]\n" {
		t.Errorf("the configuration is %q, %v", text, err)
	}
}
