package nativehost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/model/scripted"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
	"github.com/octet-dev/octet/host/tool/builtin"
)

// Bounds of files that a run names.
const (
	maxContextBytes = 256 << 10
	maxImageBytes   = 10 << 20
)

// storeName is the file of a session directory.
const storeName = "sessions.db"

// run is one run from its request to its end.
type run struct {
	host    *Host
	request *runRequest
	answers *answers

	workspace *os.Root
	selected  *selection.Selection
	provider  model.Provider
	info      model.Info
	system    string
	prompt    agent.Prompt
	store     *session.Store
	session   *session.Session
	tools     *builtin.Tools

	stop    context.CancelFunc
	cut     bool // an event did not fit, and ended the request
	settled bool
	changed []string
	calls   int
}

// run serves the command of that name. An error comes before accepted and becomes the protocol_error.
func (h *Host) run(ctx context.Context, a *answers, line []byte) error {
	request := &runRequest{}
	if err := readStrictly(line, request); err != nil {
		return err
	}
	if err := request.check(); err != nil {
		return err
	}
	r := &run{host: h, request: request, answers: a}
	defer r.release()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	a.frame.RunID, a.frame.SessionID = request.RunID, request.SessionID
	a.say("accepted", map[string]any{"workspace": r.selected.Workspace, "model": r.info.Provider + ":" + r.info.Model})
	r.play(ctx)
	return nil
}

// prepare opens what a run needs. Nothing is written before the store.
func (r *run) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.choose, r.look, r.compose, r.openTools, r.openSession} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) release() {
	if r.session != nil {
		_ = r.session.Close()
	}
	if r.store != nil {
		_ = r.store.Close()
	}
	if r.tools != nil {
		_ = r.tools.Close()
	}
	if r.workspace != nil {
		_ = r.workspace.Close()
	}
}

// choose finds the model.
func (r *run) choose(ctx context.Context) error {
	q, err := r.request, error(nil)
	if q.inline() {
		r.provider, r.info = r.inlineRoute()
	} else if r.provider, r.info, err = r.host.options.Models.Open(ctx, q.Model); err != nil {
		return refuse(codeModel, "%v", err)
	}
	if q.Offline && r.provider.Protocol() != scripted.Name && !loopback(q.BaseURL) {
		return refuse(codeModel, "offline: model %q needs the network; use %s:FILE, or an inline route to this machine", short(q.Model), scripted.Name)
	}
	if q.Reasoning != "" && len(r.info.Reasoning) > 0 && !slices.Contains(r.info.Reasoning, q.Reasoning) {
		return refuse(codeRequest, "reasoning is %q; the model has %s", short(q.Reasoning), strings.Join(r.info.Reasoning, ", "))
	}
	for i, m := range q.Media {
		if len(r.info.Input) > 0 && !takes(r.info, m.Type) {
			return refuse(codeRequest, "media[%d] is an %s, which the model %s does not take", i, m.Type, r.info.Model)
		}
	}
	if len(q.ImagePaths) > 0 && len(r.info.Input) > 0 && !takes(r.info, "image") {
		return refuse(codeRequest, "image_paths: the model %s takes no images", r.info.Model)
	}
	return nil
}

func (r *run) inlineRoute() (model.Provider, model.Info) {
	q := r.request
	d := registry.Declaration{Name: q.Provider, Protocol: q.ProviderMode, BaseURL: q.BaseURL, Key: q.APIKey, Headers: q.CustomHeaders}
	if d.Name == "" {
		d.Name = "inline"
	}
	info := model.Info{Provider: d.Name, Model: q.Model, Input: q.InputModalities}
	if q.ContextWindowTokens != nil {
		info.ContextWindow = *q.ContextWindowTokens
	}
	if q.MaxOutputTokens != nil {
		info.MaxOutputTokens = *q.MaxOutputTokens
	}
	if q.SupportsReasoning != nil && *q.SupportsReasoning {
		info.Reasoning = []string{"minimal", "low", "medium", "high"}
	}
	return r.host.options.Models.Inline(d, info), info
}

// loopback reports whether a base URL leads to this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// look settles workspace and policy, and finds out which extensions there are. None is started.
func (r *run) look(context.Context) error {
	q := r.request
	selected, err := selection.Resolve(r.host.options.Machine, selection.Invocation{
		Workspace: q.Workspace, EffectPolicy: string(policy.Controlled),
		Directories: q.ExtensionPaths, Enable: q.EnabledExtensions, Trust: q.TrustedExtensions,
	}, policy.NativeHost)
	var configuration *selection.ConfigurationError
	if errors.As(err, &configuration) {
		for _, d := range configuration.Diagnostics {
			r.host.options.Diagnose(d.String())
		}
	}
	if err != nil {
		return refuse(codeRequest, "%v", err)
	}
	for _, d := range selected.Diagnostics {
		r.host.options.Diagnose(d.String())
	}
	r.selected = selected
	if r.workspace, err = os.OpenRoot(selected.Workspace); err != nil {
		return refuse(codeRequest, "workspace %q cannot be opened: %v", short(q.Workspace), pathless(err))
	}
	if q.WorkingDir != "" {
		inside, err := r.inside(q.WorkingDir)
		if err != nil {
			return refuse(codeRequest, "working_dir %v", err)
		}
		if info, err := r.workspace.Stat(inside); err != nil || !info.IsDir() {
			return refuse(codeRequest, "working_dir %q is no directory of the workspace", short(q.WorkingDir))
		}
		q.WorkingDir = inside
	}
	return nil
}

// inside is a path relative to the workspace. The error begins with the path.
func (r *run) inside(path string) (string, error) {
	relative := path
	if filepath.IsAbs(path) {
		var err error
		if relative, err = filepath.Rel(r.selected.Workspace, path); err != nil {
			return "", fmt.Errorf("%q is not inside the workspace", short(path))
		}
	}
	if relative = filepath.Clean(relative); !filepath.IsLocal(relative) {
		return "", fmt.Errorf("%q is not inside the workspace", short(path))
	}
	return relative, nil
}

func pathless(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// read reads a file of the workspace, without following a link that leads out of it.
func (r *run) read(field, path string, most int64) ([]byte, error) {
	inside, err := r.inside(path)
	if err != nil {
		return nil, refuse(codeRequest, "%s: %v", field, err)
	}
	// Before it is opened: a fifo would be waited for.
	info, err := r.workspace.Stat(inside)
	if err == nil && !info.Mode().IsRegular() {
		return nil, refuse(codeRequest, "%s: %q is no regular file", field, short(path))
	}
	if err != nil {
		return nil, refuse(codeRequest, "%s: %q cannot be read: %v", field, short(path), pathless(err))
	}
	file, err := r.workspace.Open(inside)
	if err != nil {
		return nil, refuse(codeRequest, "%s: %q cannot be read: %v", field, short(path), pathless(err))
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, refuse(codeRequest, "%s: %q cannot be read: %v", field, short(path), pathless(err))
	}
	if int64(len(text)) > most {
		return nil, refuse(codeRequest, "%s: %q has more than %d bytes", field, short(path), most)
	}
	return text, nil
}

// compose makes the system prompt and the prompt.
func (r *run) compose(context.Context) error {
	q := r.request
	sections := []string{q.SystemPrompt}
	if q.SystemPrompt == "" {
		sections[0] = "You work in the workspace " + r.selected.Workspace + " with the tools that you have. Nobody can answer questions: decide yourself, and say what you did."
	}
	if q.WorkingDir != "" {
		sections = append(sections, "Work in the directory "+filepath.ToSlash(q.WorkingDir)+" of the workspace.")
	}
	total := 0
	for i, path := range q.ContextFiles {
		text, err := r.read(fmt.Sprintf("context_files[%d]", i), path, maxContextBytes)
		if err != nil {
			return err
		}
		if total += len(text); total > maxContextBytes*4 {
			return refuse(codeRequest, "context_files have more than %d bytes together", maxContextBytes*4)
		}
		sections = append(sections, "The file "+path+":\n\n"+strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	r.system = strings.Join(sections, "\n\n")
	r.prompt = agent.Prompt{Text: q.Prompt, Display: q.PromptDisplayText}
	for _, m := range q.Media {
		r.prompt.Media = append(r.prompt.Media, conversation.Part{Kind: conversation.Kind(m.Type), MediaType: m.MediaType, Data: m.Data, Text: m.Text})
	}
	for i, path := range q.ImagePaths {
		field := fmt.Sprintf("image_paths[%d]", i)
		data, err := r.read(field, path, maxImageBytes)
		if err != nil {
			return err
		}
		kind := http.DetectContentType(data)
		if !strings.HasPrefix(kind, "image/") {
			return refuse(codeRequest, "%s: %q is no image", field, short(path))
		}
		r.prompt.Media = append(r.prompt.Media, conversation.Part{Kind: conversation.Image, MediaType: kind, Data: data})
	}
	return nil
}

// settings are those of the configuration, under the policy that no request can change.
func (r *run) settings() policy.Settings {
	s := r.selected.Policy
	s.Effect = policy.Controlled
	s.AllowExternalPaths = s.AllowExternalPaths && r.request.AllowExternalPaths
	return s
}

// openTools opens the tools that the request leaves.
func (r *run) openTools(context.Context) error {
	opened, err := builtin.Open(builtin.Options{Workspace: r.selected.Workspace, AllowExternalPaths: r.settings().AllowExternalPaths})
	if err != nil {
		return refuse(codeHost, "the tools cannot be opened: %v", err)
	}
	r.tools = opened
	for _, name := range r.request.tools {
		if opened.Find(name) == nil {
			return refuse(codeRequest, "tools holds %q, which this host does not have", short(name))
		}
	}
	return nil
}

// Snapshot is what the model may use. Tools that change files are left out where nothing may be changed.
func (r *run) Snapshot(context.Context) (tool.Snapshot, error) {
	var list []tool.Tool
	for _, t := range r.tools.Tools() {
		d := t.Definition()
		switch {
		case r.request.noTools, !r.request.allTools && !slices.Contains(r.request.tools, d.Name):
		case d.Effect == tool.Write && !r.request.AllowFileMutation:
		default:
			list = append(list, t)
		}
	}
	return tool.Of(list...)
}

// inRequest is an error of a store with a remedy for whoever writes requests: they have a session_dir where the
// command line has --data-dir.
func inRequest(err error) error {
	var failed *session.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Remedy, "--data-dir") {
		return err
	}
	own := *failed
	own.Remedy = strings.ReplaceAll(own.Remedy, "--data-dir", "session_dir")
	return &own
}

// openSession finds or makes the session.
func (r *run) openSession(ctx context.Context) error {
	q := r.request
	dir := q.SessionDir
	switch {
	case strings.ContainsFunc(dir, unicode.IsControl):
		return refuse(codeRequest, "session_dir: %q has a control character; name a directory without one", short(dir))
	case dir == "":
		dir = filepath.Join(r.selected.Workspace, ".octet", "sessions")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(r.selected.Workspace, dir)
	}
	var err error
	if r.store, err = session.Open(ctx, filepath.Join(dir, storeName)); err != nil {
		return refuse(codeSession, "%v", inRequest(err))
	}
	id, err := r.find(ctx)
	if err != nil {
		return err
	}
	fresh := id == ""
	if fresh {
		made, err := r.store.Create(ctx, session.New{Workspace: r.selected.Workspace, Name: q.SessionID, Model: r.info.Provider + ":" + r.info.Model})
		if err != nil {
			return refuse(codeSession, "%v", inRequest(err))
		}
		id = made.ID
	}
	if r.session, err = r.store.Begin(ctx, id); err != nil {
		return refuse(codeSession, "%v", inRequest(err))
	}
	if fresh {
		return r.seed(ctx)
	}
	return nil
}

// find is the session that is to be resumed, "" for a new one.
func (r *run) find(ctx context.Context) (string, error) {
	q := r.request
	if q.SessionID == "" {
		return "", nil
	}
	known, err := r.store.List(ctx, session.Filter{})
	if err != nil {
		return "", refuse(codeSession, "%v", err)
	}
	i := slices.IndexFunc(known, func(s session.Info) bool { return s.ID == q.SessionID || s.Name == q.SessionID })
	switch {
	case i < 0 && q.ResumeSession:
		return "", refuse(codeSession, "there is no session %q; drop resume_session to begin it", q.SessionID)
	case i >= 0 && !q.ResumeSession:
		return "", refuse(codeSession, "there is a session %q already; set resume_session to go on with it", q.SessionID)
	case i < 0:
		return "", nil
	}
	return known[i].ID, nil
}

// seed puts the history into a new session.
func (r *run) seed(ctx context.Context) error {
	var entries []session.Entry
	for _, m := range r.request.History {
		said := conversation.Say(conversation.Role(m.Role), m.Content)
		if said.Role == conversation.System {
			entries = append(entries, session.Entry{Value: session.Injected{Message: said}})
			continue
		}
		entries = append(entries, session.Entry{Value: session.Message{Message: said}})
	}
	if len(entries) == 0 {
		return nil
	}
	if _, err := r.session.Append(ctx, entries...); err != nil {
		return refuse(codeSession, "the history cannot be stored: %v", err)
	}
	return nil
}

// play runs the prompt to its end.
func (r *run) play(ctx context.Context) {
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	gate := permission.Options{Settings: r.settings()}
	if r.request.AllowFileMutation {
		gate.Granted = []tool.Effect{tool.Write}
	}
	options := agent.Options{
		Provider: r.provider, Model: r.info, Reasoning: r.request.Reasoning, Tools: r, Session: r.session,
		Permission: permission.New(gate), Emit: r.event, System: r.system,
	}
	if r.request.MaxTurns != nil {
		options.Limits.Turns = int(*r.request.MaxTurns)
	}
	if r.request.MaxCostMicrodollars != nil {
		options.Limits.CostMicrodollars = *r.request.MaxCostMicrodollars
	}
	a, err := agent.New(options)
	if err != nil {
		r.answers.fail(refuse(codeHost, "%v", err))
		return
	}
	outcome, err := a.Run(ctx, r.prompt)
	if err != nil && outcome.Status == "" {
		outcome = agent.Outcome{Status: agent.Failed, Code: codeHost, Reason: err.Error()}
	}
	r.finish(outcome)
}
