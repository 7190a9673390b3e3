package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	hostextension "github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// actVariable makes the test binary an extension of the API that it names.
const actVariable = "OCTET_TEST_ACTS_AS"

func init() {
	switch os.Getenv(actVariable) {
	case string(extension.API03):
		extension.Main(newActor03())
	case string(extension.API04):
		extension.Main(newActor04())
	}
}

// diary is what an extension has seen, and who waits for it to grow.
type diary struct {
	mu    sync.Mutex
	lines []string
	grown chan struct{}
}

func newDiary() *diary { return &diary{grown: make(chan struct{})} }

func (d *diary) add(format string, values ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, values...))
	close(d.grown)
	d.grown = make(chan struct{})
}

// until returns everything once a line is there for the nth time.
func (d *diary) until(ctx context.Context, line string, nth int) (string, error) {
	for {
		d.mu.Lock()
		lines, grown := slices.Clone(d.lines), d.grown
		d.mu.Unlock()
		count := 0
		for _, l := range lines {
			if strings.HasPrefix(l, line) {
				count++
			}
		}
		if count >= nth {
			return strings.Join(lines, "\n"), nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return strings.Join(lines, "\n"), ctx.Err()
		}
	}
}

// recall is what a tool is asked for: what was seen, once it was seen so often; and what is to be done when it
// has answered.
type recall struct {
	Line string `json:"line"`
	Nth  int    `json:"nth"`
	Then string `json:"then,omitempty"`
}

// newActor03 controls sessions on API 0.3 and writes down what it is told of them.
func newActor03() *extension.Extension {
	seen := newDiary()
	ext := extension.New(&extension.Options{API: extension.API03, Uses: []string{
		canonicalwire.CapabilitySessionLifecycle, canonicalwire.CapabilityEventBus,
	}})
	ext.OnSessionStart(func(_ context.Context, s extension.SessionStart) { seen.add("start %s", s.Owner.SessionID) })
	ext.OnSessionEnd(func(_ context.Context, s extension.SessionEnd) {
		seen.add("end %s %s/%s", s.Owner.SessionID, s.Outcome, s.Reason)
	})
	ext.EventsV03().BusLifecycle(func(_ context.Context, e canonicalwire.BusLifecycleParams) {
		if _, anew := e.(canonicalwire.BusBindingNotice); anew {
			seen.add("bus")
		}
	})
	extension.AddTool(ext, "act", "Acts", func(ctx context.Context, call *extension.Call, r recall) (*extension.Result, error) {
		if r.Then == "switch" {
			call.After(func(ctx context.Context, scope *extension.Scope) error {
				forked, err := scope.V03().Session().Fork(ctx)
				if err == nil {
					_, err = scope.V03().Session().Switch(ctx, forked.SessionID)
				}
				if err == nil {
					_, err = scope.V03().Session().Reload(ctx)
				}
				seen.add("done %v", err)
				return err
			})
		}
		text, err := seen.until(ctx, r.Line, r.Nth)
		return extension.Text(text), err
	})
	return ext
}

// subagents is the extension that may have child agents.
const subagents = "octet-subagents"

// newActor04 does the same on API 0.4, from a command, and hears what the host tells.
func newActor04() *extension.Extension {
	seen := newDiary()
	ext := extension.New(&extension.Options{Uses: []string{
		featurewire.FeatureSessionControlV1, featurewire.FeatureSessionCompactionV1, featurewire.FeatureLifecycleEvents,
		featurewire.FeatureLifecycleEventsV2, featurewire.FeatureAgentSessions, featurewire.FeatureDelegationTelemetryV1,
	}})
	events := ext.Events()
	events.SessionStarted(func(_ context.Context, e featurewire.SessionStartedParams) {
		seen.add("session started %s", e.SessionID)
	})
	events.SessionSettled(func(_ context.Context, e featurewire.SessionSettledParams) {
		seen.add("session settled %s %s", e.SessionID, e.Outcome)
	})
	events.CompactionStarted(func(_ context.Context, e featurewire.CompactionStartedParams) {
		seen.add("compaction started%s", members(e))
	})
	events.CompactionSettled(func(_ context.Context, e featurewire.CompactionSettledParams) {
		seen.add("compaction settled%s", members(e))
	})
	events.CompactionFailed(func(_ context.Context, e featurewire.CompactionFailedParams) {
		seen.add("compaction failed%s", members(e))
	})
	events.SessionInfoChanged(func(_ context.Context, e featurewire.SessionInfoChangedParams) { seen.add("info%s", members(e)) })
	events.DialogStarted(func(_ context.Context, e featurewire.DialogStartedParams) { seen.add("dialog started%s", members(e)) })
	events.DialogSettled(func(_ context.Context, e featurewire.DialogSettledParams) { seen.add("dialog settled%s", members(e)) })
	events.ModelSelected(func(_ context.Context, e featurewire.ModelSelectedParams) { seen.add("model%s", members(e)) })
	events.ReasoningSelected(func(_ context.Context, e featurewire.ReasoningSelectedParams) { seen.add("reasoning%s", members(e)) })
	command := func(name string, run func(context.Context, *extension.CommandCall, []string) (string, error)) {
		ext.AddCommand(extension.Command{Name: name, Description: name, Run: func(ctx context.Context, call *extension.CommandCall, args []string) (*extension.CommandResult, error) {
			text, err := run(ctx, call, args)
			return &extension.CommandResult{Text: text}, err
		}})
	}
	if os.Getenv("OCTET_EXTENSION_NAME") == subagents {
		command("spawn", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
			child, err := call.Agents().Spawn(ctx, featurewire.AgentSpawnParams{
				TaskName: "slow", Message: "be slow", IdempotencyKey: "k", Policy: featurewire.AgentPolicy{
					Tools: []featurewire.AgentTool{featurewire.AgentToolRead}, MaxDepth: 1, MaxConcurrentChildren: 1, MaxOutputBytes: 512,
					MaxTurns: wirejson.Some[int64](2), MaxTokens: wirejson.Null[int64](), MaxCostMicrodollars: wirejson.Null[int64](), TimeoutMs: wirejson.Some[int64](60000),
				},
			})
			return child.AgentPath, err
		})
		return ext
	}
	command("switch", func(ctx context.Context, call *extension.CommandCall, args []string) (string, error) {
		_, err := call.Session().Switch(ctx, args[0]) // while the request still runs: it ends with the session
		return "", err
	})
	command("compact", func(_ context.Context, call *extension.CommandCall, _ []string) (string, error) {
		call.After(func(ctx context.Context, scope *extension.Scope) error {
			_, err := scope.Session().Compact(ctx, featurewire.SessionCompactParams{})
			seen.add("compacted %v", err)
			return nil
		})
		return "", nil
	})
	command("ask", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		answer, err := call.Confirmations().Ask(ctx, featurewire.ConfirmationRequestParams{Prompt: "a secret question?"})
		return fmt.Sprint(answer.Confirmed), err
	})
	command("news", func(_ context.Context, call *extension.CommandCall, _ []string) (string, error) {
		for n := range int64(100) {
			if err := call.Progress("step", n, 100, "steps"); err != nil {
				return "", err
			}
		}
		call.After(func(_ context.Context, scope *extension.Scope) error {
			return scope.Notify(extension.LevelInfo, "", "answered")
		})
		return "told", nil
	})
	command("until", func(ctx context.Context, _ *extension.CommandCall, args []string) (string, error) {
		return seen.until(ctx, args[0], 1)
	})
	return ext
}

// members are the members of an observation, without the ids of sessions.
func members(e interface{ AppendJSON([]byte) []byte }) string {
	all := map[string]any{}
	if err := json.Unmarshal(e.AppendJSON(nil), &all); err != nil {
		return err.Error()
	}
	var list []string
	for name, value := range all {
		if !strings.HasSuffix(name, "_id") && name != "first_kept" && name != "tokens_before" {
			list = append(list, fmt.Sprintf(" %s=%v", name, value))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// acting opens a scene with an actor.
func acting(t *testing.T, api extension.API, contributes string) (*scene, <-chan SessionOpened) {
	t.Helper()
	return actingAs(t, "actor", api, contributes, nil)
}

func actingAs(t *testing.T, name string, api extension.API, contributes string, change func(*Config)) (*scene, <-chan SessionOpened) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = %q\n[entrypoint]\ncommand = %q\n[entrypoint.env]\n%s = %q\n[contributes]\n%s",
		name, api, self, actVariable, api, contributes)
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan SessionOpened, 16)
	s := open(t, func(c *Config) {
		c.Interactive = true
		c.Frontend = opening{c.Frontend.(*witness), opened, make(chan agent.Notified, 16)}
		c.Invocation.Directories, c.Invocation.Enable = []string{filepath.Dir(dir)}, []string{name}
		c.Machine.Lookup = os.LookupEnv
		if change != nil {
			change(c)
		}
	})
	s.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == conversation.Tool {
			return said(last.Parts[0].PlainText()), nil
		}
		if text := last.PlainText(); strings.HasPrefix(text, "{") {
			return &model.Response{Stop: model.StopTools, UsageKnown: true, Message: conversation.Message{
				Role: conversation.Assistant, Parts: []conversation.Part{{Kind: conversation.ToolCall, CallID: "c1", Name: "act", Arguments: []byte(text)}},
			}}, nil
		}
		return said("heard " + last.PlainText()), nil
	}
	return s, opened
}

// say prompts the conversation in front.
func (s *scene) say(t *testing.T, text string) string {
	t.Helper()
	outcome, err := s.Front().Prompt(t.Context(), agent.Prompt{Text: text})
	if err != nil || outcome.Status != agent.Completed {
		t.Fatalf("%q: %+v, %v; diagnosed %v", text, outcome, err, s.said("actor"))
	}
	return outcome.Text
}

// acting04 opens a scene with an actor of API 0.4 in service, and a conversation in front.
func acting04(t *testing.T) (*scene, *Conversation, <-chan SessionOpened) {
	t.Helper()
	s, opened := acting(t, extension.API04, "commands = [\"switch\", \"compact\", \"ask\", \"news\", \"until\"]\nconfirmations = true\nnotifications = true\n")
	c := begin(t, s)
	<-opened
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, c, opened
}

// command finds a command of an extension.
func (s *scene) command(t *testing.T, name string) Command {
	t.Helper()
	command, err := s.FindCommand(name, nil)
	if err != nil {
		told, _ := s.Diagnostics()
		t.Fatalf("%v; told %v", err, told)
	}
	return command
}

// run runs a command on behalf of a conversation.
func (s *scene) run(t *testing.T, c *Conversation, name string, arguments ...string) string {
	t.Helper()
	text, err := c.Command(t.Context(), s.command(t, name), arguments, nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return text
}

// opening is a frontend that passes on which conversations come to the front.
type opening struct {
	*witness
	opened   chan SessionOpened
	notified chan agent.Notified
}

func (o opening) Show(e agent.Event) {
	o.witness.Show(e)
	switch e := e.(type) {
	case SessionOpened:
		o.opened <- e
	case agent.Notified:
		o.notified <- e
	}
}
func (o opening) Confirm(context.Context, dialog.Question) (bool, error) { return true, nil }

// EXT03-SESSION-012: a switch and a reload end the session hooks of the session that was in front before those
// of the next one begin, and give the bus another incarnation.
func TestControl_hooksAndBusFollowTheSession(t *testing.T) {
	s, opened := acting(t, extension.API03, "tools = [\"act\"]\nhooks = [\"session_start\", \"session_end\"]\n")
	first := begin(t, s)
	if o := <-opened; o.ByExtension || o.Session != first.ID() {
		t.Errorf("opened %+v", o)
	}
	s.say(t, `{"line":"start","nth":1,"then":"switch"}`)
	second := <-opened // a fork of the first
	third := <-opened  // the same, read anew
	if !second.ByExtension || second.Session == first.ID() || !second.Resumed || third.Session != second.Session {
		t.Errorf("opened %+v and %+v", second, third)
	}
	if _, err := s.Next(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	one, two := first.session.Owner(), s.Front().session.Owner()
	s.say(t, `{"line":"done","nth":1}`)
	told := s.say(t, `{"line":"bus","nth":3}`)
	var hooks []string
	buses := 0
	for line := range strings.Lines(told) {
		switch line = strings.TrimSpace(line); {
		case line == "bus":
			buses++
		default:
			hooks = append(hooks, line)
		}
	}
	want := []string{
		"start " + one, "end " + one + " completed/shutdown", "start " + two, "end " + two + " completed/reload", "start " + two, "done <nil>",
	}
	if !slices.Equal(hooks, want) {
		t.Errorf("told was\n%s\nwant\n%s", strings.Join(hooks, "\n"), strings.Join(want, "\n"))
	}
	if buses != 3 {
		t.Errorf("the bus had %d incarnations, want 3:\n%s", buses, told)
	}
}

// A conversation is told of in the order of what happens, also where the request that switches ends with the
// session that it belongs to; a prompt finds the one that is in front then.
func TestControl_switchesInTheMiddleOfACommand(t *testing.T) {
	s, first, opened := acting04(t)
	other, err := driver{s.Engine}.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.say(t, "something to sum up")
	if _, err := first.Command(t.Context(), s.command(t, "switch"), []string{other}, nil); err == nil {
		t.Error("the request outlived its session")
	}
	if o := <-opened; o.Session != other || !o.ByExtension {
		t.Errorf("opened %+v", o)
	}
	if _, err := first.Prompt(t.Context(), agent.Prompt{Text: "late"}); !errors.Is(err, ErrClosed) {
		t.Errorf("the one before says %v", err)
	}
	front, err := s.Next(t.Context(), first)
	if err != nil || front.ID() != other {
		t.Fatalf("next is %v, %v", front, err)
	}
	told := s.run(t, front, "until", "session started "+other)
	want := []string{"session started " + first.ID(), "session settled " + first.ID() + " completed", "session started " + other}
	var sessions []string
	for line := range strings.Lines(told) {
		if strings.HasPrefix(line, "session") {
			sessions = append(sessions, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(sessions, want) {
		t.Errorf("told was %q, want %q", sessions, want)
	}
}

// EXT04-EVENT-013: extensions hear of compactions, dialogs, models and names, and of no text of them.
func TestTell_whatIsNoTurn(t *testing.T) {
	s, c, _ := acting04(t)
	if answer := s.run(t, c, "ask"); answer != "true" {
		t.Errorf("answered %s", answer)
	}
	if err := c.SetName(t.Context(), "a name"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetModel(t.Context(), "brain:two", "high"); err != nil {
		t.Fatal(err)
	}
	s.say(t, "one")
	s.say(t, "two")
	s.run(t, c, "compact")
	s.run(t, c, "until", "compacted <nil>")
	told := s.run(t, c, "until", "compaction settled")
	for _, want := range []string{
		"dialog started asker=actor kind=confirmation\n", "dialog settled asker=actor kind=confirmation outcome=completed\n", "info name=a name\n",
		"model model=brain:two provider=brain\n", "reasoning reasoning=high\n", "compaction started entries=3 trigger=manual\n",
		"compaction settled trigger=manual",
	} {
		if !strings.Contains(told+"\n", want) {
			t.Errorf("not told: %q; told was\n%s", want, told)
		}
	}
	if strings.Contains(told, "secret") || strings.Contains(told, "heard") {
		t.Errorf("told was %s", told)
	}
}

// The child agents of an extension end when it is switched off, and not when its process is replaced.
func TestReload_endsTheChildrenOfWhatIsSwitchedOff(t *testing.T) {
	var config string
	s, _ := actingAs(t, subagents, extension.API04, "commands = [\"spawn\"]\n", func(c *Config) {
		c.Invocation.Enable = nil
		config = filepath.Join(c.Machine.Home, ".octet", "config.toml")
		if err := os.Mkdir(filepath.Dir(config), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(config, []byte("enabled_extensions = [\""+subagents+"\"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	begun, ended := make(chan struct{}), make(chan error, 1)
	s.brain.answer = func(ctx context.Context, _ model.Request) (*model.Response, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}
	c := begin(t, s)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if path, err := c.Command(t.Context(), s.command(t, "spawn"), nil, nil); err != nil || path == "" {
		t.Fatalf("spawned %q, %v; diagnosed %v", path, err, s.said(subagents))
	}
	<-begun
	if report := s.ReloadExtensions(t.Context(), subagents)[0]; report.Err != nil {
		t.Fatal(report.Err)
	}
	if len(ended) > 0 {
		t.Fatalf("the child did not outlive a reload: %v", <-ended)
	}
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "shut down") {
		t.Errorf("the child ended with %v", err)
	}
}

// A command is answered however slow its news are shown; what piles up meanwhile is one piece, the newest. Where the
// machine is slow, all of it may have piled up before the first is shown.
func TestCommand_isNotHeldUpByItsNews(t *testing.T) {
	s, c, _ := acting04(t)
	answered := s.config.Frontend.(opening).notified
	var shown []int64
	text, err := c.Command(t.Context(), s.command(t, "news"), nil, func(p hostextension.Progress) {
		if len(shown) == 0 {
			<-answered
		}
		shown = append(shown, *p.Current)
	})
	if err != nil || text != "told" || len(shown) == 0 || len(shown) > 2 || shown[len(shown)-1] != 99 {
		t.Errorf("answered %q, %v; shown were %v", text, err, shown)
	}
}
