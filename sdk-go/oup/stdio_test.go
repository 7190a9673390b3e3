package oup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// playVariable makes this test binary play a server process of the named kind.
const playVariable = "OCTET_TEST_OUP_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(playVariable); kind != "" {
		os.Exit(playServer(kind))
	}
	os.Exit(m.Run())
}

// Kinds of servers that do not end by themselves.
const (
	deaf   = "deaf"
	floods = "floods"
)

// playServer answers hello, and then does what the kind of server does at the next request.
func playServer(kind string) int {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return 3
		}
		if r.Method == "client_hello" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%q,"result":{"type":"server_hello","transport":"stdio","client_transport":null,"client":null,"capabilities":%s}}`+"\r\n", r.ID, caps)
			continue
		}
		switch kind {
		case "echo":
			fmt.Fprintln(os.Stderr, "on standard error")
			fmt.Printf(`{"jsonrpc":"2.0","id":%q,"result":{}}`+"\n", r.ID)
		case "dies":
			fmt.Print(`{"jsonrpc":"2.0","id":"2","resu`)
			return 7
		case "prints":
			fmt.Println("hello, I am a server")
		case floods:
			for {
				if _, err := fmt.Print(strings.Repeat("x", 1<<16)); err != nil {
					return 1
				}
			}
		case "talks to the end":
			fmt.Printf(`{"jsonrpc":"2.0","id":%q,"result":{}}`+"\n", r.ID)
			for lines.Scan() {
			}
			fmt.Print(strings.Repeat("x", 4<<20))
			fmt.Fprintln(os.Stderr, "in order")
			return 0
		case deaf: // to the end of its input, and to signals that ask
			signal.Ignore(os.Interrupt)
			fmt.Printf(`{"jsonrpc":"2.0","id":%q,"result":{}}`+"\n", r.ID)
			select {}
		}
	}
	return 0
}

func serverProcess(t *testing.T, kind string, stderr io.Writer) *Client {
	t.Helper()
	waits := stages{input: time.Minute, ask: time.Minute} // who ends by itself may take its time
	if kind == deaf || kind == floods {
		waits = stages{input: time.Second / 2, ask: time.Second / 4}
	}
	client, err := Stdio(t.Context(), []string{os.Args[0]}, Options{
		Environment: append(os.Environ(), playVariable+"="+kind, "GORACE=atexit_sleep_ms=0"), Stderr: stderr, stages: waits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestStdio_talksAndCloses(t *testing.T) {
	var stderr bytes.Buffer
	client := serverProcess(t, "echo", &stderr)
	if result, err := client.Call(t.Context(), "x", nil); err != nil || string(result) != "{}" {
		t.Errorf("%s, %v", result, err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if stderr.String() != "on standard error\n" {
		t.Errorf("standard error says %q", stderr.String())
	}
	if _, err := client.Call(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("behind the end: %v", err)
	}
}

// TestStdio_endOfTheProcess: everything that waits fails, and says how the process ended; half a line is none.
func TestStdio_endOfTheProcess(t *testing.T) {
	client := serverProcess(t, "dies", nil)
	_, err := client.Call(t.Context(), "x", nil)
	var lost *Disconnected
	if !errors.As(err, &lost) || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("got %v", err)
	}
	<-client.Done()
	if _, err := client.Call(t.Context(), "x", nil); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("behind the end: %v", err)
	}
}

func TestStdio_whatIsNoFrame(t *testing.T) {
	for _, kind := range []string{"prints", floods} {
		client := serverProcess(t, kind, nil)
		if _, err := client.Call(t.Context(), "x", nil); !isProtocol(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestStdio_whatIsSaidAtTheEnd must not keep a process from its end, though nobody reads it.
func TestStdio_whatIsSaidAtTheEnd(t *testing.T) {
	var stderr bytes.Buffer
	client := serverProcess(t, "talks to the end", &stderr)
	if _, err := client.Call(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	if stderr.String() != "in order\n" {
		t.Errorf("it says %q", stderr.String())
	}
}

func TestStdio_endsAProcessThatStays(t *testing.T) {
	client := serverProcess(t, deaf, nil)
	if _, err := client.Call(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(before); took < 3*time.Second/4 || took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestStdio_noSuchProgram(t *testing.T) {
	if _, err := Stdio(t.Context(), []string{"/nothing/there"}, Options{}); err == nil || !strings.Contains(err.Error(), `"/nothing/there"`) {
		t.Errorf("got %v", err)
	}
	if _, err := Stdio(t.Context(), nil, Options{}); err == nil {
		t.Error("no program was started")
	}
	if _, err := Stdio(t.Context(), []string{"true"}, Options{}); err == nil || !strings.Contains(err.Error(), "exit status 0") {
		t.Errorf("a program that says nothing: %v", err)
	}
}
