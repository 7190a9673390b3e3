package tap_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/transcript"
)

// TestMain lets this program play the tapped command: it writes back what it reads, and more.
func TestMain(m *testing.M) {
	switch os.Getenv("TAP_TEST") {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "deaf":
		_, _ = io.WriteString(os.Stdout, "bye\n")
		os.Exit(7)
	case "stays":
		_, _ = io.WriteString(os.Stdout, "here\n")
		<-time.After(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		_, _ = io.WriteString(os.Stdout, "here\n")
		<-time.After(time.Hour)
	default:
		os.Exit(m.Run())
	}
}

func command(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "TAP_TEST="+role)
	return cmd
}

// Every byte passes, whatever it is: long lines, no line feed at the end, no text at all.
func TestRun_passesBytes(t *testing.T) {
	sent := []byte("{\"a\":1}\n\n\xff\x00\r\n" + strings.Repeat("x", 3<<20) + "\nno line feed")
	var got bytes.Buffer
	var kept bytes.Buffer
	code, err := tap.Run(tap.Options{Command: command(t, "echo"), Stdin: bytes.NewReader(sent), Stdout: &got, Stderr: os.Stderr, Transcript: &kept})
	if err != nil || code != 0 {
		t.Fatalf("got code %d, %v", code, err)
	}
	if !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("%d bytes came back, %d were sent, or they differ", got.Len(), len(sent))
	}
	path := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(path, kept.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, frames, err := transcript.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	// Five lines each way; of the long one the beginning is kept.
	if len(frames) != 10 {
		t.Errorf("the transcript has %d frames, want 10", len(frames))
	}
}

// The end of the command is the end of the tap, though the host keeps its pipe open.
func TestRun_endsWithItsCommand(t *testing.T) {
	host, keep := io.Pipe()
	defer func() { _ = keep.Close() }()
	var got bytes.Buffer
	code, err := tap.Run(tap.Options{Command: command(t, "deaf"), Stdin: host, Stdout: &got, Stderr: os.Stderr})
	if err != nil || code != 7 || got.String() != "bye\n" {
		t.Errorf("got code %d, %q, %v, want 7 and its last words", code, got.String(), err)
	}
}

// A tap that is told to stop takes its command down, though the host says nothing, and has the code of a shell.
func TestRun_stops(t *testing.T) {
	for role, want := range map[string]int{"stays": 128 + int(syscall.SIGTERM), "stubborn": 128 + int(syscall.SIGKILL)} {
		host, keep := io.Pipe()
		heard, said := io.Pipe()
		stop := make(chan struct{})
		go func() {
			_, _ = io.ReadFull(heard, make([]byte, len("here\n")))
			close(stop)
			_, _ = io.Copy(io.Discard, heard)
		}()
		code, err := tap.Run(tap.Options{Command: command(t, role), Stdin: host, Stdout: said, Stderr: os.Stderr, Stop: stop})
		if err != nil || code != want {
			t.Errorf("%s: got code %d, %v, want %d", role, code, err, want)
		}
		_, _ = keep.Close(), said.Close()
	}
}

// Findings of both sides come in the order of frames.
func TestRun_judges(t *testing.T) {
	frame := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"0.4","octet_version":"0.0.1"}}` + "\n"
	var got bytes.Buffer
	var rules []string
	_, err := tap.Run(tap.Options{
		Command: command(t, "echo"), Stdin: strings.NewReader(frame), Stdout: &got, Stderr: os.Stderr,
		Found: func(f tap.Finding) { rules = append(rules, f.By.String()+" "+f.Rule) },
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(rules, "\n")
	if !strings.HasPrefix(text, "host EXT04-INIT-009\n") || !strings.Contains(text, "\nextension EXT04-ORDER-001") {
		t.Errorf("got\n%s", text)
	}
}
