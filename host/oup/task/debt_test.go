//go:build unix

package task_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/task"
)

// brim is a bench whose disk takes no records while a file stands in the place of the folder of its session.
type brim struct {
	*bench
	folder, aside string
	planned       []time.Duration
	retry         func()
}

// endsUnsaved runs a task whose end cannot be stored.
func endsUnsaved(t *testing.T) (*brim, string) {
	t.Helper()
	b := &brim{bench: open(t, t.TempDir())}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.after = func(delay time.Duration, retry func()) func() bool {
		b.planned, b.retry = append(b.planned, delay), retry
		return func() bool { return true }
	}
	b.reopen()
	gate := filepath.Join(b.work, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	id := b.start("cat gate").ID
	b.until("it runs", func() bool { return len(b.states(id)) == 2 })
	folders, err := filepath.Glob(filepath.Join(b.directory, "*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("the folders are %q, %v", folders, err)
	}
	b.folder, b.aside = folders[0], filepath.Join(b.work, "aside")
	b.fill()
	if err := os.WriteFile(gate, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.until("its end is told", func() bool { return len(b.states(id)) == 3 })
	if _, err := b.Cancel(session, id); !errors.Is(err, task.ErrEnded) { // behind that it is put away
		t.Fatalf("it can still be cancelled: %v", err)
	}
	if len(b.logged) != 1 || !strings.Contains(b.logged[0].Error(), id) || !strings.Contains(b.logged[0].Error(), "stored later") {
		t.Errorf("logged %v", b.logged)
	}
	b.logged = nil
	return b, id
}

func (b *brim) fill() {
	b.Helper()
	if err := errors.Join(os.Rename(b.folder, b.aside), os.WriteFile(b.folder, nil, 0o600)); err != nil {
		b.Fatal(err)
	}
}

// empty gives the folder back as it was: what it has of the task is old.
func (b *brim) empty() {
	b.Helper()
	if err := errors.Join(os.Remove(b.folder), os.Rename(b.aside, b.folder)); err != nil {
		b.Fatal(err)
	}
}

func (b *brim) onDisk(id string) string {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(b.folder, id+".json"))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

// TestEnd_isKnownBeforeItIsStored: what has ended has ended, whatever the disk says, and the disk says so in time.
func TestEnd_isKnownBeforeItIsStored(t *testing.T) {
	b, id := endsUnsaved(t)
	b.retry()
	b.retry()
	b.empty()
	if got := b.onDisk(id); !strings.Contains(got, `"State":"running"`) {
		t.Fatalf("the disk says %s", got)
	}
	if r, err := b.Get(session, id); err != nil || r.State != oupwire.TaskRuntimeStateCompleted || r.Ended.IsZero() {
		t.Errorf("it is %+v, %v", r, err)
	}
	if list, err := b.List(session); err != nil || len(list) != 1 || list[0].State != oupwire.TaskRuntimeStateCompleted {
		t.Errorf("listed is %+v, %v", list, err)
	}
	if s, r, err := b.Output(session, id, 0, 100); err != nil || s.Text != "text" || !r.Terminal() {
		t.Errorf("its output is %+v of %+v, %v", s, r, err)
	}
	b.retry()
	if got := b.onDisk(id); !strings.Contains(got, `"State":"completed"`) {
		t.Errorf("the disk says %s", got)
	}
	if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}; !slices.Equal(b.planned, want) {
		t.Errorf("it was tried again behind %v, want %v", b.planned, want)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.reopen()
	if r, err := b.Get(session, id); err != nil || r.State != oupwire.TaskRuntimeStateCompleted || r.Error != "" {
		t.Errorf("behind a restart it is %+v, %v", r, err)
	}
}

// TestClose_storesWhatIsOwed where that can be done again.
func TestClose_storesWhatIsOwed(t *testing.T) {
	b, id := endsUnsaved(t)
	b.empty()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.onDisk(id); !strings.Contains(got, `"State":"completed"`) {
		t.Errorf("the disk says %s", got)
	}
	b.retry() // an attempt that was on its way
	b.reopen()
}

// TestForget_dropsWhatIsOwed: nothing comes back.
func TestForget_dropsWhatIsOwed(t *testing.T) {
	b, id := endsUnsaved(t)
	b.empty()
	if err := b.Forget(session); err != nil {
		t.Fatal(err)
	}
	b.retry()
	if _, err := b.Get(session, id); !errors.Is(err, task.ErrUnknown) {
		t.Errorf("it is still there: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.directory, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
