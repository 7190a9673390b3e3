package session_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// The test binary is its own writer process: asked so by the environment, it runs one of these instead of
// the tests.
const childVariable = "OCTET_TEST_SESSION_CHILD"

var children = map[string]func(ctx context.Context, words []string) error{
	"append": appendForever,
	"open":   openOnce,
}

func TestMain(m *testing.M) {
	name, words, _ := strings.Cut(os.Getenv(childVariable), " ")
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](context.Background(), strings.Fields(words)); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// child is a command that runs one of children.
func child(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(words, " "))
	cmd.Stderr = os.Stderr
	return cmd
}

// appendForever writes entries to a session, numbered from the first free number, and says each id when
// the store has acknowledged it.
func appendForever(ctx context.Context, words []string) error {
	store, err := session.Open(ctx, words[0])
	if err != nil {
		return err
	}
	s, err := store.Begin(ctx, words[1])
	if err != nil {
		return err
	}
	if orphan := s.Orphan(); orphan != nil {
		fmt.Println("orphan", orphan.Run)
	}
	receipt, err := s.Commit(ctx, session.Batch{Start: session.RunOfFirst, Entries: []session.Entry{said(conversation.User, "start")}})
	if err != nil {
		return err
	}
	fmt.Println("run", receipt.Run)
	// Entries of several sizes: some fill pages of their own.
	for n := 0; ; n++ {
		text := strconv.Itoa(n) + strings.Repeat("x", n%7*1500)
		ids, err := s.Append(ctx, said(conversation.Assistant, text), said(conversation.Tool, text))
		if err != nil {
			return err
		}
		fmt.Println("entries", ids[0], ids[1], len(text))
	}
}

// openOnce opens a store, reads a session and tries to write to it.
func openOnce(ctx context.Context, words []string) error {
	store, err := session.Open(ctx, words[0])
	if err == nil {
		_, err = store.Create(ctx, session.New{})
	}
	fmt.Println("write:", err)
	reader, err := session.Options{}.OpenReader(ctx, words[0])
	if err != nil {
		return err
	}
	if len(words) > 1 {
		branch, err := reader.Branch(ctx, words[1])
		fmt.Println("read:", strings.Join(plain(branch), ","), err)
		_, err = reader.Create(ctx, session.New{})
		fmt.Println("write by a reader:", err)
	}
	return reader.Close()
}

// lines yields what a child says until it ends.
func lines(t *testing.T, cmd *exec.Cmd) *bufio.Scanner {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return bufio.NewScanner(out)
}
