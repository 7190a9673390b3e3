package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// open opens a ledger that is closed with the test.
func open(t testing.TB, directory string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(context.Background(), directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// event is one without a subject.
func event(stream string, n int) ledger.Event {
	return ledger.Event{Stream: stream, Method: "warning", Body: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// about is an event of a turn.
func about(stream, turn string, step ledger.Step) ledger.Event {
	return ledger.Event{Stream: stream, Method: "projection/envelope", Subject: ledger.Subject{Kind: "turn", ID: turn}, Step: step, Body: []byte(`{}`)}
}

func add(t testing.TB, l *ledger.Ledger, events ...ledger.Event) []ledger.Stored {
	t.Helper()
	stored, err := l.Append(t.Context(), events...)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// replay reads what is kept behind a position; -1: all.
func replay(t testing.TB, l *ledger.Ledger, stream string, after int64) (list []ledger.Stored, w ledger.Window) {
	t.Helper()
	var cursor *ledger.Cursor
	if after >= 0 {
		cursor = &ledger.Cursor{Stream: stream, Seq: after}
	}
	w, err := l.Replay(t.Context(), stream, cursor, func(e ledger.Stored) error {
		list = append(list, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, w
}

func numbers(list []ledger.Stored) (seqs []int64) {
	for _, e := range list {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

func want[T any](t testing.TB, what string, got, wanted T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", wanted); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// TestNumbers_riseAndAreNeverUsedAgain covers OUP-LEDGER-001 and OUP-LEDGER-006.
func TestNumbers_riseAndAreNeverUsedAgain(t *testing.T) {
	directory := t.TempDir()
	l := open(t, directory)
	want(t, "first", numbers(add(t, l, event("a", 1), event("b", 1), event("a", 2))), []int64{1, 1, 2})
	want(t, "refused", fmt.Sprint(l.Append(t.Context(), event("a", 3), about("a", "t", ledger.Within))), `[] turn "t" of stream "a": the subject has not begun in this stream`)
	if err := l.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	list, w := replay(t, l, "a", 2)
	want(t, "forgotten", numbers(list), nil)
	want(t, "window", w, ledger.Window{Stream: "a", Oldest: 3, Head: 2})
	want(t, "behind a delete", numbers(add(t, l, event("a", 3))), []int64{3})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, directory)
	want(t, "behind a restart", numbers(add(t, again, event("a", 4), event("b", 2))), []int64{4, 2})
	list, _ = replay(t, again, "a", -1)
	want(t, "kept", numbers(list), []int64{3, 4})
	want(t, "body", string(list[0].Body), `{"n":3}`)
}

// TestAppend_isAllOrNothing covers OUP-LEDGER-003: what belongs together is there together or not at all,
// and a refusal does not touch those that share the commit.
func TestAppend_isAllOrNothing(t *testing.T) {
	l := open(t, t.TempDir())
	var tasks sync.WaitGroup
	for n := range 64 {
		tasks.Go(func() {
			good := n%2 == 0
			turn := fmt.Sprintf("%d", n)
			events := []ledger.Event{about("s", turn, ledger.Begins), event("s", n), about("s", turn, ledger.Ends)}
			if !good {
				events = append(events, about("s", turn, ledger.Within))
			}
			stored, err := l.Append(context.Background(), events...)
			if good != (err == nil) || good && (stored[2].Seq != stored[0].Seq+2 || stored[2].Number != 2) || !good && !errors.Is(err, ledger.ErrEnded) {
				t.Errorf("%d: %v %v", n, numbers(stored), err)
			}
		})
	}
	tasks.Wait()
	list, w := replay(t, l, "s", 0)
	want(t, "head", w.Head, 32*3)
	for i, e := range list {
		want(t, "seq", e.Seq, int64(i+1))
		want(t, "turn of its neighbour", list[i-i%3].Subject, list[i-i%3+2].Subject)
	}
}

func TestSubjects_beginOnceAndEndOnce(t *testing.T) {
	directory := t.TempDir()
	l := open(t, directory)
	list := add(t, l, about("s", "t", ledger.Begins), about("s", "u", ledger.Begins|ledger.Ends), about("s", "t", ledger.Within))
	want(t, "numbers", fmt.Sprint(list[0].Number, list[1].Number, list[2].Number), "1 1 2")
	add(t, l, about("other", "t", ledger.Begins)) // ids of one stream are nothing to another
	refused := func(l *ledger.Ledger, kind error, state ledger.State, e ledger.Event) {
		t.Helper()
		_, err := l.Append(t.Context(), e)
		var subject *ledger.SubjectError
		if !errors.Is(err, kind) || !errors.As(err, &subject) {
			t.Fatalf("got %v, want %v", err, kind)
		}
		want(t, "state", subject.State, state)
	}
	refused(l, ledger.ErrUsed, ledger.State{Begun: 1, Number: 2}, about("s", "t", ledger.Begins))
	refused(l, ledger.ErrUsed, ledger.State{Begun: 2, Ended: 2, Number: 1}, about("s", "u", ledger.Begins))
	refused(l, ledger.ErrEnded, ledger.State{Begun: 2, Ended: 2, Number: 1}, about("s", "u", ledger.Ends))
	refused(l, ledger.ErrNotBegun, ledger.State{}, about("s", "v", ledger.Ends))
	state, found, err := l.State(t.Context(), "s", ledger.Subject{Kind: "turn", ID: "u"})
	want(t, "state", fmt.Sprint(state, found, err), "{2 2 1} true <nil>")
	_, found, err = l.State(t.Context(), "nowhere", ledger.Subject{Kind: "turn", ID: "u"})
	want(t, "unknown", fmt.Sprint(found, err), "false <nil>")
	_ = l.Close()

	again := open(t, directory)
	running, err := again.Running(t.Context())
	want(t, "running", fmt.Sprint(running, err), "[{s {turn t} {1 0 2}} {other {turn t} {1 0 1}}] <nil>")
	if err := again.Forget(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	want(t, "number goes on", add(t, again, about("s", "t", ledger.Ends))[0].Number, 3)
	running, err = again.Running(t.Context())
	want(t, "none runs", fmt.Sprint(running, err), "[] <nil>")
	refused(again, ledger.ErrUsed, ledger.State{Begun: 1, Ended: 1, Number: 1}, about("other", "t", ledger.Begins))
}

func TestReplay_judgesCursors(t *testing.T) {
	l := open(t, t.TempDir())
	add(t, l, event("s", 1), event("s", 2), event("s", 3))
	if err := l.Forget(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	add(t, l, event("s", 4), event("s", 5))
	for _, tc := range []struct {
		stream string
		cursor ledger.Cursor
		kind   error
		seqs   []int64
	}{
		{"s", ledger.Cursor{Stream: "s", Seq: 2}, ledger.ErrExpired, nil},
		{"s", ledger.Cursor{Stream: "s", Seq: 3}, nil, []int64{4, 5}},
		{"s", ledger.Cursor{Stream: "s", Seq: 4}, nil, []int64{5}},
		{"s", ledger.Cursor{Stream: "s", Seq: 5}, nil, nil},
		{"s", ledger.Cursor{Stream: "s", Seq: 6}, ledger.ErrExpired, nil},
		{"s", ledger.Cursor{Stream: "s#topic", Seq: 4}, ledger.ErrStream, nil},
		{"s", ledger.Cursor{Stream: "s", Seq: -1}, ledger.ErrMalformed, nil},
		{"new", ledger.Cursor{Stream: "new"}, nil, nil},
		{"new", ledger.Cursor{Stream: "new", Seq: 1}, ledger.ErrExpired, nil},
	} {
		var got []ledger.Stored
		w, err := l.Replay(t.Context(), tc.stream, &tc.cursor, func(e ledger.Stored) error { got = append(got, e); return nil })
		if !errors.Is(err, tc.kind) {
			t.Errorf("%v: got %v, want %v", tc.cursor, err, tc.kind)
		}
		want(t, "events", numbers(got), tc.seqs)
		reader, followErr := l.Follow(t.Context(), tc.stream, &tc.cursor)
		want(t, "follow says the same", fmt.Sprint(followErr), fmt.Sprint(err))
		if followErr == nil {
			want(t, "window", reader.Window(), w)
			reader.Close()
		}
		var expired *ledger.ExpiredError
		if errors.As(err, &expired) && expired.Window.Stream == "s" {
			want(t, "what is kept", expired.Window, ledger.Window{Stream: "s", Oldest: 4, Head: 5})
		}
	}
	stop := errors.New("enough")
	if _, err := l.Replay(t.Context(), "s", nil, func(ledger.Stored) error { return stop }); err != stop {
		t.Errorf("got %v, want what ended it", err)
	}
}

func TestDecodeCursor(t *testing.T) {
	c, err := ledger.DecodeCursor([]byte(`{"stream":"s","seq":7}`))
	want(t, "cursor", fmt.Sprint(c, err), "{s 7} <nil>")
	for _, bad := range []string{`7`, `{"stream":"s"}`, `{"stream":"s","seq":"7"}`, `{"stream":"s","seq":1.5}`, `{"stream":"s","seq":-1}`, `{"seq":1}`, `{`} {
		_, err := ledger.DecodeCursor([]byte(bad))
		var malformed *ledger.MalformedError
		var violation *wirejson.Violation
		if !errors.As(err, &malformed) || !errors.Is(err, ledger.ErrMalformed) || bad != "{" && !errors.As(err, &violation) {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}

func TestAppend_refusesWhatCannotBeTold(t *testing.T) {
	l := open(t, t.TempDir())
	long := strings.Repeat("x", oupwire.MaxTextFrameBytes)
	for name, e := range map[string]ledger.Event{
		"no stream":      {Method: "m", Body: []byte(`{}`)},
		"long stream":    {Stream: long, Method: "m", Body: []byte(`{}`)},
		"stream bytes":   {Stream: "\xff", Method: "m", Body: []byte(`{}`)},
		"no method":      {Stream: "s", Body: []byte(`{}`)},
		"no body":        {Stream: "s", Method: "m"},
		"no object":      {Stream: "s", Method: "m", Body: []byte(` [1]`)},
		"no JSON":        {Stream: "s", Method: "m", Body: []byte(`{"a"}`)},
		"body bytes":     {Stream: "s", Method: "m", Body: []byte("{\"a\":\"\xff\"}")},
		"long body":      {Stream: "s", Method: "m", Body: []byte(`{"a":"` + long + `"}`)},
		"half a subject": {Stream: "s", Method: "m", Subject: ledger.Subject{ID: "x"}, Body: []byte(`{}`)},
		"step alone":     {Stream: "s", Method: "m", Step: ledger.Ends, Body: []byte(`{}`)},
		"unknown step":   {Stream: "s", Method: "m", Subject: ledger.Subject{Kind: "k", ID: "x"}, Step: 4, Body: []byte(`{}`)},
	} {
		if _, err := l.Append(t.Context(), event("s", 1), e); !errors.Is(err, ledger.ErrEvent) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := l.Append(t.Context()); !errors.Is(err, ledger.ErrEvent) {
		t.Errorf("nothing: got %v", err)
	}
	w, err := l.Window(t.Context(), "s")
	want(t, "untouched", fmt.Sprint(w, err), "{s 1 0} <nil>")
}

// TestRetention_keepsTheLastAndAnnouncesTheRest covers OUP-LEDGER-011 and OUP-LEDGER-012.
func TestRetention_keepsTheLastAndAnnouncesTheRest(t *testing.T) {
	l, err := ledger.Options{Retain: 1}.Open(t.Context(), t.TempDir()) // fewer than it must keep
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	follower, err := l.Follow(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	const (
		all  = 2 * oupwire.LedgerRingEvents
		size = 256
	)
	for n := 0; n < all; n += size {
		batch := make([]ledger.Event, size)
		for i := range batch {
			batch[i] = event("s", n+i+1)
		}
		add(t, l, batch...)
		w, err := l.Window(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if kept := w.Head - w.Oldest + 1; kept < min(int64(n)+size, oupwire.LedgerRingEvents) || kept > 2*oupwire.LedgerRingEvents {
			t.Fatalf("of %d events %d are kept", n+size, kept)
		}
	}
	list, w := replay(t, l, "s", -1)
	want(t, "read", int64(len(list)), w.Head-w.Oldest+1)
	_, err = l.Replay(t.Context(), "s", &ledger.Cursor{Stream: "s", Seq: w.Oldest - 2}, func(ledger.Stored) error { return nil })
	if !errors.Is(err, ledger.ErrExpired) {
		t.Errorf("got %v, want the loss to be announced", err)
	}
	// A reader that stood still is told once how much it has missed, and misses nothing else.
	_, err = follower.Next(t.Context())
	var lost *ledger.LostError
	if !errors.As(err, &lost) {
		t.Fatalf("got %v, want the loss to be announced", err)
	}
	want(t, "lost", lost.Count(), w.Oldest-1)
	want(t, "position", follower.Position(), ledger.Cursor{Stream: "s", Seq: w.Oldest - 1})
	for next := w.Oldest; next <= all; {
		page, err := follower.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			want(t, "seq", e.Seq, next)
			want(t, "body", string(e.Body), fmt.Sprintf(`{"n":%d}`, next))
			next++
		}
	}
}

func TestAppend_contextsAndTheClose(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l, err := ledger.Options{Now: func() time.Time { return now }}.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	end(gone)
	if _, err := l.Append(ended, event("s", 1)); !errors.Is(err, gone) {
		t.Errorf("got %v, want the cause", err)
	}
	want(t, "time", add(t, l, event("s", 1))[0].Time, now)
	reader, err := l.Follow(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Next(ended); !errors.Is(err, gone) {
		t.Errorf("got %v, want the cause", err)
	}
	waits := make(chan error)
	go func() { _, err := reader.Next(context.Background()); waits <- err }()
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("reader: got %v", err)
	}
	_, err = l.Append(t.Context(), event("s", 2))
	_, windowErr := l.Window(t.Context(), "s")
	for _, err := range []error{err, windowErr, l.Forget(t.Context(), "s")} {
		if !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	reader.Close()
	reader.Close()
}

func TestOpen_madeForTheUserAlone(t *testing.T) {
	l := open(t, t.TempDir()+"/deep/er")
	info, err := os.Stat(l.Path())
	if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("got %v %v", info.Mode(), err)
	}
	if err := l.Check(t.Context()); err != nil {
		t.Error(err)
	}
	add(t, l, event("s", 1))
	_ = l.Close()
	// Closed in order, the file is whole in itself.
	if _, err := os.Stat(l.Path() + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log is left behind: %v", err)
	}
}

// TestOpen_writesOverNothingThatTheLockLeadsTo: whoever can put a link into the data directory gets no file overwritten.
func TestOpen_writesOverNothingThatTheLockLeadsTo(t *testing.T) {
	directory, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	lock := filepath.Join(directory, "ledger.lock")
	for _, text := range []string{"victim", ""} {
		if text != "" {
			if err := os.WriteFile(victim, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(victim); err != nil { // the link leads to nothing
			t.Fatal(err)
		}
		if _, err := os.Lstat(lock); err != nil {
			if err := os.Symlink(victim, lock); err != nil {
				t.Skip("links cannot be made here: ", err)
			}
		}
		_, err := ledger.Open(t.Context(), directory)
		trouble(t, err, ledger.ErrNotLedger, lock, "a link", "move it away")
		got, err := os.ReadFile(victim)
		if string(got) != text || (text == "") != os.IsNotExist(err) {
			t.Errorf("the file is %q, %v", got, err)
		}
	}
}
