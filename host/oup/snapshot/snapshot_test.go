//go:build unix

package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/host/oup/snapshot"
)

// failer is a test or one run of a property.
type failer interface {
	Helper()
	Fatal(...any)
}

func open(t failer, options snapshot.Options) *snapshot.Store {
	t.Helper()
	s, err := snapshot.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write writes files: names with content, where "/" at the end makes a folder and "-" removes. What is removed goes
// first, so that a folder can come where a file was.
func write(t failer, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if content == "-" {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range files {
		if content == "-" {
			continue
		}
		place := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(place), 0o755)
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(place, 0o755)
		default:
			err = os.WriteFile(place, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// state is every file below a folder with its mode and content.
func state(t failer, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := "-> "
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content = string(text)
		}
		files[rel] = fmt.Sprint(info.Mode(), " ", content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// TestRestore covers OUP-PREVIEW-004 and OUP-PREVIEW-005.
func TestRestore_putsBackAndCanBeUndone(t *testing.T) {
	work := t.TempDir()
	s := open(t, snapshot.Options{Directory: t.TempDir()})
	defer func() { _ = s.Close() }()
	write(t, work, map[string]string{"a.txt": "one", "run.sh": "#!/bin/sh\n", "sub/deep/b": "b", "becomes-dir": "file", "dir/x": "x", "same": "same"})
	if err := os.Chmod(filepath.Join(work, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := state(t, work)
	first, err := s.Take(t.Context(), work, "first")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Take(t.Context(), work, "again"); err != nil || again.ID != first.ID {
		t.Errorf("nothing has changed, and there is another one: %v, %v", again, err)
	}
	write(t, work, map[string]string{
		"a.txt": "two", "sub": "-", "becomes-dir": "-", "becomes-dir/c": "c", "new/file": "n", "dir": "-", ".git/config": "git", "node_modules/m/i.js": "js",
	})
	write(t, work, map[string]string{"dir": "a file now"})
	if err := os.Chmod(filepath.Join(work, "run.sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	after := state(t, work)
	stat := func() fs.FileInfo {
		info, err := os.Stat(filepath.Join(work, "same"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	untouched := stat()
	safety, err := s.Restore(t.Context(), work, strings.ToUpper(first.ID))
	if err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(before)
	left[".git/config"], left["node_modules/m/i.js"] = after[".git/config"], after["node_modules/m/i.js"]
	same(t, "restored", state(t, work), left)
	if !os.SameFile(untouched, stat()) {
		t.Error("a file that is the same was written anew")
	}
	if _, err := os.Stat(filepath.Join(work, "new")); err == nil {
		t.Error("a folder that was made for a file is still there")
	}
	if _, err := s.Restore(t.Context(), work, safety.ID); err != nil {
		t.Fatal(err)
	}
	same(t, "undone", state(t, work), after)
	list, err := s.List(work)
	if err != nil || len(list) != 3 || list[2].ID != first.ID || list[1].ID != safety.ID || list[2].Label != "first" {
		t.Errorf("listed %v, %v", list, err)
	}
}

// TestRestore_anyTwoStates goes to and fro between states at random.
func TestRestore_anyTwoStates(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		above, err := os.MkdirTemp(t.TempDir(), "w")
		if err != nil {
			rt.Fatal(err)
		}
		work := filepath.Join(above, "work")
		s := open(rt, snapshot.Options{Directory: filepath.Join(above, "data")})
		defer func() { _ = s.Close() }()
		names := rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "d", "d/e", "f"})
		draw := func() (string, map[string]string) {
			if err := os.RemoveAll(work); err != nil {
				rt.Fatal(err)
			}
			if err := os.MkdirAll(work, 0o755); err != nil {
				rt.Fatal(err)
			}
			for _, name := range rapid.SliceOfN(names, 0, 5).Draw(rt, "names") {
				place := filepath.Join(work, name) // what cannot be there beside another one is not there
				_ = os.MkdirAll(filepath.Dir(place), 0o755)
				_ = os.WriteFile(place, []byte(rapid.SampledFrom([]string{"", "1", "22"}).Draw(rt, "content")), 0o644)
			}
			taken, err := s.Take(context.Background(), work, "")
			if err != nil {
				rt.Fatal(err)
			}
			return taken.ID, state(rt, work)
		}
		one, was := draw()
		two, is := draw()
		safety, err := s.Restore(context.Background(), work, one)
		if err != nil || safety.ID == one || safety.ID == two {
			rt.Fatal("no snapshot for safety: ", err)
		}
		if got := state(rt, work); !maps.Equal(got, was) {
			rt.Fatalf("restored to %q, want %q", got, was)
		}
		if _, err := s.Restore(context.Background(), work, safety.ID); err != nil {
			rt.Fatal(err)
		}
		if got := state(rt, work); !maps.Equal(got, is) {
			rt.Fatalf("undone to %q, want %q", got, is)
		}
	})
}

func TestTake_leavesOutWhatIsNoPlainFile(t *testing.T) {
	work := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(outside), map[string]string{"secret": "secret"})
	inside := filepath.Join(work, "data")
	s := open(t, snapshot.Options{Directory: inside, MaxFileBytes: 100})
	defer func() { _ = s.Close() }()
	write(t, work, map[string]string{"plain": "1", "large": strings.Repeat("x", 101)})
	err := errors.Join(
		os.Symlink(outside, filepath.Join(work, "link")), os.Symlink("plain", filepath.Join(work, "within")),
		os.Symlink(filepath.Dir(outside), filepath.Join(work, "dirlink")),
		syscall.Mkfifo(filepath.Join(work, "fifo"), 0o600), os.WriteFile(filepath.Join(work, "unreadable"), []byte("u"), 0o000))
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Take(t.Context(), work, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range state(t, inside) {
		if strings.Contains(content, "secret") {
			t.Errorf("%s keeps what a link leads to", name)
		}
	}
	if again, err := s.Take(t.Context(), work, ""); err != nil || again.ID != first.ID {
		t.Errorf("the snapshot holds the data directory itself: %v", err)
	}
	// They stay as they are, also where a file was large in one state and not in the other.
	write(t, work, map[string]string{"plain": "2", "large": "small now"})
	if _, err := s.Restore(t.Context(), work, first.ID); err != nil {
		t.Fatal(err)
	}
	now := state(t, work)
	if now["plain"] != "-rw-r--r-- 1" || now["large"] != "-rw-r--r-- small now" || !strings.HasPrefix(now["link"], "L") || !strings.HasPrefix(now["within"], "L") || now["fifo"] == "" {
		t.Errorf("restored %q", now)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "secret" {
		t.Errorf("outside stands %q, %v", text, err)
	}
}

// TestRestore_refusesBeforeItChangesAnything puts things in the way that no snapshot has.
func TestRestore_refusesBeforeItChangesAnything(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"f": "outside"})
	var conflict *snapshot.ConflictError
	for name, block := range map[string]func(work string) error{
		"a link for a folder": func(work string) error {
			return errors.Join(os.RemoveAll(filepath.Join(work, "dir")), os.Symlink(outside, filepath.Join(work, "dir")))
		},
		"a link for a file": func(work string) error {
			return errors.Join(os.Remove(filepath.Join(work, "dir/f")), os.Symlink(filepath.Join(outside, "f"), filepath.Join(work, "dir/f")))
		},
		"a pipe for a file": func(work string) error {
			return errors.Join(os.Remove(filepath.Join(work, "dir/f")), syscall.Mkfifo(filepath.Join(work, "dir/f"), 0o600))
		},
		"a large file": func(work string) error {
			return os.WriteFile(filepath.Join(work, "dir/f"), make([]byte, 1000), 0o600)
		},
		"a folder that is left alone": func(work string) error {
			return errors.Join(os.Remove(filepath.Join(work, "dir/f")), os.MkdirAll(filepath.Join(work, "dir/f/.git"), 0o755),
				os.WriteFile(filepath.Join(work, "dir/f/.git/x"), nil, 0o600))
		},
	} {
		work := t.TempDir()
		s := open(t, snapshot.Options{Directory: t.TempDir(), MaxFileBytes: 100})
		write(t, work, map[string]string{"a": "1", "dir/f": "f", "z": "1"})
		first, err := s.Take(t.Context(), work, "")
		if err != nil {
			t.Fatal(err)
		}
		write(t, work, map[string]string{"a": "2", "z": "-"})
		if err := block(work); err != nil {
			t.Fatal(err)
		}
		before := state(t, work)
		if _, err := s.Restore(t.Context(), work, first.ID); !errors.As(err, &conflict) {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, state(t, work), before)
		_ = s.Close()
	}
	if text, _ := os.ReadFile(filepath.Join(outside, "f")); string(text) != "outside" {
		t.Errorf("outside stands %q", text)
	}
}

func TestRestore_refusesDamage(t *testing.T) {
	work, data := t.TempDir(), t.TempDir()
	s := open(t, snapshot.Options{Directory: data})
	defer func() { _ = s.Close() }()
	write(t, work, map[string]string{"a": "first", "b": "b"})
	first, err := s.Take(t.Context(), work, "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, work, map[string]string{"a": "second", "b": "-"})
	objects, _ := filepath.Glob(filepath.Join(data, "*", "objects", "*"))
	for _, name := range objects {
		if text, _ := os.ReadFile(name); string(text) == "first" {
			write(t, filepath.Dir(name), map[string]string{filepath.Base(name): "other"})
		}
	}
	var damage *snapshot.DamageError
	if _, err := s.Restore(t.Context(), work, first.ID); !errors.As(err, &damage) || damage.Path != "a" {
		t.Errorf("damaged content: %v", err)
	}
	for _, bad := range []string{"../escape", "/etc/x", "a/../../x", "."} {
		lists, _ := filepath.Glob(filepath.Join(data, "*", first.ID+".json"))
		text, err := os.ReadFile(lists[0])
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), `"Path":"a"`, fmt.Sprintf(`"Path":%q`, bad), 1)
		if err := os.WriteFile(lists[0], []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Restore(t.Context(), work, first.ID); !errors.As(err, &damage) {
			t.Errorf("%q: %v", bad, err)
		}
		if err := os.WriteFile(lists[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "nothing was changed", state(t, work), map[string]string{"a": "-rw-r--r-- second"})
	for _, id := range []string{"", "x", "../" + first.ID, "018f0000-0000-7000-8000-000000000000", strings.ReplaceAll(first.ID, "-", "")} {
		if _, err := s.Restore(t.Context(), work, id); !errors.Is(err, snapshot.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
	other := t.TempDir()
	if _, err := s.Restore(t.Context(), other, first.ID); !errors.Is(err, snapshot.ErrUnknown) {
		t.Errorf("a snapshot of another workspace: %v", err)
	}
}

func TestBounds(t *testing.T) {
	work, data := t.TempDir(), t.TempDir()
	now := time.Now()
	s := open(t, snapshot.Options{Directory: data, MaxFiles: 3, MaxBytes: 1000, MaxSnapshots: 3, Now: func() time.Time { return now }})
	defer func() { _ = s.Close() }()
	var large *snapshot.TooLargeError
	write(t, work, map[string]string{"a": "", "b": "", "c": "", "d": ""})
	if _, err := s.Take(t.Context(), work, ""); !errors.As(err, &large) {
		t.Errorf("four files: %v", err)
	}
	write(t, work, map[string]string{"b": "-", "c": "-", "d": strings.Repeat("x", 1001)})
	if _, err := s.Take(t.Context(), work, ""); !errors.As(err, &large) || !strings.Contains(large.What, "files") {
		t.Errorf("it is not remembered that there were too many files: %v", err)
	}
	now = now.Add(time.Hour)
	if _, err := s.Take(t.Context(), work, ""); !errors.As(err, &large) {
		t.Errorf("1001 bytes: %v", err)
	}
	now = now.Add(time.Hour)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Take(ended, work, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	write(t, work, map[string]string{"d": "-"})
	var ids []string
	for i := range 5 {
		write(t, work, map[string]string{"a": fmt.Sprint("version ", i)})
		taken, err := s.Take(t.Context(), work, "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, taken.ID)
	}
	list, err := s.List(work)
	if err != nil || len(list) != 3 || list[0].ID != ids[4] || list[2].ID != ids[2] {
		t.Errorf("kept %v, %v", list, err)
	}
	if objects, _ := filepath.Glob(filepath.Join(data, "*", "objects", "*")); len(objects) != 3 {
		t.Errorf("the content of %d files is kept", len(objects))
	}
	// The oldest makes room for the snapshot for safety, and is restored all the same.
	write(t, work, map[string]string{"a": "unkept"})
	if _, err := s.Restore(t.Context(), work, ids[2]); err != nil {
		t.Fatal(err)
	}
	same(t, "restored", state(t, work), map[string]string{"a": "-rw-r--r-- version 2"})
	small := open(t, snapshot.Options{Directory: t.TempDir(), MaxStoreBytes: 25})
	defer func() { _ = small.Close() }()
	for i := range 4 {
		write(t, work, map[string]string{"a": fmt.Sprint("ten bytes ", i)})
		if _, err := small.Take(t.Context(), work, ""); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := small.List(work); err != nil || len(list) != 2 {
		t.Errorf("%d snapshots of 11 bytes are kept in 25, %v", len(list), err)
	}
}

// TestTake_trustsTimesOnlyBehindAWhile changes a file without changing its size or its time.
func TestTake_trustsTimesOnlyBehindAWhile(t *testing.T) {
	work := t.TempDir()
	now := time.Now()
	s := open(t, snapshot.Options{Directory: t.TempDir(), Now: func() time.Time { return now }})
	defer func() { _ = s.Close() }()
	put := func(content string, at time.Time) string {
		t.Helper()
		write(t, work, map[string]string{"a": content})
		if err := os.Chtimes(filepath.Join(work, "a"), at, at); err != nil {
			t.Fatal(err)
		}
		taken, err := s.Take(t.Context(), work, "")
		if err != nil {
			t.Fatal(err)
		}
		return taken.ID
	}
	if just := now.Add(-time.Second); put("1", just) == put("2", just) {
		t.Error("a change right behind the snapshot was not seen")
	}
	old := now.Add(-time.Hour)
	if put("3", old) != put("4", old) {
		t.Error("what has the size and the time of an hour ago was read again")
	}
}

// TestTake_goesOnWhereTimeRanOut takes a snapshot in steps that are each too short for it.
func TestTake_goesOnWhereTimeRanOut(t *testing.T) {
	work, data := t.TempDir(), t.TempDir()
	now := time.Now()
	s := open(t, snapshot.Options{Directory: data, Now: func() time.Time { return now }})
	defer func() { _ = s.Close() }()
	old := now.Add(-time.Hour)
	for i := range 50 {
		name := filepath.Join(work, fmt.Sprintf("f%02d", i))
		write(t, work, map[string]string{filepath.Base(name): "1"})
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	short := &counted{Context: t.Context(), left: 30}
	if _, err := s.Take(short, work, ""); err == nil {
		t.Fatal("there was time enough")
	}
	// What was seen is not read again: the same size and the same old time.
	write(t, work, map[string]string{"f00": "2"})
	if err := os.Chtimes(filepath.Join(work, "f00"), old, old); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Take(t.Context(), work, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(t.Context(), work, taken.ID); err != nil {
		t.Fatal(err)
	}
	if objects, _ := filepath.Glob(filepath.Join(data, "*", "objects", "*")); len(objects) != 1 {
		t.Errorf("the content of %d files is kept", len(objects))
	}
}

// counted is a context that ends when it was looked at so many times.
type counted struct {
	context.Context
	left int
}

// Err ends it.
func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}
