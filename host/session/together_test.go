package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// TestOpen_byManyAtOnce lets many programs make the same store and write to it at the same time.
func TestOpen_byManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	const programs, batches = 8, 10
	done := make(chan error, programs)
	for program := range programs {
		go func() {
			done <- func() error {
				store, err := session.Open(t.Context(), path)
				if err != nil {
					return err
				}
				defer func() { _ = store.Close() }()
				info, err := store.Create(t.Context(), session.New{Name: fmt.Sprint(program)})
				if err != nil {
					return err
				}
				s, err := store.Begin(t.Context(), info.ID)
				if err != nil {
					return err
				}
				defer func() { _ = s.Close() }()
				for n := range batches {
					if _, err := s.Append(t.Context(), said(conversation.User, fmt.Sprintf("%d of %d", n, program))); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range programs {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	store := openAt(t, path)
	list, err := store.List(t.Context(), session.Filter{})
	if err != nil || len(list) != programs {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for _, info := range list {
		branch, err := store.Branch(t.Context(), info.ID)
		if err != nil {
			t.Fatal(err)
		}
		for n, text := range plain(branch) {
			want(t, "text", text, fmt.Sprintf("%d of %s", n, info.Name))
		}
		want(t, "entries", len(branch), batches)
	}
}

// TestSession_isUsedByManyAtOnce appends to one session from many goroutines: each batch stays together.
func TestSession_isUsedByManyAtOnce(t *testing.T) {
	s := begin(t, open(t))
	const writers = 16
	done := make(chan error, writers)
	for writer := range writers {
		go func() {
			_, err := s.Append(t.Context(), said(conversation.User, fmt.Sprintf("%d a", writer)), said(conversation.User, fmt.Sprintf("%d b", writer)))
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	all := texts(t, s)
	want(t, "entries", len(all), 2*writers)
	for n := 0; n+1 < len(all); n += 2 {
		if strings.TrimSuffix(all[n], " a") != strings.TrimSuffix(all[n+1], " b") {
			t.Errorf("a batch was torn: %q, then %q", all[n], all[n+1])
		}
	}
}

// TestAppend_cancelledAtAnyMomentIsWholeOrNothing ends the context of appends at all sorts of moments. The
// session stays usable, and each append is there exactly if it was acknowledged.
func TestAppend_cancelledAtAnyMomentIsWholeOrNothing(t *testing.T) {
	s := begin(t, open(t))
	acknowledged := 0
	for n := range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*3*time.Microsecond)
		_, err := s.Append(ctx, said(conversation.User, "a"), said(conversation.User, "b"))
		cancel()
		switch {
		case err == nil:
			acknowledged += 2
		case !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("append %d: %v", n, err)
		}
	}
	appendTexts(t, s, "end")
	want(t, "entries", len(texts(t, s)), acknowledged+1)
}

// TestLease_hasOneHolderHoweverFastItIsPassedOn takes and gives back one lease from many goroutines. A lock
// on a file that was removed meanwhile is no lease.
func TestLease_hasOneHolderHoweverFastItIsPassedOn(t *testing.T) {
	store := open(t)
	var holders, taken atomic.Int64
	const rivals, attempts = 8, 2000
	done := make(chan error, rivals)
	for range rivals {
		go func() {
			done <- func() error {
				for range attempts {
					release, err := store.Hold("session")
					if errors.Is(err, session.ErrBusy) {
						continue
					}
					if err != nil {
						return err
					}
					taken.Add(1)
					if count := holders.Add(1); count > 1 {
						return fmt.Errorf("%d hold the lease at once", count)
					}
					runtime.Gosched()
					holders.Add(-1)
					if err := release(); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range rivals {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if taken.Load() < rivals {
		t.Errorf("the lease was taken %d times only", taken.Load())
	}
}

func TestReader_exportsWhereTheOwnerKeyIsLost(t *testing.T) {
	store, id := damaged(t, func(path, _ string) {
		var root int64
		// The index of the table is as good as the table for whoever looks for a key.
		for _, name := range []string{"meta", "sqlite_autoindex_meta_1"} {
			if err := database(t, path).QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = ?", name).Scan(&root); err != nil {
				t.Fatal(err)
			}
			overwritePage(t, path, root)
		}
	}, func(path string) *session.Store {
		_, err := session.Open(t.Context(), path)
		trouble(t, err, session.ErrDamaged, path)
		return reader(t, path)
	})
	var out bytes.Buffer
	if err := store.Export(t.Context(), id, &out, session.JSONL); err != nil || strings.Count(out.String(), `"record":"entry"`) != 5 {
		t.Errorf("got %v, %d bytes", err, out.Len())
	}
}

// overwritePage destroys one page of a file.
func overwritePage(t *testing.T, path string, page int64) {
	t.Helper()
	const size = 4096
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt(bytes.Repeat([]byte{0xff}, size), (page-1)*size)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
