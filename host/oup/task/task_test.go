//go:build unix

package task_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/task"
	"github.com/octet-dev/octet/host/schema"
	"github.com/octet-dev/octet/host/tool"
)

const session = "_main:local:a#build"

// bench is a supervisor and everything that it tells.
type bench struct {
	*testing.T
	*task.Supervisor
	directory, work string

	mu     sync.Mutex
	told   []oupwire.TaskUpdatedEvent
	output map[string]string // by task, as the deltas put it together
	more   chan struct{}     // filled with every event
	logged []error
	full   error // of every event from now on; what a task has come to is told later then
	later  []oupwire.TaskUpdatedEvent
	lost   []string // sessions of output that was not told
	// refused counts events that could not be told.
	refused int
	after   func(time.Duration, func()) func() bool // nil: the clock of the machine
}

func open(t *testing.T, directory string) *bench {
	t.Helper()
	b := &bench{T: t, directory: directory, work: t.TempDir(), output: map[string]string{}, more: make(chan struct{}, 10_000)}
	b.reopen()
	t.Cleanup(func() {
		if err := b.Supervisor.Close(); err != nil {
			t.Error(err)
		}
		for _, err := range b.logged {
			t.Error("logged:", err)
		}
	})
	return b
}

func (b *bench) reopen() {
	b.Helper()
	s, err := task.Open(task.Options{Directory: b.directory, Tell: b.tell, Later: b.owe, Lost: b.lose, Log: b.log, After: b.after})
	if err != nil {
		b.Fatal(err)
	}
	b.Supervisor = s
}

func (b *bench) log(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full == nil || !errors.Is(err, b.full) {
		b.logged = append(b.logged, err)
	}
}

func (b *bench) lose(where string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = append(b.lost, where)
	b.more <- struct{}{}
}

func (b *bench) owe(_, _ string, event wirejson.Encoder) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.later = append(b.later, event.(oupwire.TaskUpdatedEvent))
	b.more <- struct{}{}
}

func (b *bench) tell(where, method string, event wirejson.Encoder) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full != nil {
		b.refused++
		b.more <- struct{}{}
		return b.full
	}
	switch e := event.(type) {
	case oupwire.TaskUpdatedEvent:
		if _, err := oupwire.DecodeTaskUpdatedEvent(e.AppendJSON(nil)); err != nil || method != oupwire.MethodTaskUpdated || where != string(e.SessionID) {
			b.Errorf("%s in %s says %s: %v", method, where, e.AppendJSON(nil), err)
		}
		b.told = append(b.told, e)
	case oupwire.TaskOutputDeltaEvent:
		id := string(e.TaskID)
		if method != oupwire.MethodTaskOutputDelta || int(e.Cursor.Offset) != len(b.output[id]) || where != string(e.SessionID) {
			b.Errorf("a piece at %d follows %d bytes", e.Cursor.Offset, len(b.output[id]))
		}
		b.output[id] += e.Text
	}
	b.more <- struct{}{}
	return nil
}

// states are those that were told of a task, in order, each as often as it was.
func (b *bench) states(id string) (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.told {
		if string(e.TaskID) == id {
			list = append(list, string(e.State))
		}
	}
	return list
}

func (b *bench) heard(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.output[id]
}

// until waits for events until something holds.
func (b *bench) until(what string, holds func() bool) {
	b.Helper()
	for limit := time.After(time.Minute); !holds(); {
		select {
		case <-b.more:
		case <-limit:
			b.Fatalf("never: %s", what)
		}
	}
}

func (b *bench) start(command string) task.Record {
	b.Helper()
	r, err := b.Start(task.Spec{
		Session: session, Turn: "018f0000-0000-7000-8000-000000000001", Tool: "task_start", CallID: "c1", Source: oupwire.TaskSourceModel,
		Command: command, Workspace: b.work,
	})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// ended waits for the end of a task.
func (b *bench) ended(id string) task.Record {
	b.Helper()
	var r task.Record
	b.until("the end of "+id, func() bool {
		var err error
		if r, err = b.Get(session, id); err != nil {
			b.Fatal(err)
		}
		return r.Terminal()
	})
	return r
}

// TestTask covers OUP-TASK-030, OUP-TASK-031, OUP-TASK-034, OUP-TASK-036 and the way of machine_task.
// TestTask_isToldLaterWhereItCannotBeNow: what a task has come to is not lost where it cannot be stored; what it wrote
// can be asked for.
func TestTask_isToldLaterWhereItCannotBeNow(t *testing.T) {
	b := open(t, t.TempDir())
	gate := filepath.Join(b.work, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	id := b.start("cat gate").ID
	b.until("it runs", func() bool { return len(b.states(id)) == 2 })
	b.mu.Lock()
	b.full = errors.New("the disk is full")
	b.mu.Unlock()
	if err := os.WriteFile(gate, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.until("its end is for later", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.later) > 0
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.later) != 1 || string(b.later[0].TaskID) != id || b.later[0].State != oupwire.TaskRuntimeStateCompleted {
		t.Errorf("for later are %+v", b.later)
	}
}

func TestTask_runsTellsAndStays(t *testing.T) {
	directory := t.TempDir()
	b := open(t, directory)
	pending := b.start("printf 'one ä\n'; printf two >&2; pwd >\"$OCTET_TASK_ARTIFACTS/where.txt\"; exit 0")
	if pending.State != oupwire.TaskRuntimeStatePending || pending.Title == "" {
		t.Errorf("a task begins as %+v", pending)
	}
	r := b.ended(pending.ID)
	if r.State != oupwire.TaskRuntimeStateCompleted || r.Summary != "exit code 0" || r.Error != "" || r.Ended.IsZero() {
		t.Errorf("it ended as %+v", r)
	}
	b.until("what it has left is told", func() bool { return len(b.states(r.ID)) == 3 })
	if got := b.states(r.ID); !slices.Equal(got, []string{"pending", "running", "completed"}) {
		t.Errorf("told %q", got)
	}
	for _, e := range b.told {
		if e.StartedAt.Or("") != task.Stamp(pending.Started) || e.Topic.Or("") != "build" || e.TurnID.Or("") == "" {
			t.Errorf("told %s", e.AppendJSON(nil))
		}
	}
	if got := b.heard(r.ID); got != "one ä\ntwo" {
		t.Errorf("heard %q", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.reopen()
	again, err := b.Get(session, strings.ToUpper(r.ID))
	if err != nil || fmt.Sprint(again.Entry()) != fmt.Sprint(r.Entry()) {
		t.Errorf("behind a restart it is %+v, %v", again, err)
	}
	stretch, _, err := b.Output(session, r.ID, 0, 100)
	if err != nil || stretch.Text != "one ä\ntwo" || stretch.Next != stretch.Total || stretch.Total != 10 {
		t.Errorf("its output is %+v, %v", stretch, err)
	}
	artifact, stretch, text, err := b.Artifact(session, r.ID, "output-01", "", 0, 1000)
	if err != nil || !text || strings.TrimSpace(stretch.Text) != b.work || artifact.Kind != oupwire.ArtifactKindText || artifact.Path.Or("") != "artifacts/where.txt" {
		t.Errorf("its artifact is %s with %+v, %v, %v", artifact.AppendJSON(nil), stretch, text, err)
	}
	if strings.Contains(string(again.Entry().AppendJSON(nil)), directory) {
		t.Error("a path of the host is told")
	}
}

func TestTask_failure(t *testing.T) {
	b := open(t, t.TempDir())
	for command, want := range map[string]string{"exit 3": "exit code 3", "kill -9 $$": "signal"} {
		r := b.ended(b.start(command).ID)
		if r.State != oupwire.TaskRuntimeStateFailed || !strings.Contains(r.Error, want) {
			t.Errorf("%s ended as %+v", command, r)
		}
	}
	gone, err := b.Start(task.Spec{Session: session, Command: "true", Workspace: filepath.Join(b.work, "missing")})
	if err != nil {
		t.Fatal(err)
	}
	if r := b.ended(gone.ID); r.State != oupwire.TaskRuntimeStateFailed || r.Error == "" {
		t.Errorf("without a folder it ended as %+v", r)
	}
	for _, command := range []string{"", " \n", "a\x00b", strings.Repeat("x", 2<<20)} {
		if _, err := b.Start(task.Spec{Session: session, Command: command, Workspace: b.work}); err == nil {
			t.Errorf("%.10q was started", command)
		}
	}
}

// alive reports whether a process is there and not only waits to be counted.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestCancel covers OUP-TASK-005, OUP-TASK-006, OUP-TASK-008 to OUP-TASK-010.
func TestCancel_endsTheWholeGroup(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Fatal("/proc is needed to look for processes: ", err)
	}
	b := open(t, t.TempDir())
	r := b.start("trap '' TERM; (trap '' TERM; sleep 1000) & setsid sleep 1000 & echo $$ $!; while :; do sleep 1; done")
	b.until("it tells its processes", func() bool { return strings.Contains(b.heard(r.ID), "\n") })
	pids := strings.Fields(b.heard(r.ID))
	cancelled, err := b.Cancel(session, r.ID)
	if err != nil || cancelled.State != oupwire.TaskRuntimeStateCancelled {
		t.Errorf("cancelled as %+v, %v", cancelled, err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %s is still there", pid)
		}
	}
	if got := b.states(r.ID); got[len(got)-1] != "cancelled" {
		t.Errorf("told %q", got)
	}
	for range 2 {
		if _, err := b.Cancel(session, r.ID); !errors.Is(err, task.ErrEnded) {
			t.Errorf("again: %v", err)
		}
	}
	for _, place := range [][2]string{{"_main:local:other", r.ID}, {session, "018f0000-0000-7000-8000-00000000ffff"}, {session, "../../x"}} {
		if _, err := b.Cancel(place[0], place[1]); err == nil || errors.Is(err, task.ErrEnded) {
			t.Errorf("%q: %v", place, err)
		}
	}
	if again, err := b.Get(session, r.ID); err != nil || again.State != oupwire.TaskRuntimeStateCancelled {
		t.Errorf("it is %+v, %v", again, err)
	}
}

// TestRestart covers OUP-TASK-012, OUP-TASK-013 and OUP-TASK-015.
func TestRestart_makesAnother(t *testing.T) {
	b := open(t, t.TempDir())
	r := b.start("read line <fifo; echo \"$line\"")
	if err := syscall.Mkfifo(filepath.Join(b.work, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Restart(session, r.ID); !errors.Is(err, task.ErrStillActive) {
		t.Errorf("one at work was started again: %v", err)
	}
	if _, err := b.Cancel(session, r.ID); err != nil {
		t.Fatal(err)
	}
	before, err := b.Get(session, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Restart(session, r.ID)
	if err != nil || again.ID == r.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	fifo, err := os.OpenFile(filepath.Join(b.work, "fifo"), os.O_RDWR, 0)
	if err == nil {
		_, err = fifo.WriteString("hello\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	if ended := b.ended(again.ID); ended.State != oupwire.TaskRuntimeStateCompleted || ended.RelaunchedFrom != r.ID {
		t.Errorf("the successor ended as %+v", ended)
	}
	_ = fifo.Close()
	b.until("its end is told", func() bool { return len(b.states(again.ID)) == 3 })
	for _, e := range b.told {
		if (string(e.TaskID) == again.ID) != (string(e.RelaunchedFrom.Or("")) == r.ID) {
			t.Errorf("told %s", e.AppendJSON(nil))
		}
	}
	if after, err := b.Get(session, r.ID); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the old one became %+v, %v", after, err)
	}
	if _, err := b.Restart("_main:local:other", r.ID); !errors.Is(err, task.ErrUnknown) {
		t.Errorf("one of another session: %v", err)
	}
	if list, err := b.List(session); err != nil || len(list) != 2 || list[0].ID != r.ID || list[1].ID != again.ID {
		t.Errorf("there are %+v, %v", list, err)
	}
}

func TestClose_endsWhatRuns(t *testing.T) {
	b := open(t, t.TempDir())
	r := b.start("echo $$; exec sleep 1000")
	b.until("it tells its process", func() bool { return strings.Contains(b.heard(r.ID), "\n") })
	pid := strings.TrimSpace(b.heard(r.ID))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Errorf("process %s is still there", pid)
	}
	if got := b.states(r.ID); got[len(got)-1] != "failed" {
		t.Errorf("told %q", got)
	}
	if _, err := b.Start(task.Spec{Session: session, Command: "true", Workspace: b.work}); err == nil {
		t.Error("one was started behind the end")
	}
	b.reopen()
	if again, err := b.Get(session, r.ID); err != nil || again.State != oupwire.TaskRuntimeStateFailed || again.Error != "server_shutdown" {
		t.Errorf("it is %+v, %v", again, err)
	}
}

// TestOpen_settlesOrphans covers OUP-TASK-034 for a server that was killed: a record that says running is there.
func TestOpen_settlesOrphans(t *testing.T) {
	b := open(t, t.TempDir())
	r := b.ended(b.start("echo kept").ID)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(b.directory, "*", r.ID+".json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte(strings.Replace(string(text), `"completed"`, `"running"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(b.states(r.ID))
	for range 2 {
		b.reopen()
		again, err := b.Get(session, r.ID)
		if err != nil || again.State != oupwire.TaskRuntimeStateFailed || again.Error != "orphaned_by_restart" {
			t.Errorf("it is %+v, %v", again, err)
		}
		if got := b.states(r.ID)[before:]; !slices.Equal(got, []string{"failed"}) {
			t.Errorf("told %q", got)
		}
		if stretch, _, err := b.Output(session, r.ID, 0, 10); err != nil || stretch.Text != "kept\n" {
			t.Errorf("its output is %+v, %v", stretch, err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b.reopen()
}

func TestForget_dropsEverything(t *testing.T) {
	b := open(t, t.TempDir())
	r := b.start("echo $$; exec sleep 1000")
	b.until("it tells its process", func() bool { return strings.Contains(b.heard(r.ID), "\n") })
	before := len(b.states(r.ID))
	if err := b.Forget(session); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(session, r.ID); !errors.Is(err, task.ErrUnknown) {
		t.Errorf("it is still there: %v", err)
	}
	if len(b.states(r.ID)) != before {
		t.Error("its end was told to a session that is gone")
	}
	if left, _ := filepath.Glob(filepath.Join(b.directory, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestStart_bounds(t *testing.T) {
	b := open(t, t.TempDir())
	var busy *task.BusyError
	var first task.Record
	for i := range 17 {
		r, err := b.Start(task.Spec{Session: session, Command: "exec sleep 1000", Workspace: b.work})
		if i == 0 {
			first = r
		}
		if errors.As(err, &busy) != (i == 16) {
			t.Fatalf("task %d: %v", i, err)
		}
	}
	if _, err := b.Start(task.Spec{Session: "_main:local:other", Command: "true", Workspace: b.work}); err != nil {
		t.Errorf("another session is held up: %v", err)
	}
	if _, err := b.Cancel(session, first.ID); err != nil {
		t.Fatal(err)
	}
	b.start("true")
	if folders, _ := filepath.Glob(filepath.Join(b.directory, "*", "*.files")); len(folders) != 18 {
		t.Errorf("%d folders are there, want 18: one that was refused left its own", len(folders))
	}
}

// TestEnd_isOneForWhoeverIsToldIt: a task whose end was told is none that runs, whatever is still to be put away.
func TestEnd_isOneForWhoeverIsToldIt(t *testing.T) {
	work, told, goOn := t.TempDir(), make(chan string, 2), make(chan struct{})
	s, err := task.Open(task.Options{
		Directory: t.TempDir(), Log: func(err error) { t.Error(err) },
		Tell: func(_, _ string, event wirejson.Encoder) error {
			if e, is := event.(oupwire.TaskUpdatedEvent); is && e.State == oupwire.TaskRuntimeStateCompleted {
				told <- string(e.TaskID)
				<-goOn
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	release := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(func() {
		release()
		_ = s.Close()
	})
	start := func(command string) error {
		_, err := s.Start(task.Spec{Session: session, Command: command, Workspace: work})
		return err
	}
	if err := start("true"); err != nil {
		t.Fatal(err)
	}
	id := <-told
	for n := range 16 {
		if err := start("exec sleep 1000"); err != nil {
			t.Fatalf("task %d beside one that has ended: %v", n, err)
		}
	}
	if err := start("true"); !errors.As(err, new(*task.BusyError)) {
		t.Errorf("one more than there may be: %v", err)
	}
	again := make(chan error, 1)
	go func() {
		_, err := s.Restart(session, id)
		again <- err
	}()
	for range 1000 {
		runtime.Gosched() // an answer that comes before the task is put away is a wrong one
	}
	release()
	if err := <-again; !errors.As(err, new(*task.BusyError)) {
		t.Errorf("it is started again: %v", err)
	}
}

// TestOutput_isLostLoudly covers OUP-TASK-032 for a piece that could not be stored: no more is told behind it, and the end
// of the task says so.
func TestOutput_isLostLoudly(t *testing.T) {
	b := open(t, t.TempDir())
	gate := filepath.Join(b.work, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	full := func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.full = err
	}
	write := func(text string) {
		if err := os.WriteFile(gate, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := b.start("cat gate; cat gate; cat gate").ID
	write("one ")
	b.until("the first piece is told", func() bool { return b.heard(id) == "one " })
	trouble := errors.New("the disk is full")
	full(trouble)
	write("two ")
	b.until("the second is not", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.refused > 0
	})
	full(nil)
	write("three ")
	b.until("it is said", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.lost) > 0
	})
	b.mu.Lock()
	b.logged = nil // the piece that was not told
	b.mu.Unlock()
	r := b.ended(id)
	if !strings.Contains(r.Detail, "from byte 4 on") || b.heard(id) != "one " || len(b.lost) != 1 {
		t.Errorf("%q was told, %q says what was not, to %q", b.heard(id), r.Detail, b.lost)
	}
}

// TestOutput_flood keeps the end of what is too much, and tells the beginning.
func TestOutput_flood(t *testing.T) {
	b := open(t, t.TempDir())
	r := b.ended(b.start("yes 0123456789abcdef | head -c 25000000").ID)
	if heard := len(b.heard(r.ID)); heard > 1<<20 || heard < 1<<19 {
		t.Errorf("%d bytes were told", heard)
	}
	b.mu.Lock()
	if r.Detail == "" || len(b.lost) != 1 || b.lost[0] != session {
		t.Errorf("that not all of it was told is said by %q, and to %q", r.Detail, b.lost)
	}
	b.mu.Unlock()
	stretch, _, err := b.Output(session, r.ID, 0, 1<<20)
	if err != nil || stretch.Total != 25000000 || stretch.From != stretch.Base || stretch.Base < 25000000-16<<20 || len(stretch.Text) == 0 {
		t.Errorf("from %d (base %d) %d bytes of %d, %v", stretch.From, stretch.Base, len(stretch.Text), stretch.Total, err)
	}
	size := int64(0)
	for at := stretch.Base; at < stretch.Total; {
		s, _, err := b.Output(session, r.ID, at, 1<<20)
		if err != nil || s.From != at || s.Next <= at {
			t.Fatalf("at %d: %d to %d, %v", at, s.From, s.Next, err)
		}
		if want := "0123456789abcdef\n"[at%17]; s.Text[0] != want {
			t.Fatalf("at %d stands %q", at, s.Text[0])
		}
		size, at = size+int64(len(s.Text)), s.Next
	}
	if size != stretch.Total-stretch.Base {
		t.Errorf("%d bytes were read", size)
	}
	if files, _ := filepath.Glob(filepath.Join(b.directory, "*", "*.files", "output-*")); len(files) > 4 {
		t.Errorf("%d files of output are kept", len(files))
	}
}

func TestArtifacts_onlyWhatIsThere(t *testing.T) {
	b := open(t, t.TempDir())
	secret := filepath.Join(b.work, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.ended(b.start(`cd "$OCTET_TASK_ARTIFACTS" && mkdir sub && printf '{}' >sub/b.json && printf 'a\0b' >a.bin &&
		ln -s ` + secret + ` link.txt && mkfifo pipe && printf 'x\377' >z.md && : >empty.log`).ID)
	var got []string
	for _, a := range r.ArtifactRecords() {
		got = append(got, fmt.Sprint(a.ID, " ", a.Path.Or(""), " ", a.Kind))
	}
	want := []string{"output-01 artifacts/a.bin file", "output-02 artifacts/empty.log text", "output-03 artifacts/sub/b.json json", "output-04 artifacts/z.md markdown"}
	if !slices.Equal(got, want) {
		t.Errorf("artifacts %q", got)
	}
	for id, wantText := range map[string]bool{"output-01": false, "output-02": true, "output-03": true, "output-04": false} {
		if _, _, text, err := b.Artifact(session, r.ID, id, "", 0, 100); err != nil || text != wantText {
			t.Errorf("%s is text: %v, %v", id, text, err)
		}
	}
	for _, handle := range []string{"artifacts/link.txt", "artifacts/pipe", "../" + r.ID + ".json", "output-0", secret, ""} {
		if _, _, _, err := b.Artifact(session, r.ID, "", handle, 0, 100); !errors.Is(err, task.ErrNoArtifact) {
			t.Errorf("%q: %v", handle, err)
		}
	}
	// What was a file when the task ended may be none any more.
	folders, _ := filepath.Glob(filepath.Join(b.directory, "*", r.ID+".files", "artifacts", "sub"))
	if len(folders) != 1 {
		t.Fatal(folders)
	}
	if err := errors.Join(os.RemoveAll(folders[0]), os.Symlink(b.work, folders[0]), os.WriteFile(filepath.Join(b.work, "b.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, s, text, _ := b.Artifact(session, r.ID, "output-03", "", 0, 100); text {
		t.Errorf("a link out of the folder is followed to %q", s.Text)
	}
}

func TestRecords_oldestMakeRoom(t *testing.T) {
	b := open(t, t.TempDir())
	first := b.ended(b.start("true").ID)
	keep := b.start("exec sleep 1000")
	text, err := filepath.Glob(filepath.Join(b.directory, "*"))
	if err != nil || len(text) != 1 {
		t.Fatal(text, err)
	}
	for i := range 256 {
		id := fmt.Sprintf("ffffffff-0000-7000-8000-%012x", i)
		record := fmt.Sprintf(`{"ID":%q,"Session":%q,"State":"completed"}`, id, session)
		if err := os.WriteFile(filepath.Join(text[0], id+".json"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.start("true")
	if _, err := b.Get(session, first.ID); !errors.Is(err, task.ErrUnknown) {
		t.Errorf("the oldest is still there: %v", err)
	}
	if r, err := b.Get(session, keep.ID); err != nil || r.Terminal() {
		t.Errorf("one at work was dropped: %+v, %v", r, err)
	}
	if list, err := b.List(session); err != nil || len(list) != 256 || list[0].ID != keep.ID {
		t.Errorf("%d are listed, the first is %s, %v", len(list), list[0].ID, err)
	}
	if folders, _ := filepath.Glob(filepath.Join(text[0], first.ID+"*")); len(folders) > 0 {
		t.Errorf("left behind: %q", folders)
	}
}

// TestTools runs the tools that a model is given.
func TestTools(t *testing.T) {
	b := open(t, t.TempDir())
	tools := map[string]tool.Tool{}
	for _, x := range b.Tools(task.Place{Session: session, Turn: func() string { return "018f0000-0000-7000-8000-000000000001" }, Workspace: b.work}) {
		tools[x.Definition().Name] = x
		if err := schema.ParametersOK(x.Definition().Parameters); err != nil {
			t.Error(err)
		}
	}
	call := func(name, arguments string) tool.Result {
		t.Helper()
		r, err := tools[name].Run(t.Context(), tool.Call{ID: "c", Name: name, Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	text := func(r tool.Result) string { return r.Content[0].Text }
	started := text(call("task_start", `{"command":"echo one; exec sleep 1000","title":"a title"}`))
	id := strings.Fields(started)[1]
	if s := tools["task_start"].(tool.Describer).Describe([]byte(`{"command":"ls"}`)); s.Subject != "ls" {
		t.Errorf("it is described as %+v", s)
	}
	b.until("it writes", func() bool { return b.heard(id) != "" })
	if got := text(call("task_output", `{"task_id":"`+id+`"}`)); got != "[running; bytes 0 to 4 of 4]\none\n" {
		t.Errorf("output %q", got)
	}
	if got := text(call("task_output", `{"task_id":"`+id+`","offset":2}`)); got != "[running; bytes 2 to 4 of 4]\ne\n" {
		t.Errorf("output %q", got)
	}
	if r, err := b.Get(session, id); err != nil || r.Title != "a title" || r.Source != oupwire.TaskSourceModel || r.CallID != "c" {
		t.Errorf("it is %+v, %v", r, err)
	}
	if got := text(call("task_cancel", `{"task_id":"`+id+`"}`)); got != "it is cancelled" {
		t.Errorf("cancelled: %q", got)
	}
	if got := text(call("task_cancel", `{"task_id":"`+id+`"}`)); got != "it has ended already" {
		t.Errorf("again: %q", got)
	}
	for _, name := range []string{"task_output", "task_cancel"} {
		if r := call(name, `{"task_id":"018f0000-0000-7000-8000-00000000ffff"}`); !r.IsError {
			t.Errorf("%s of an unknown task: %+v", name, r)
		}
	}
}
