// Package composer lets extensions read and change the text that the person is about to send.
//
// Whose session it is, and that it is in the foreground, is judged before a request comes here. Nothing sends
// the text but the person. Source: sheet feature 12.2.
package composer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// ErrUnavailable is for a frontend whose composer cannot be reached right now.
var ErrUnavailable = errors.New("no composer is in front of the person")

// ErrFull is for an insertion that would make the text too long.
var ErrFull = errors.New("the text would be longer than the composer takes")

// Composer is the input of an interactive frontend.
type Composer interface {
	Text() (string, error)
	// Replace replaces all of the text.
	Replace(text string) error
	// Insert inserts at the cursor. It returns ErrFull rather than exceed most bytes.
	Insert(text string, most int) error
	// Recall replaces what the composer offers from history, newest first.
	Recall(entries []string) error
}

// Checkpoints are the remote editors that may own the composer.
type Checkpoints interface {
	// Owned reports whether a remote editor owns the composer.
	Owned() bool
	// Checkpoint takes the text over on behalf of the editor's mount, if everything it names still holds, and
	// has apply change the composer in the same step.
	Checkpoint(x *extension.Extension, owner extension.Owner, at featurewire.EditorCheckpoint, apply func() error) error
}

// Binding serves the requests. Checkpoints may be nil: then there are no remote editors.
func Binding(c Composer, remote Checkpoints) extension.Binding {
	s := service{c, remote}
	return extension.Binding{
		Features: []string{featurewire.FeatureComposer},
		Requests: map[string]extension.Handler{
			featurewire.MethodComposerGet:     s.get,
			featurewire.MethodComposerSet:     s.set,
			featurewire.MethodComposerInsert:  s.insert,
			featurewire.MethodComposerHistory: s.history,
		},
	}
}

type service struct {
	composer Composer
	remote   Checkpoints
}

func (s service) get(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	if _, err := featurewire.DecodeComposerGetParams(r.Params); err != nil {
		return nil, refusal.Of(err)
	}
	text, err := s.composer.Text()
	if err != nil {
		return nil, failure(err)
	}
	return featurewire.ComposerGetResult{Text: text}, nil
}

func (s service) set(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeComposerSetParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	replace := func() error { return s.composer.Replace(p.Text) }
	at, checkpointed := p.EditorCheckpoint.Get()
	switch {
	case checkpointed && s.remote == nil:
		return nil, extension.RefuseInvalid("no remote editor owns the composer; leave editor_checkpoint out")
	case checkpointed:
		if err := s.remote.Checkpoint(r.Extension, r.Owner, at, replace); err != nil {
			return nil, failure(err)
		}
		return featurewire.ComposerSetResult{
			InputRevision: wirejson.Some(at.InputRevision), CheckpointRevision: wirejson.Some(at.CheckpointRevision),
		}, nil
	case s.owned():
		return nil, extension.RefuseInvalid("a remote editor owns the composer; send an editor_checkpoint")
	}
	if err := replace(); err != nil {
		return nil, failure(err)
	}
	return featurewire.ComposerSetResult{}, nil
}

func (s service) owned() bool { return s.remote != nil && s.remote.Owned() }

func (s service) insert(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeComposerInsertParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	for _, m := range p.Unknown {
		if m.Name == memberCheckpoint {
			return nil, extension.RefuseInvalid("an insertion has no " + memberCheckpoint)
		}
	}
	if s.owned() {
		return nil, extension.RefuseInvalid("a remote editor owns the composer")
	}
	if err := s.composer.Insert(p.Text, featurewire.MaxComposerTextBytes); err != nil {
		return nil, failure(err)
	}
	return featurewire.ComposerInsertResult{}, nil
}

// memberCheckpoint is what only a set may carry.
const memberCheckpoint = "editor_checkpoint"

func (s service) history(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeComposerHistoryParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	total := 0
	for _, entry := range p.Entries {
		total += len(entry)
		if strings.ContainsFunc(entry, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }) {
			return nil, extension.RefuseInvalid("an entry contains a control character; only line feeds and tabs are taken")
		}
	}
	if total > featurewire.MaxComposerHistoryBytes {
		return nil, extension.RefuseBounds(fmt.Sprintf("the entries together are longer than %d bytes", featurewire.MaxComposerHistoryBytes))
	}
	if err := s.composer.Recall(p.Entries); err != nil {
		return nil, failure(err)
	}
	return featurewire.ComposerHistoryResult{}, nil
}

// failure is the answer to an error of the composer or of a remote editor.
func failure(err error) error {
	switch {
	case errors.Is(err, ErrUnavailable):
		return extension.RefuseOwner(ErrUnavailable.Error())
	case errors.Is(err, ErrFull):
		return extension.RefuseBounds(ErrFull.Error())
	}
	return err
}
