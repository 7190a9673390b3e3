package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/session"
)

// Note is what the transcript keeps of a message for clients alone.
type Note struct {
	ClientMessageID string            `json:"client_message_id,omitempty"`
	Source          string            `json:"source,omitempty"` // who added it; empty: it was said in a turn
	Thread          string            `json:"thread_id,omitempty"`
	Files           []oupwire.FileRef `json:"files,omitempty"`
	Media           []string          `json:"media,omitempty"`
}

// namespace is where notes are in the metadata of an entry.
const namespace = "octet.oup"

// NoteOf is the note of an entry, the zero value where it has none.
func NoteOf(stored session.Stored) (n Note) {
	if v, found := stored.Metadata.Get(namespace); found {
		_ = json.Unmarshal(v.Value, &n) // nobody else writes there
	}
	return n
}

func (n Note) metadata() (m session.Metadata, err error) {
	if n.ClientMessageID == "" && n.Source == "" && n.Thread == "" && len(n.Files) == 0 && len(n.Media) == 0 {
		return m, nil
	}
	err = m.Add(namespace, session.MetadataValue{Value: event.Detail(n)})
	return m, err
}

// ThreadOf is the stream that a message of the transcript belongs to: its turn, or what its note says. Empty where
// it belongs to none.
func ThreadOf(stored session.Stored) string {
	if n := NoteOf(stored); n.Thread != "" {
		return n.Thread
	}
	if m, ok := stored.Value.(session.Message); ok {
		return m.Run
	}
	return ""
}

// Added is a message that is added without a turn.
type Added struct {
	Role            oupwire.AppendRole
	Text            string
	Source          string
	Media           []string
	ClientMessageID string // a second one with the same adds nothing; may be empty
	Thread          string // of an assistant alone; empty: that of the last message of a user
	// Task says that an assistant tells what work has come to that outlived its turn, which Thread names then: it is
	// told in a stream of its own, named after both. Call is the call that began the work, or empty.
	Task, Call string
}

// AddedTo says where a message went.
type AddedTo struct {
	Row    int64 // of the transcript, from 0, among Rows
	Thread string
	Again  bool // it was there before
}

// AddError says why a message cannot be added.
//
// Rule: OUP-APPEND-003.
type AddError struct{ Reason string }

// Error says why.
func (e *AddError) Error() string { return "the message cannot be added: " + e.Reason }

// AddMessage adds a message behind what was said, and behind what runs: a turn, from its acceptance on, or a
// compaction. Errors are *AddError, *UnavailableError, ErrRetired, or of store or ledger.
//
// Rules: OUP-APPEND-001 to OUP-APPEND-004.
func (s *Session) AddMessage(ctx context.Context, a Added) (AddedTo, error) {
	return s.add(ctx, a, func(with *engine.Conversation, make placing) ([]session.EntryID, error) {
		for t := s.current(); t != nil; t = s.current() {
			select {
			case <-t.done:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return with.Add(context.WithoutCancel(ctx), make)
	})
}

// AddNow is AddMessage for who does not wait: engine.ErrBusy where something runs.
//
// Rule: OUP-APPEND-006.
func (s *Session) AddNow(ctx context.Context, a Added) (AddedTo, error) {
	return s.add(ctx, a, func(with *engine.Conversation, make placing) ([]session.EntryID, error) {
		if s.current() != nil {
			return nil, engine.ErrBusy
		}
		return with.AddNow(context.WithoutCancel(ctx), make)
	})
}

// placing makes what is appended to a branch.
type placing = func(branch []session.Stored) ([]session.Entry, error)

func (s *Session) add(ctx context.Context, a Added, store func(*engine.Conversation, placing) ([]session.EntryID, error)) (to AddedTo, err error) {
	if err := a.check(); err != nil {
		return AddedTo{}, err
	}
	with, release, err := s.open(ctx)
	if err != nil {
		return AddedTo{}, err
	}
	defer release()
	ids, err := store(with, func(branch []session.Stored) (entries []session.Entry, err error) {
		var entry session.Entry
		if entry, to, err = a.place(branch, func() string { return event.NewID(s.o.Now()) }); err != nil || to.Again {
			return nil, err
		}
		return []session.Entry{entry}, nil
	})
	if err != nil || to.Again || a.Role == oupwire.AppendRoleSystem {
		return to, s.retiredBy(err)
	}
	return to, s.tellAdded(ctx, a, to, string(ids[0]))
}

func (a Added) check() error {
	switch {
	case strings.TrimSpace(a.Text) == "":
		return &AddError{"the content is blank"}
	case utf8.RuneCountInString(a.Text) > oupwire.MaxAppendContentCharacters:
		return &AddError{fmt.Sprintf("the content has more than %d characters", oupwire.MaxAppendContentCharacters)}
	case utf8.RuneCountInString(a.Source) > oupwire.MaxAppendSourceCharacters:
		return &AddError{fmt.Sprintf("the source has more than %d characters", oupwire.MaxAppendSourceCharacters)}
	case a.Thread != "" && a.Role != oupwire.AppendRoleAssistant:
		return &AddError{"thread_id goes with an assistant alone"}
	case a.Task != "" && (a.Role != oupwire.AppendRoleAssistant || a.Thread == ""):
		return &AddError{"what a task has come to is said by the assistant, about a turn"}
	case !a.Role.Known():
		return &AddError{fmt.Sprintf("the role %q does not exist", a.Role)}
	}
	return nil
}

// place says what the message becomes in a branch, and where it goes.
func (a Added) place(branch []session.Stored, newID func() string) (session.Entry, AddedTo, error) {
	rows := Rows(branch)
	to := AddedTo{Row: int64(len(rows)), Thread: a.Thread}
	asked := "" // the stream of the last message of a user
	there := a.Thread == ""
	for n, i := range rows {
		stored := branch[i]
		thread := ThreadOf(stored)
		if a.ClientMessageID != "" {
			if note := NoteOf(stored); note.ClientMessageID == a.ClientMessageID && note.Source != "" {
				return session.Entry{}, AddedTo{Row: int64(n), Thread: thread, Again: true}, nil
			}
		}
		if m, ok := stored.Value.(session.Message); ok && m.Message.Role == conversation.User {
			asked = thread
			there = there || thread == a.Thread
		}
	}
	switch {
	case a.Role == oupwire.AppendRoleAssistant && (asked == "" || !there):
		return session.Entry{}, to, &AddError{"an assistant answers a user, and none has said anything there"}
	case a.Role == oupwire.AppendRoleAssistant && a.Thread == "":
		to.Thread = asked
	case a.Role != oupwire.AppendRoleAssistant:
		to.Thread = newID()
	}
	note := Note{ClientMessageID: a.ClientMessageID, Source: a.Source, Thread: to.Thread, Media: a.Media}
	metadata, err := note.metadata()
	if errors.Is(err, session.ErrBound) {
		err = &AddError{err.Error()}
	}
	said := conversation.Say(conversation.Role(a.Role), a.Text)
	var value session.Value = session.Message{Message: said}
	if a.Role == oupwire.AppendRoleSystem {
		value = session.Injected{Source: a.Source, Message: said}
	}
	return session.Entry{Value: value, Metadata: metadata}, to, err
}

// tellAdded tells a message that was added: in a stream of its own, or, where the stream that it belongs to is
// closed, as work that ended behind its turn.
//
// Rules: OUP-APPEND-004, OUP-STREAM-005, OUP-STREAM-011.
func (s *Session) tellAdded(ctx context.Context, a Added, to AddedTo, message string) error {
	now := s.o.Now()
	var told ledger.Event
	if a.Role == oupwire.AppendRoleUser {
		told = event.Envelope{Thread: to.Thread, Turn: to.Thread, ClientMessageID: a.ClientMessageID, Payload: story.UserMessage(a.Text, nil)}.
			Event(s.o.Key, event.Added, ledger.Begins)
	} else {
		told = event.Envelope{Thread: to.Thread, Turn: to.Thread, Payload: story.Persisted(a.Text, to.Thread+":assistant:"+message, message, now)}.
			Event(s.o.Key, event.Added, ledger.Within)
	}
	if a.Task == "" {
		_, err := s.o.Ledger.Append(context.WithoutCancel(ctx), told)
		if !errors.Is(err, ledger.ErrNotBegun) && !errors.Is(err, ledger.ErrEnded) {
			return err
		}
	}
	task := cmp.Or(a.Task, message)
	data := oupwire.SpawnCompleteData{
		ParentTurnID: to.Thread, TaskID: task, MessageID: message, Source: a.Source, PersistedAt: event.Time(now),
	}
	data.Content, data.Unknown = story.Fit(a.Text)
	if a.Call != "" {
		data.ToolCallID = wirejson.Some(a.Call)
	}
	if len(a.Media) > 0 {
		data.Media = wirejson.Some(a.Media)
	}
	child := to.Thread + ":background:" + task
	_, err := s.o.Ledger.Append(context.WithoutCancel(ctx), event.Envelope{
		Thread: child, Turn: child, Payload: oupwire.SpawnCompletePayload{Data: data},
	}.Event(s.o.Key, event.Child, ledger.Begins|ledger.Ends))
	return err
}
