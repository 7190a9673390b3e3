package main

import (
	"context"
	"encoding/json"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// addCanonical adds what only API 0.3 has.
func (s *showcase) addCanonical() {
	s.ext.OnSessionStart(func(_ context.Context, session extension.SessionStart) {
		s.record.add(canonicalwire.MethodHookRun, canonicalwire.SessionStartHook{Payload: canonicalwire.SessionStart{Binding: binding(session.Owner)}})
	})
	s.ext.OnSessionEnd(func(_ context.Context, session extension.SessionEnd) {
		s.record.add(canonicalwire.MethodHookRun, canonicalwire.SessionEndHook{Payload: canonicalwire.SessionEnd{
			Binding: binding(session.Owner), Outcome: canonicalwire.SessionOutcome(session.Outcome),
			Reason: canonicalwire.SessionEndReason(session.Reason), DurationMs: session.Duration.Milliseconds(),
		}})
	})
	s.ext.SetMigration(extension.Migration{Detect: detect, Import: importAll})
	s.ext.OnProviderStream(nil, stream)
	events := s.ext.EventsV03()
	events.BusEvent(heard[canonicalwire.BusEventParams](s, canonicalwire.MethodBusEvent))
	events.BusLifecycle(heard[canonicalwire.BusLifecycleParams](s, canonicalwire.MethodBusLifecycle))
	events.ProviderCancel(heard[canonicalwire.ProviderStreamCancelParams](s, canonicalwire.MethodProviderCancel))
}

func binding(o extension.Owner) canonicalwire.SessionBinding {
	return canonicalwire.SessionBinding{SessionID: o.SessionID, ExtensionInstanceID: o.ExtensionInstanceID, ProcessGeneration: o.ProcessGeneration}
}

// settingsFile is what the showcase imports from.
const settingsFile = "settings.json"

func detect(_ context.Context, source *extension.Source, _ canonicalwire.MigrationDetectParams) (result canonicalwire.MigrationDetectResult, err error) {
	if info, err := source.Stat(settingsFile); err == nil && info.Mode().IsRegular() {
		result = canonicalwire.MigrationDetectResult{Detected: true, ConfigPaths: []string{settingsFile}}
	}
	return result, nil
}

// importAll reads the settings and takes nothing over but what is wrong with them.
func importAll(_ context.Context, source *extension.Source, asked canonicalwire.MigrationImportParams) (result canonicalwire.MigrationImportResult, err error) {
	for _, path := range asked.ConfigPaths {
		content, err := source.ReadFile(path)
		var settings map[string]json.RawMessage
		diagnostic := canonicalwire.MigrationDiagnostic{Path: path}
		switch {
		case err != nil:
			diagnostic.Severity, diagnostic.Reason = canonicalwire.MigrationDiagnosticSeverityWarning, "the file cannot be read"
		case json.Unmarshal(content, &settings) != nil || settings == nil:
			diagnostic.Severity, diagnostic.Reason = canonicalwire.MigrationDiagnosticSeverityError, "the file is no JSON object"
		default:
			continue
		}
		result.Diagnostics = append(result.Diagnostics, diagnostic)
	}
	return result, nil
}

func stream(ctx context.Context, stream *extension.Inference) error {
	for _, event := range []struct {
		kind    canonicalwire.ProviderStreamEventKind
		payload string
	}{
		{canonicalwire.ProviderStreamEventKindStarted, `{}`},
		{canonicalwire.ProviderStreamEventKindTextDelta, `{"text":"hello"}`},
		{canonicalwire.ProviderStreamEventKindFinished, `{}`},
	} {
		if err := stream.Send(ctx, event.kind, json.RawMessage(event.payload)); err != nil {
			return err
		}
	}
	return nil
}
