package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// witness is a frontend that remembers and says no, or what it is told to.
type witness struct {
	mu       sync.Mutex
	events   []agent.Event
	asked    int
	question permission.Question                         // the last one
	answer   func(permission.Question) permission.Answer // nil: no
}

func (w *witness) Show(e agent.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *witness) Ask(_ context.Context, q permission.Question) (permission.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	w.question = q
	if w.answer != nil {
		return w.answer(q), nil
	}
	return permission.Answer{Note: "not now"}, nil
}
func (*witness) Confirm(context.Context, dialog.Question) (bool, error)    { return false, nil }
func (*witness) Input(context.Context, dialog.Input) (string, bool, error) { return "", false, nil }

// types are the names of the events so far.
func (w *witness) types() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, e := range w.events {
		names = append(names, e.Type())
	}
	return strings.Join(names, " ")
}

// brain answers what a function says.
type brain struct {
	name   string
	answer func(ctx context.Context, r model.Request) (*model.Response, error)
}

func (b *brain) Name() string                                 { return b.name }
func (b *brain) Protocol() string                             { return b.name }
func (b *brain) Models(context.Context) ([]model.Info, error) { return nil, nil }
func (b *brain) Default() string                              { return b.name + ":one" }
func (b *brain) Open(_ context.Context, reference string) (model.Provider, model.Info, error) {
	if strings.HasPrefix(reference, "none") {
		return nil, model.Info{}, errors.New("there is no such model")
	}
	return b, model.Info{Provider: b.name, Model: reference}, nil
}

func (b *brain) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (*model.Response, error) {
	return b.answer(ctx, r)
}

func said(text string) *model.Response {
	return &model.Response{Message: conversation.Say(conversation.Assistant, text), Stop: model.StopEnd, UsageKnown: true}
}

// scene is an engine over a workspace of its own.
type scene struct {
	*Engine
	witness *witness
	brain   *brain
	home    string
}

func open(t *testing.T, change func(*Config)) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{witness: &witness{}, home: filepath.Join(root, "home")}
	s.brain = &brain{name: "brain", answer: func(_ context.Context, r model.Request) (*model.Response, error) {
		return said("heard " + r.Messages[len(r.Messages)-1].PlainText()), nil
	}}
	work := filepath.Join(root, "work")
	for _, dir := range []string{s.home, work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	store, err := session.Open(t.Context(), filepath.Join(root, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	config := Config{
		Machine:    selection.Machine{Home: s.home, Lookup: func(string) (string, bool) { return "", false }, Discoverer: &discovery.Discoverer{}},
		Invocation: selection.Invocation{Workspace: work}, Surface: policy.Session,
		Store: store, Models: s.brain, Frontend: s.witness,
	}
	if change != nil {
		change(&config)
	}
	if s.Engine, err = Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(supervise.ProductCap)
		_ = store.Close()
	})
	return s
}

func begin(t *testing.T, s *scene) *Conversation {
	t.Helper()
	c, err := s.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConversation_isKeptResumedAndForked(t *testing.T) {
	s := open(t, nil)
	c := begin(t, s)
	outcome, err := c.Prompt(t.Context(), agent.Prompt{Text: "one"})
	if err != nil || outcome.Status != agent.Completed || outcome.Text != "heard one" {
		t.Fatalf("%+v, %v", outcome, err)
	}
	id := c.ID()
	if _, err := s.Resume(t.Context(), id); !errors.Is(err, session.ErrBusy) {
		t.Errorf("a session that is open is opened again: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "late"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed conversation says %v", err)
	}
	again, err := s.Resume(t.Context(), id)
	if err != nil || s.Front() != again {
		t.Fatalf("resumed %v, %v", again, err)
	}
	fork, err := s.Fork(t.Context(), id, "")
	if err != nil || fork.ID() == id {
		t.Fatal(err)
	}
	if _, err := fork.Prompt(t.Context(), agent.Prompt{Text: "two"}); err != nil {
		t.Fatal(err)
	}
	before, _ := again.Branch(t.Context())
	behind, _ := fork.Branch(t.Context())
	if len(behind) <= len(before) {
		t.Errorf("the fork has %d entries, what it comes from %d", len(behind), len(before))
	}
	if latest, err := s.Latest(t.Context()); err != nil || latest.ID != fork.ID() {
		t.Errorf("the latest is %v, %v", latest.ID, err)
	}
	if _, err := s.Resume(t.Context(), "nowhere"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an unknown session is %v", err)
	}
}

// A conversation in which nothing was said leaves no session behind.
func TestConversation_emptyLeavesNothing(t *testing.T) {
	s := open(t, nil)
	if err := begin(t, s).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Latest(t.Context()); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("there is a session: %v", err)
	}
	if _, err := s.NewSession(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewSession_refuses(t *testing.T) {
	s := open(t, func(c *Config) { c.Model = "none:at all" })
	var unserved *ModelError
	if _, err := s.NewSession(t.Context()); !errors.As(err, &unserved) || unserved.Reference != "none:at all" {
		t.Errorf("a model that nobody serves is %v", err)
	}
	if _, err := s.Latest(t.Context()); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("it left a session: %v", err)
	}
	s = open(t, func(c *Config) { c.Models = &brainless{} })
	if _, err := s.NewSession(t.Context()); !errors.Is(err, ErrNoModel) {
		t.Errorf("no model is %v", err)
	}
	s = open(t, func(c *Config) { c.Require = []string{"read", "search", "find"} })
	var lacking *MissingToolsError
	if _, err := s.NewSession(t.Context()); !errors.As(err, &lacking) || lacking.Names != `"search", "find"` {
		t.Errorf("missing tools are %v", err)
	}
}

// brainless has no default.
type brainless struct{ brain }

func (*brainless) Default() string { return "" }

// A model sees the tools of the host, permission is asked of the frontend, and its no is told to the model.
func TestConversation_permissionIsAskedOfTheFrontend(t *testing.T) {
	s := open(t, func(c *Config) { c.Invocation.EffectPolicy = "controlled" })
	s.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == conversation.Tool {
			return said("told: " + last.Parts[0].PlainText()), nil
		}
		return &model.Response{Stop: model.StopTools, UsageKnown: true, Message: conversation.Message{
			Role: conversation.Assistant, Parts: []conversation.Part{{
				Kind: conversation.ToolCall, CallID: "c1", Name: "write", Arguments: []byte(`{"path":"new.txt","content":"x"}`),
			}},
		}}, nil
	}
	outcome, err := begin(t, s).Prompt(t.Context(), agent.Prompt{Text: "write"})
	if err != nil || s.witness.asked != 1 || !strings.Contains(outcome.Text, "not now") {
		t.Errorf("asked %d times, %+v, %v", s.witness.asked, outcome, err)
	}
	if _, err := os.Stat(filepath.Join(s.Workspace(), "new.txt")); err == nil {
		t.Error("a denied call has written")
	}
}

// A path that links lead out of the workspace is asked about as what it is, and leave for one place is none for another;
// octet's own data is not even asked about.
func TestConversation_permissionIsForThePlaceThatIsNamed(t *testing.T) {
	var far, near, own string
	s := open(t, func(c *Config) {
		c.Invocation.EffectPolicy = "controlled"
		root := filepath.Dir(c.Invocation.Workspace)
		far, near, own = filepath.Join(root, "far"), filepath.Join(root, "near"), filepath.Join(root, "own")
		for _, dir := range []string{far, near} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		store, err := session.Open(t.Context(), filepath.Join(own, "sessions.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		c.Store = store
	})
	way := filepath.Join(s.Workspace(), "way")
	lead := func(to string) {
		_ = os.Remove(way) // there may be none yet
		if err := os.Symlink(to, way); err != nil {
			t.Fatal(err)
		}
	}
	s.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == conversation.Tool {
			return said("told: " + last.Parts[0].PlainText()), nil
		}
		return &model.Response{Stop: model.StopTools, UsageKnown: true, Message: conversation.Message{
			Role: conversation.Assistant, Parts: []conversation.Part{{
				Kind: conversation.ToolCall, CallID: last.PlainText(), Name: "write", Arguments: []byte(`{"path":"way/evil","content":"x"}`),
			}},
		}}, nil
	}
	c := begin(t, s)
	yes := func(permission.Question) permission.Answer {
		return permission.Answer{Allow: true, Scope: permission.Once}
	}
	for _, step := range []struct {
		name, to, told string
		asked          int
		answer         func(permission.Question) permission.Answer
	}{
		{"a link that is changed behind the question", far, "a link was changed meanwhile", 1, func(q permission.Question) permission.Answer {
			lead(near)
			return yes(q)
		}},
		{"a link that stays", far, "is created", 2, yes},
		{"a link to octet's data", own, "where octet keeps its own keys", 2, yes},
	} {
		lead(step.to)
		s.witness.answer = step.answer
		outcome, err := c.Prompt(t.Context(), agent.Prompt{Text: step.name})
		if err != nil || s.witness.asked != step.asked || !strings.Contains(outcome.Text, step.told) {
			t.Errorf("%s: asked %d times, %+v, %v", step.name, s.witness.asked, outcome, err)
		}
		if got, want := s.witness.question.Summary.Words(), "way/evil (outside of the workspace: it leads to "+filepath.Join(far, "evil")+")"; got != want {
			t.Errorf("%s: asked was %q, want %q", step.name, got, want)
		}
	}
	for path, want := range map[string]bool{far: true, near: false, own: false} {
		if _, err := os.Stat(filepath.Join(path, "evil")); (err == nil) != want {
			t.Errorf("written to %s: %v", path, err)
		}
	}
}

// Close settles what runs as ended by the shutdown, stores that, and begins nothing more.
func TestClose_settlesWhatRuns(t *testing.T) {
	s := open(t, nil)
	asked := make(chan struct{})
	s.brain.answer = func(ctx context.Context, _ model.Request) (*model.Response, error) {
		close(asked)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	c := begin(t, s)
	outcomes := make(chan agent.Outcome, 1)
	go func() {
		outcome, _ := c.Prompt(context.Background(), agent.Prompt{Text: "wait"})
		outcomes <- outcome
	}()
	<-asked
	s.Close(supervise.SignalCap)
	if outcome := <-outcomes; outcome.Status != agent.Shutdown {
		t.Errorf("the run ended as %+v", outcome)
	}
	if types := s.witness.types(); !strings.HasSuffix(types, "run_settled") || strings.Count(types, "run_settled") != 1 {
		t.Errorf("shown were %s", types)
	}
	info, err := s.Store().Info(t.Context(), c.ID())
	if err != nil || info.Running != "" {
		t.Errorf("stored is %+v, %v", info, err)
	}
	if _, err := s.NewSession(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed engine begins: %v", err)
	}
}

// MAN-START-012: an extension that cannot be launched is parked with a diagnostic, the rest goes on, and a
// reload finds what was put there since.
func TestReload_discoversAnew(t *testing.T) {
	s := open(t, func(c *Config) { c.Invocation.Enable = []string{"late"} })
	c := begin(t, s)
	if err := s.Ready(t.Context()); err != nil || len(s.Statuses()) != 0 {
		t.Fatalf("there are %+v, %v", s.Statuses(), err)
	}
	dir := filepath.Join(s.home, ".octet", "extensions", "late")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest := "name = \"late\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\nentrypoint = { command = \"bin/nothing\" }\ncontributes = { tools = [\"search\"], commands = [\"go\"] }\n"
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	reports, err := s.Reload(t.Context())
	if err != nil || len(reports) != 1 || reports[0].Err == nil || reports[0].State != supervise.Parked {
		t.Fatalf("%+v, %v", reports, err)
	}
	status := s.Statuses()[0]
	if status.Running || status.Why != "" || !strings.HasPrefix(status.Compatible, "incompatible: ") ||
		strings.Join(status.Tools, " ") != "search" || strings.Join(status.Commands, " ") != "go" || status.Health.Generation != 0 {
		t.Errorf("the status is %+v", status)
	}
	told, _ := s.Diagnostics()
	found := false
	for _, d := range told {
		found = found || d.Rule == "MAN-DIAG-004" && strings.Contains(d.Message, `extension "late" launch failed`)
	}
	if !found {
		t.Errorf("told was %v", told)
	}
	if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "still here"}); err != nil {
		t.Error(err)
	}
	var unknown *UnknownCommandError
	if _, err := s.FindCommand("go", nil); !errors.As(err, &unknown) {
		t.Errorf("a command of a parked extension is %v", err)
	}
	if report := s.ReloadExtensions(t.Context(), "nobody")[0]; report.Err == nil {
		t.Error("nobody was reloaded")
	}
	if taken := s.Taken(); taken["read"] != "octet" || taken["run_tool"] != "octet" || taken["search"] != "" {
		t.Errorf("taken are %v", taken)
	}
}

// A driver of sessions waits for the run in front, and moves the person to another session.
func TestDriver_controlsTheSessionInFront(t *testing.T) {
	s := open(t, func(c *Config) { c.Interactive = true })
	c := begin(t, s)
	if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "one"}); err != nil {
		t.Fatal(err)
	}
	d := driver{s.Engine}
	id, release, err := d.Idle(t.Context())
	if err != nil || id != c.ID() {
		t.Fatal(id, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, err := c.Prompt(ctx, agent.Prompt{Text: "meanwhile"}); err != nil || outcome.Status != agent.Cancelled || outcome.Run != "" {
		t.Errorf("a prompt while the session is held: %+v, %v", outcome, err)
	}
	release()
	forked, err := d.Fork(t.Context())
	if err != nil || s.Front() != c {
		t.Fatalf("forked %q, %v", forked, err)
	}
	if active, err := d.Switch(t.Context(), forked); err != nil || active != forked || s.Front().ID() != forked {
		t.Fatalf("switched to %q, %v", active, err)
	}
	if _, err := c.Prompt(t.Context(), agent.Prompt{Text: "late"}); !errors.Is(err, ErrClosed) {
		t.Errorf("the one before says %v", err)
	}
	before := s.Front()
	if active, err := d.Reload(t.Context()); err != nil || active != forked || s.Front() == before {
		t.Errorf("reloaded %q, %v", active, err)
	}
	if _, err := d.Switch(t.Context(), "nowhere"); !errors.Is(err, session.ErrNotFound) || s.Front().ID() != forked {
		t.Errorf("switched to nowhere: %v", err)
	}
	other, err := s.Store().Create(t.Context(), session.New{Workspace: "/elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Switch(t.Context(), other.ID); err == nil || !strings.Contains(err.Error(), "another workspace") {
		t.Errorf("switched to another workspace: %v", err)
	}
	if created, err := d.Create(t.Context()); err != nil || created == "" || s.Front().ID() != forked {
		t.Errorf("created %q, %v", created, err)
	}
}
