package main

import (
	"context"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// heard returns the handler of an event that only records it.
func heard[P wirejson.Encoder](s *showcase, method string) func(context.Context, P) {
	return func(_ context.Context, event P) { s.record.add(method, event) }
}

// addEvents records what the host tells; the trigger of the shortcut is recorded by the shortcut.
func (s *showcase) addEvents() {
	events := s.ext.Events()
	events.SessionStarted(heard[featurewire.SessionStartedParams](s, featurewire.MethodSessionStarted))
	events.SessionSettled(heard[featurewire.SessionSettledParams](s, featurewire.MethodSessionSettled))
	events.TurnStarted(heard[featurewire.TurnStartedParams](s, featurewire.MethodTurnStarted))
	events.TurnSettled(heard[featurewire.TurnSettledParams](s, featurewire.MethodTurnSettled))
	events.ToolStarted(heard[featurewire.ToolStartedParams](s, featurewire.MethodToolStarted))
	events.ToolSettled(heard[featurewire.ToolSettledParams](s, featurewire.MethodToolSettled))
	events.MessageStarted(heard[featurewire.MessageStartedParams](s, featurewire.MethodMessageStarted))
	events.MessageUpdated(heard[featurewire.MessageUpdatedParams](s, featurewire.MethodMessageUpdated))
	events.MessageSettled(heard[featurewire.MessageSettledParams](s, featurewire.MethodMessageSettled))
	events.CompactionStarted(heard[featurewire.CompactionStartedParams](s, featurewire.MethodCompactionStarted))
	events.CompactionSettled(heard[featurewire.CompactionSettledParams](s, featurewire.MethodCompactionSettled))
	events.CompactionFailed(heard[featurewire.CompactionFailedParams](s, featurewire.MethodCompactionFailed))
	events.SessionInfoChanged(heard[featurewire.SessionInfoChangedParams](s, featurewire.MethodSessionInfoChanged))
	events.DialogStarted(heard[featurewire.DialogStartedParams](s, featurewire.MethodDialogStarted))
	events.DialogSettled(heard[featurewire.DialogSettledParams](s, featurewire.MethodDialogSettled))
	events.ModelSelected(heard[featurewire.ModelSelectedParams](s, featurewire.MethodModelSelected))
	events.ReasoningSelected(heard[featurewire.ReasoningSelectedParams](s, featurewire.MethodReasoningSelected))
	events.BashUser(heard[featurewire.BashUserParams](s, featurewire.MethodBashUser))
	events.TerminalGrantLost(heard[featurewire.TerminalGrantLostParams](s, featurewire.MethodTerminalGrantLost))
	if s.api != extension.API04 {
		return
	}
	events.UIKey(heard[featurewire.UiKeyParams](s, featurewire.MethodUIKey))
	events.UIMouse(heard[featurewire.UiMouseParams](s, featurewire.MethodUIMouse))
	events.UIResize(heard[featurewire.UiResizeParams](s, featurewire.MethodUIResize))
	events.UIClosed(heard[featurewire.UiClosedParams](s, featurewire.MethodUIClosed))
	events.UIEditorText(heard[featurewire.UiEditorTextParams](s, featurewire.MethodUIEditorText))
	events.ContextUpdated(heard[featurewire.ContextUpdatedParams](s, featurewire.MethodContextUpdated))
}
