package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// TestSuccessor: numbers of a ledger that is gone are not used again by the one in its place.
func TestSuccessor_beginsAboveTheOtherOne(t *testing.T) {
	born := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	options := ledger.Options{Successor: true, Now: func() time.Time { return born }}
	directory := t.TempDir()
	l, err := options.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	window, err := l.Window(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "an empty stream", window, ledger.Window{Stream: "s", Oldest: born.UnixMilli() + 1, Head: born.UnixMilli()})
	expired := func(l *ledger.Ledger) {
		t.Helper()
		for _, seq := range []int64{0, 1, 3} {
			if _, err := l.Follow(t.Context(), "s", &ledger.Cursor{Stream: "s", Seq: seq}); !errors.Is(err, ledger.ErrExpired) {
				t.Errorf("cursor %d: got %v", seq, err)
			}
		}
	}
	expired(l)
	live, err := l.Follow(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "numbers", numbers(add(t, l, event("s", 1), event("s", 2))), []int64{born.UnixMilli() + 1, born.UnixMilli() + 2})
	if page, err := live.Next(t.Context()); err != nil || len(page) != 2 {
		t.Errorf("who follows the stream got %v, %v", page, err)
	}
	live.Close()
	expired(l)
	_ = l.Close()

	// It stays what it is, and one that has streams becomes no successor.
	born = born.Add(time.Hour)
	if l, err = options.Open(t.Context(), directory); err != nil {
		t.Fatal(err)
	}
	want(t, "one more", numbers(add(t, l, event("s", 3), event("other", 1))), []int64{born.Add(-time.Hour).UnixMilli() + 3, born.Add(-time.Hour).UnixMilli() + 1})
	_ = l.Close()
	first := t.TempDir()
	l = open(t, first)
	add(t, l, event("s", 1))
	_ = l.Close()
	if l, err = options.Open(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	want(t, "a ledger that goes on", numbers(add(t, l, event("s", 2), event("other", 1))), []int64{2, 1})
	_ = l.Close()
}
