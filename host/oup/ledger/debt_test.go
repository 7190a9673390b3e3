package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// clock has what is planned, until it is told to go on.
type clock struct {
	delay   time.Duration
	planned func()
}

func (c *clock) after(delay time.Duration, do func()) func() bool {
	c.delay, c.planned = delay, do
	return func() bool { planned := c.planned != nil; c.planned = nil; return planned }
}

// ring runs what is planned, and returns how long it waited.
func (c *clock) ring(t *testing.T) time.Duration {
	t.Helper()
	do, delay := c.planned, c.delay
	if do == nil {
		t.Fatal("nothing is planned")
	}
	c.planned = nil
	do()
	return delay
}

// The trigger stands for a disk that is full.
const (
	fill  = `CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'full'); END`
	empty = `DROP TRIGGER full`
)

// TestOwe: what could not be stored is tried again by itself, and is told in front of what comes later.
func TestOwe_triesAgainByItself(t *testing.T) {
	directory := t.TempDir()
	c := &clock{}
	l, err := ledger.Options{After: c.after}.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	path := filepath.Join(directory, "ledger.db")
	turn := ledger.Subject{Kind: "turn", ID: "1"}
	begun, ended := event("s", 1), event("s", 2)
	begun.Subject, begun.Step = turn, ledger.Begins
	ended.Subject, ended.Step = turn, ledger.Ends
	add(t, l, begun)
	reader, err := l.Follow(t.Context(), "s", &ledger.Cursor{Stream: "s", Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()

	execute(t, path, fill)
	if _, err := l.Append(t.Context(), ended); !errors.Is(err, ledger.ErrDisk) {
		t.Fatalf("a full disk: %v", err)
	}
	l.Owe(ended)
	l.Owe(event("s", 3))
	l.Owe(event("other", 1))
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 16} {
		want(t, "the wait", c.ring(t), wait*time.Second)
	}
	_, err = l.Append(t.Context(), event("s", 4))
	trouble(t, err, ledger.ErrDisk)
	want(t, "owed", fmt.Sprint(l.Owes("s"), l.Owes("other"), l.Owes("none")), "true true false")

	execute(t, path, empty)
	c.ring(t)
	page, err := reader.Next(t.Context())
	want(t, "told", fmt.Sprint(numbers(page), err, string(page[0].Body)+string(page[1].Body)), `[2 3] <nil>{"n":2}{"n":3}`)
	want(t, "owed", fmt.Sprint(l.Owes("s"), l.Owes("other"), c.planned != nil), "false false false")
	want(t, "the other stream goes on", numbers(add(t, l, event("other", 2))), []int64{2})
}

// TestOwe_keepsTheOrder: what is owed comes first, whoever is faster, and an end that is there already is no second one.
func TestOwe_keepsTheOrder(t *testing.T) {
	c := &clock{}
	l, err := ledger.Options{After: c.after}.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	turn := ledger.Subject{Kind: "turn", ID: "1"}
	both, again := event("s", 1), event("s", 2)
	both.Subject, both.Step = turn, ledger.Begins|ledger.Ends
	again.Subject, again.Step = turn, ledger.Ends
	add(t, l, both)
	l.Owe(again, event("s", 3), again, event("s", 4))
	want(t, "the next one", numbers(add(t, l, event("s", 5))), []int64{4})
	list, _ := replay(t, l, "s", 0)
	bodies := ""
	for _, e := range list {
		bodies += string(e.Body)
	}
	want(t, "told", bodies, `{"n":1}{"n":3}{"n":4}{"n":5}`)

	// What is forgotten is owed to nobody, and a closed ledger owes nothing.
	l.Owe(event("s", 6))
	if err := l.Forget(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	want(t, "owed of what is forgotten", l.Owes("s"), false)
	want(t, "goes on", numbers(add(t, l, event("s", 7))), []int64{5})
	l.Owe(event("s", 8))
	_ = l.Close()
	want(t, "planned behind the end", c.planned != nil, false)
	l.Owe(event("s", 9))
	want(t, "owed behind the end", fmt.Sprint(l.Owes("s"), c.planned != nil), "false false")
}
