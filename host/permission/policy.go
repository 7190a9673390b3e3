package permission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/tool"
)

// Options are what a Policy decides by.
type Options struct {
	Settings policy.Settings
	// Asker is the frontend; nil denies whatever would be asked.
	Asker Asker
	// Granted are effects that somebody has given leave for beforehand: they are not asked about. They open
	// no gate that is shut.
	Granted []tool.Effect
	// Profile is what a client has chosen for now; nil: nothing. It is asked about every call.
	Profile func() Profile
}

// Policy is the Gate of one conversation.
//
//	effect             unsafe_host  controlled                  controlled_bash_approval  safe mode
//	none, read         allow        allow                       allow                     allow
//	write              allow        ask                         ask                       ask, every time
//	command            allow        ask, unless only looking    ask                       ask, every time
//	external           allow        ask                         ask                       ask, every time
//
// Whatever the policy: a command is denied where processes or the shell are switched off, and so is a file
// outside the workspace where external paths are, and whatever a tool itself says is never let through.
type Policy struct {
	options Options

	mu     sync.Mutex
	memory map[memo]answered
}

// memo is what an answer is remembered for. Run is empty for answers that hold for the session.
type memo struct{ run, tool, command string }

type answered struct {
	allow bool
	note  string
}

var _ Gate = (*Policy)(nil)

// New makes a gate that remembers nothing yet.
func New(options Options) *Policy {
	return &Policy{options: options, memory: map[memo]answered{}}
}

// Judge decides by the policy and by what was answered before.
func (p *Policy) Judge(r Request) Ruling {
	s := p.options.Settings
	if r.Summary.Refused != "" {
		return Ruling{Decision: Deny, Reason: r.Summary.Refused}
	}
	if r.Tool.Effect == tool.Command && !s.GateOpen() {
		return Ruling{Decision: Deny, Reason: "commands are switched off for this session (allow_process and allow_shell must be on)"}
	}
	if r.Summary.External && !s.AllowExternalPaths && fileEffect(r.Tool.Effect) {
		return Ruling{Decision: Deny, Reason: fmt.Sprintf("%q lies outside the workspace, and %s keeps files outside of it off limits (allow_external_paths)", r.Summary.Subject, s.Name())}
	}
	reason := p.question(r)
	if slices.Contains(p.options.Granted, r.Tool.Effect) {
		reason = ""
	}
	if p.options.Profile != nil {
		profile := p.options.Profile()
		reason = cmp.Or(reason, profile.question(r))
		if reason != "" && profile.Never {
			return Ruling{Decision: Deny, Reason: reason + ", and it was chosen that nobody is asked"}
		}
	}
	if reason == "" {
		return Ruling{Decision: Allow}
	}
	if s.SafeMode {
		return Ruling{Decision: Ask, Reason: reason, Scopes: []Scope{Once}}
	}
	if ruling, found := p.recall(r); found {
		return ruling
	}
	return Ruling{Decision: Ask, Reason: reason, Scopes: []Scope{Once, Run, Session}}
}

func fileEffect(e tool.Effect) bool { return e == tool.Read || e == tool.Write }

// question says why somebody must be asked, empty if nobody must.
func (p *Policy) question(r Request) string {
	s := p.options.Settings
	if s.FullAccess() {
		return ""
	}
	switch r.Tool.Effect {
	case tool.None, tool.Read:
		return ""
	case tool.Write:
		return s.Name() + " asks before files are changed"
	case tool.Command:
		if s.Effect == policy.Controlled && !s.SafeMode && onlyLooks(r.Summary.Subject, s.AllowExternalPaths) {
			return ""
		}
		return s.Name() + " asks before commands are run"
	case tool.External:
		return s.Name() + " asks before tools of extensions are run"
	}
	return fmt.Sprintf("%s asks before a tool with the unknown effect %q is run", s.Name(), r.Tool.Effect)
}

// Ask asks the frontend. Questions of one conversation come one after the other if the caller asks so.
func (p *Policy) Ask(ctx context.Context, r Request) Ruling {
	ruling := p.Judge(r)
	if ruling.Decision != Ask {
		return ruling
	}
	if p.options.Asker == nil {
		return Ruling{Decision: Deny, Reason: ruling.Reason + ", and nobody is there to be asked; start octet interactively, or choose another --effect-policy"}
	}
	answer, err := p.options.Asker.Ask(ctx, Question{Request: r, Reason: ruling.Reason, Scopes: ruling.Scopes})
	if ctx.Err() != nil {
		return Ruling{Decision: Deny, Reason: "the question was withdrawn before it was answered"}
	}
	if err != nil {
		return Ruling{Decision: Deny, Reason: "the question could not be asked: " + err.Error()}
	}
	if !slices.Contains(ruling.Scopes, answer.Scope) {
		answer.Scope = Once
	}
	p.remember(r, answer)
	return rule(answered{answer.Allow, answer.Note}, "")
}

func rule(a answered, remembered Scope) Ruling {
	if a.allow {
		return Ruling{Decision: Allow, Remembered: remembered}
	}
	reason := "the user does not want it"
	if a.note != "" {
		reason += ": " + a.note
	}
	return Ruling{Decision: Deny, Reason: reason, Remembered: remembered}
}

// keys are what an answer about a call may be remembered for: a command exactly as it is, or any call of
// another tool.
func keys(r Request) (run, session memo) {
	session = memo{tool: r.Tool.Provider + "\x00" + r.Tool.Name}
	if r.Tool.Effect == tool.Command {
		session.command = r.Summary.Subject
	}
	run = session
	run.run = r.Run
	return run, session
}

func (p *Policy) remember(r Request, a Answer) {
	run, session := keys(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case a.Scope == Session:
		p.memory[session] = answered{a.Allow, a.Note}
	case a.Scope == Run && r.Run != "":
		p.memory[run] = answered{a.Allow, a.Note}
	}
}

// recall finds an earlier answer, the narrowest first.
func (p *Policy) recall(r Request) (Ruling, bool) {
	run, session := keys(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, found := p.memory[run]; found && r.Run != "" {
		return rule(a, Run), true
	}
	a, found := p.memory[session]
	return rule(a, Session), found
}

// Settled forgets what was answered for a run.
func (p *Policy) Settled(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.memory {
		if key.run != "" && key.run == run {
			delete(p.memory, key)
		}
	}
}

// looking are programs that only look, whatever their options are.
var looking = []string{"basename", "cat", "cut", "df", "dirname", "du", "echo", "false", "grep", "head", "id", "ls", "nl", "pwd", "realpath", "stat", "tail", "true", "uname", "wc", "which", "whoami"}

// onlyLooks reports whether a command surely changes nothing: one program from a short list, with nothing
// that a shell would give a meaning. Where external paths are off, nothing but options may be named, since a
// path may lead anywhere.
func onlyLooks(command string, external bool) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/+,:@%="
	if strings.ContainsFunc(command, func(c rune) bool { return !strings.ContainsRune(plain, c) }) {
		return false
	}
	words := strings.Fields(command)
	if len(words) == 0 || !slices.Contains(looking, words[0]) {
		return false
	}
	for _, word := range words[1:] {
		if !external && (!strings.HasPrefix(word, "-") || strings.ContainsAny(word, "/.")) {
			return false
		}
	}
	return true
}
