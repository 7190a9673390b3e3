package remoteui

import (
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
)

// editor is a mount in the place of the composer. What the person types goes to the extension, which
// acknowledges it with checkpoints of the text.
type editor struct {
	issued     int64 // input revision of the last input; 0 is the initial text
	acked      int64 // of the last checkpoint
	checkpoint int64 // revision of the last checkpoint; the first one has 1
	waiting    []int // bytes of each input that is not acknowledged
	bytes      int   // of all of them
}

// settled reports whether everything that was typed is acknowledged.
func (e *editor) settled() bool { return e.acked == e.issued }

// issueLocked counts one input, or ends the mount of an editor that does not acknowledge any.
func (s *Service) issueLocked(m *mount, bytes int) bool {
	e := m.editor
	if len(e.waiting) >= featurewire.MaxUIPendingEvents || e.bytes+bytes > featurewire.MaxUIPendingBytes {
		s.retireLocked(m, "the editor does not acknowledge what is typed")
		return false
	}
	e.issued++
	e.waiting = append(e.waiting, bytes)
	e.bytes += bytes
	return true
}

// input says which input an event of the editor is.
func (m *mount) input() wirejson.Opt[featurewire.EditorInput] {
	return wirejson.Some(featurewire.EditorInput{MountID: m.ID, InputRevision: m.editor.issued})
}

// Owned reports whether a remote editor owns the composer.
func (s *Service) Owned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mounts {
		if m.editor != nil {
			return true
		}
	}
	return false
}

// Checkpoint has apply change the composer on behalf of an editor, in one step with the judgement whether
// everything that the checkpoint names still holds. A refused one changes nothing.
func (s *Service) Checkpoint(x *extension.Extension, owner extension.Owner, at featurewire.EditorCheckpoint, apply func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.findLocked(x, at.SurfaceID)
	switch {
	case m == nil || m.editor == nil || m.ID != at.MountID || m.owner != owner:
		return extension.RefuseInvalid("the editor is not mounted by this extension for this session")
	case !s.frontend.Focused(m.ID):
		return extension.RefuseOwner("the editor does not have the focus")
	case at.InputRevision < m.editor.acked || at.InputRevision > m.editor.issued:
		return extension.RefuseInvalid("input_revision goes back, or was never issued")
	case at.CheckpointRevision <= m.editor.checkpoint:
		return extension.RefuseInvalid("checkpoint_revision does not grow")
	}
	if err := apply(); err != nil {
		return err
	}
	e := m.editor
	for range at.InputRevision - e.acked {
		e.bytes -= e.waiting[0]
		e.waiting = e.waiting[1:]
	}
	e.acked, e.checkpoint = at.InputRevision, at.CheckpointRevision
	if m.frame != nil && e.settled() {
		s.frontend.Wake()
	}
	return nil
}
