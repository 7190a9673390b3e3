package exttest

import (
	"context"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// StartSession tells the extension that a session starts and waits for its answer. It fails the test unless
// Options.SessionHooks is set.
func (h *Host) StartSession(session extension.SessionStart) {
	h.t.Helper()
	h.runHook(canonicalwire.SessionStartHook{Payload: canonicalwire.SessionStart{Binding: bindingOf(session.Owner)}})
}

// EndSession tells the extension that a session ends, as StartSession does. Outcome and Reason are words of
// the protocol, such as "completed" and "shutdown".
func (h *Host) EndSession(session extension.SessionEnd) {
	h.t.Helper()
	h.runHook(canonicalwire.SessionEndHook{Payload: canonicalwire.SessionEnd{
		Binding: bindingOf(session.Owner), Outcome: canonicalwire.SessionOutcome(session.Outcome),
		Reason: canonicalwire.SessionEndReason(session.Reason), DurationMs: session.Duration.Milliseconds(),
	}})
}

func (h *Host) runHook(event wirejson.Encoder) {
	h.t.Helper()
	raw, err := h.conn.Call(context.Background(), canonicalwire.MethodHookRun, event)
	if err == nil {
		_, err = canonicalwire.DecodeSessionHookResult(raw)
	}
	if err != nil {
		h.t.Fatalf("exttest: session hook: %v", asError(err))
	}
}

func bindingOf(o extension.Owner) canonicalwire.SessionBinding {
	return canonicalwire.SessionBinding{SessionID: o.SessionID, ExtensionInstanceID: o.ExtensionInstanceID, ProcessGeneration: o.ProcessGeneration}
}
