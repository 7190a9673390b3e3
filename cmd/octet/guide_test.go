package main_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/octet-dev/octet/cmd/octet/cli"
)

const (
	guide       = "../../docs/guide/octet-serve.md"
	shownPort   = "50080"
	shellBlocks = 7
)

// TestMain lets the binary of the test be octet under that name.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "octet" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// blocks are the code blocks of the guide by language, in order.
func blocks(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	parts := strings.Split(string(text), "\n```")
	for i := 1; i < len(parts); i += 2 {
		language, block, _ := strings.Cut(parts[i], "\n")
		found[language] = append(found[language], block+"\n")
	}
	if len(parts)%2 == 0 {
		t.Fatal("a code block of the guide has no end")
	}
	return found
}

// freePort is one below those that a system hands out itself: nobody is given it before the guide uses it.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(14000 + rand.IntN(6000))
		if listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestGuide_shellBlocks does what a reader does, in order, at a port that is free.
func TestGuide_shellBlocks(t *testing.T) {
	shell := blocks(t)["sh"]
	if len(shell) != shellBlocks {
		t.Fatalf("the guide has %d blocks of sh, want %d", len(shell), shellBlocks)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(own, filepath.Join(bin, "octet")); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	script := "set -eu -o pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n"
	for i, block := range shell {
		script += fmt.Sprintf("echo; echo '== %d'\n", i) + block
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(script, shownPort, port))
	command.Dir = folder
	command.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+folder)
	output, err := command.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(folder, "serve.log"))
		t.Fatalf("%v\n%s\n%s", err, output, log)
	}
	for i, want := range []string{
		`"type":"turn_terminal"`, `"auth_required":true`, "401", "<title>A client</title>", "withdrawn", "the exit code is 5", "ended in order",
	} {
		_, part, _ := strings.Cut(string(output), fmt.Sprintf("== %d\n", i))
		part, _, _ = strings.Cut(part, "\n== ")
		if !strings.Contains(part, want) {
			t.Errorf("block %d prints %q, want %q", i, part, want)
		}
	}
	for _, name := range []string{"sessions.db", "ledger.db"} {
		if _, err := os.Stat(filepath.Join(folder, "data", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestGuide_goBlock runs the program that embeds the server.
func TestGuide_goBlock(t *testing.T) {
	programs := blocks(t)["go"]
	if len(programs) != 1 {
		t.Fatalf("the guide has %d blocks of go, want 1", len(programs))
	}
	// Within the module, so that nothing has to be resolved anew.
	folder, err := os.MkdirTemp(".", "_guide")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "main.go")
	if err := os.WriteFile(file, []byte(programs[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	var wrong bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", "run", file)
	command.Stderr = &wrong
	if output, err := command.Output(); err != nil || string(output) != "true\n" {
		t.Errorf("it prints %q: %v\n%s", output, err, wrong.String())
	}
}
