package hostreferee

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/actor"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/runtime/manifest"
)

// talk is a conversation with a host.
type talk struct {
	cast  []*member
	model *modelServer
	host  *startedHost // nil until the first line
	gone  time.Time    // when it had ended

	variables []string // of the machine, each with the value of valueOf
}

// member is an extension of a conversation.
type member struct {
	name        string
	part        actor.Part
	contributes dialect.Object
	variables   []string // of the host, that its manifest lists
}

// partFile is where the part of a member is, below its directory.
const partFile = "part.json"

// Folders of a conversation, below the root of the scenario.
const (
	extensionsFolder = "extensions"
	workspaceFolder  = "workspace"
	homeFolder       = "home"
)

// plays adds a member, or finds it.
func (w *world) plays(name string) (*member, error) {
	if w.setup.Talk == nil {
		return nil, &outcome{class: verdict.NotApplicable, text: "the adapter holds no conversations; add a table [talk] to it, see docs/guide/hosts.md"}
	}
	if w.talk == nil {
		model, err := serveModel(w.peers.bump)
		if err != nil {
			return nil, errored("%v", err)
		}
		w.talk = &talk{model: model}
	}
	for _, m := range w.talk.cast {
		if m.name == name {
			return m, nil
		}
	}
	m := &member{name: name, part: actor.Part{API: w.setup.Dialect.API(), Replies: map[string][]actor.Reply{}}, contributes: dialect.Object{}}
	w.talk.cast = append(w.talk.cast, m)
	return m, nil
}

// list returns what a member contributes under a name, as a list.
func (m *member) list(kind string) []any {
	list, _ := m.contributes[kind].([]any)
	return list
}

// contribute declares a name of a kind, once.
func (m *member) contribute(kind, name string) {
	if !slices.Contains(m.list(kind), any(name)) {
		m.contributes[kind] = append(m.list(kind), name)
	}
}

// declare has the manifest declare what a topic needs to be asked about.
func (m *member) declare(topic string) {
	method, name, _ := strings.Cut(topic, " ")
	switch {
	case method == dialect.ToolCall && name != "":
		if !slices.Contains(m.list("tools"), any(name)) {
			m.part.Tools = append(m.part.Tools, actor.Tool(name))
		}
		m.contribute("tools", name)
	case strings.HasPrefix(method, "command/") && name != "":
		if !slices.Contains(m.list("commands"), any(name)) {
			m.part.Commands = append(m.part.Commands, actor.Command(name))
		}
		m.contribute("commands", name)
	case strings.HasPrefix(method, "hook/") && name != "":
		m.contribute("hooks", name)
	case strings.HasPrefix(method, "status/") && name != "":
		m.contribute("ui", name)
	case strings.HasPrefix(method, "context/"):
		m.contributes["context"] = true
	case strings.HasPrefix(method, "menu/"):
		m.contributes["menu"] = true
	}
}

// write puts a member where hosts look for it.
func (w *world) write(m *member) error {
	dir := filepath.Join(w.root, extensionsFolder, m.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return errored("%v", err)
	}
	if w.script != nil || w.asking.play != "" {
		return errorOf(os.WriteFile(filepath.Join(dir, manifest.FileName()), []byte(w.manifest()), 0o600))
	}
	part := filepath.Join(dir, partFile)
	if err := m.part.Save(part); err != nil {
		return errored("%v", err)
	}
	entrypoint := dialect.Object{"command": w.setup.Self, "args": []any{"host-peer", "--report-to", w.peers.address(), "--", w.setup.Self, "actor", part}}
	var b strings.Builder
	// Texts, lists of texts and booleans are spelled alike in JSON and TOML.
	fmt.Fprintf(&b, "name = %q\nversion = \"1.0.0\"\napi_version = %q\n[entrypoint]\n", m.name, m.part.API)
	for _, key := range slices.Sorted(maps.Keys(entrypoint)) {
		fmt.Fprintf(&b, "%s = %s\n", key, dialect.Encode(entrypoint[key]))
	}
	b.WriteString("[contributes]\n")
	for _, key := range slices.Sorted(maps.Keys(m.contributes)) {
		fmt.Fprintf(&b, "%s = %s\n", key, dialect.Encode(m.contributes[key]))
	}
	if m.variables != nil {
		fmt.Fprintf(&b, "[capabilities]\nenvironment = %s\n", dialect.Encode(m.variables))
	}
	if err := os.WriteFile(filepath.Join(dir, manifest.FileName()), []byte(b.String()), 0o600); err != nil {
		return errored("%v", err)
	}
	return nil
}

// begin starts the host, once.
func (w *world) begin() error {
	if w.talk == nil {
		return errored("the scenario has no extension that is talked about")
	}
	if w.talk.host != nil {
		return nil
	}
	t := w.setup.Talk
	workspace, home := filepath.Join(w.root, workspaceFolder), filepath.Join(w.root, homeFolder)
	places := strings.NewReplacer(
		PlaceExtensions, filepath.Join(w.root, extensionsFolder), PlaceWorkspace, workspace, PlaceHome, home, PlaceModel, w.talk.model.base,
	)
	for _, dir := range []string{workspace, home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return errored("%v", err)
		}
	}
	for _, file := range t.File {
		path := places.Replace(file.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return errored("%v", err)
		}
		if err := os.WriteFile(path, []byte(places.Replace(file.Text)), 0o600); err != nil {
			return errored("%v", err)
		}
	}
	argv := slices.Clone(t.Command)
	for _, m := range w.talk.cast {
		if err := w.write(m); err != nil {
			return err
		}
		for _, word := range t.Each {
			argv = append(argv, strings.ReplaceAll(word, PlaceName, m.name))
		}
	}
	env := slices.Clone(t.Env)
	for _, list := range [][]string{argv, env} {
		for i := range list {
			list[i] = places.Replace(list[i])
		}
	}
	for _, variable := range w.talk.variables {
		env = append(env, variable+"="+valueOf(variable))
	}
	h, err := startHost(argv, workspace, append(subject.Environment(w.setup.Env, env), canary+"=seen"), true)
	if err != nil {
		return errored("%v", err)
	}
	w.talk.host = h
	go func() {
		<-h.ended
		w.peers.bump()
	}()
	return nil
}

// over reports whether the host has ended.
func (t *talk) over() bool {
	select {
	case <-t.host.ended:
		return true
	default:
		return false
	}
}

// line has the host do something.
func (w *world) line(what, template string, places ...string) error {
	if template == "" {
		return &outcome{class: verdict.NotApplicable, text: fmt.Sprintf("the adapter does not say how the host is told to %s; see docs/guide/hosts.md", what)}
	}
	if err := w.begin(); err != nil {
		return err
	}
	text := strings.TrimSpace(strings.NewReplacer(places...).Replace(template))
	// A host that has ended before its line shows in what the scenario wants of it.
	_, _ = io.WriteString(w.talk.host.stdin, text+"\n")
	return nil
}

// ends has the host leave, and waits until it has.
func (w *world) ends(ctx context.Context) error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.setup.Talk.End != "" {
		if err := w.line("end", w.setup.Talk.End); err != nil {
			return err
		}
	}
	_ = w.talk.host.stdin.Close()
	return w.finished(ctx)
}

// finished waits for the end of the host and of its extensions.
func (w *world) finished(ctx context.Context) error {
	w.host = w.talk.host.wait(ctx, w.setup.Wait, nil)
	w.talk.gone = time.Now()
	return w.settled(ctx)
}

// endTalk ends what a scenario has left.
func (w *world) endTalk() {
	if w.talk == nil {
		return
	}
	if h := w.talk.host; h != nil && w.host == nil {
		_ = h.stdin.Close()
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		w.host = h.wait(gone, w.setup.Wait, nil)
	}
	w.talk.model.close()
}

// plays reports whether a peer is the start of a member.
func (p *peer) plays(name string) bool {
	return slices.ContainsFunc(p.facts.Args, func(arg string) bool {
		return filepath.Base(arg) == partFile && filepath.Base(filepath.Dir(arg)) == name
	})
}

// heard is one frame of the host to a member.
type heard struct {
	id     string // empty for a notification
	topic  string
	params json.RawMessage
	came   time.Time
	start  int // of the member, from 0
}

// questions are the frames of the host to a member, over all of its starts. The topic "" means all.
func questions(all []*peer, name, topic string) []heard {
	var out []heard
	start := 0
	for _, p := range all {
		if !p.plays(name) {
			continue
		}
		for i, f := range p.frames {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			}
			if f.Lane != wire.ToSubject || json.Unmarshal(f.Bytes, &m) != nil || m.Method == "" {
				continue
			}
			if got := actor.Topic(m.Method, m.Params); topic == "" || got == topic || m.Method == topic {
				out = append(out, heard{string(m.ID), got, m.Params, p.came[i], start})
			}
		}
		start++
	}
	return out
}

// questions are those of the scenario so far.
func (w *world) questions(name, topic string) []heard {
	all := w.peers.list()
	list := make([]*peer, len(all))
	for i := range all {
		list[i] = &all[i]
	}
	return questions(list, name, topic)
}
