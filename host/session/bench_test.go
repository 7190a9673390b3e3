package session_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// benchEntries is how long the conversation of the benchmarks is.
const benchEntries = 100_000

// BenchmarkAppend tells what one acknowledged entry costs: one transaction that is on disk.
func BenchmarkAppend(b *testing.B) {
	s := benchSession(b)
	entry := said(conversation.Assistant, strings.Repeat("w", 500))
	for b.Loop() {
		if _, err := s.Append(b.Context(), entry); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLong tells what a conversation of 100,000 entries costs: to be written in batches of 100, and
// to be read.
func BenchmarkLong(b *testing.B) {
	batch := make([]session.Entry, 100)
	for i := range batch {
		batch[i] = said(conversation.Assistant, strings.Repeat("w", 500))
	}
	s := benchSession(b)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			for range benchEntries / len(batch) {
				if _, err := s.Append(b.Context(), batch...); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			branch, err := s.Branch(b.Context())
			if err != nil || len(branch) < benchEntries {
				b.Fatal(len(branch), err)
			}
		}
	})
}

func benchSession(b *testing.B) *session.Session {
	b.Helper()
	store, err := session.Open(b.Context(), filepath.Join(b.TempDir(), "sessions.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	info, err := store.Create(b.Context(), session.New{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Begin(b.Context(), info.ID)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}
