package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/octet-dev/octet/host/session"
	"golang.org/x/sys/unix"
)

func init() {
	children["limited"] = func(ctx context.Context, words []string) error {
		limit := unix.Rlimit{Cur: 200 << 10, Max: 200 << 10}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		return appendForever(ctx, words)
	}
}

// TestFileLimit_keepsWhatWasAcknowledged lets a writer run into the limit of its files.
func TestFileLimit_keepsWhatWasAcknowledged(t *testing.T) {
	store := open(t)
	id := create(t, store, session.New{}).ID
	said := lines(t, child(t, "limited", store.Path(), id))
	acknowledged := 0
	failure := ""
	for said.Scan() {
		switch words := strings.Fields(said.Text()); words[0] {
		case "run":
			acknowledged++
		case "entries":
			acknowledged += 2
		case "error:":
			failure = said.Text()
		}
	}
	for _, word := range []string{store.Path(), "intact", "try again"} {
		if !strings.Contains(failure, word) {
			t.Errorf("%q does not say %q", failure, word)
		}
	}
	branch, err := store.Branch(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(branch) < acknowledged || acknowledged < 3 {
		t.Errorf("%d entries were acknowledged and %d are stored", acknowledged, len(branch))
	}
}

// TestReadOnly_homeIsReadAndNotWritten opens a store that somebody else owns.
func TestReadOnly_homeIsReadAndNotWritten(t *testing.T) {
	home, err := os.MkdirTemp("/tmp", "octet-read-only-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(home, 0o700); _ = os.RemoveAll(home) })
	path := filepath.Join(home, "sessions.db")
	for _, crashed := range []bool{false, true} {
		store := openAt(t, path)
		s := begin(t, store)
		appendTexts(t, s, "a", "b")
		if crashed {
			// As a killed writer leaves it: a log that nobody has written back, and no index of it.
			for _, suffix := range []string{"", "-wal"} {
				data, err := os.ReadFile(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(path + ".copy" + suffix)
				if err := os.WriteFile(path+".copy"+suffix, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = s.Close()
		_ = store.Close()
		subject := path
		if crashed {
			subject = path + ".copy"
		}
		readOnly(t, home)
		cmd := child(t, "open", subject, s.ID())
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			cmd.Path = copyForOthers(t, cmd.Path)
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		text := string(out)
		for _, word := range []string{"write: session store " + subject, "cannot be written", "make", "read: a,b <nil>", "write by a reader: session store"} {
			if !strings.Contains(text, word) {
				t.Errorf("crashed %v: %q does not say %q", crashed, text, word)
			}
		}
		if err := os.Chmod(home, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// readOnly takes the right to write from everything in a directory.
func readOnly(t *testing.T, directory string) {
	t.Helper()
	files, err := filepath.Glob(directory + "/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Chmod(file, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(directory, 0o555); err != nil {
		t.Fatal(err)
	}
}

// copyForOthers puts a program where every user may start it.
func copyForOthers(t *testing.T, program string) string {
	t.Helper()
	directory, err := os.MkdirTemp("/tmp", "octet-program-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(directory, "child")
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestFifo_inTheStoreOfLocks(t *testing.T) {
	store := open(t)
	id := create(t, store, session.New{}).ID
	path := filepath.Join(store.Path()+".locks", id+".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Begin(t.Context(), id)
	trouble(t, err, session.ErrReadOnly, path, "a fifo")
}

// TestFifo_isRefusedAtOnce puts what nobody writes to in the place of a file.
func TestFifo_isRefusedAtOnce(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		path := filepath.Join(t.TempDir(), "sessions.db")
		if suffix != "" {
			_ = openAt(t, path).Close()
		}
		if err := unix.Mkfifo(path+suffix, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := session.Open(t.Context(), path)
		trouble(t, err, session.ErrNotStore, path+suffix, "fifo")
		_, err = session.Options{}.OpenReader(t.Context(), path)
		trouble(t, err, session.ErrNotStore, path+suffix, "fifo")
	}
}
