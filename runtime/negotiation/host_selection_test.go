package negotiation

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const (
	caps   = `"content_parts","core","request_cancellation","tool_call"`
	calls  = `"$/cancelRequest","initialize","shutdown","tool/call"`
	limits = `{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":16}`
)

// selectionText is the wire text of a selection.
func selectionText(schema, encoding, capabilities, methods, limits string) string {
	return `{"capabilities":[` + capabilities + `],"encoding":"` + encoding + `","limits":` + limits + `,"methods":[` + methods + `],"schema":"` + schema + `"}`
}

// lack leaves one name out of a list.
func lack(list, name string) string {
	names := strings.Split(list, ",")
	return strings.Join(slices.DeleteFunc(names, func(n string) bool { return n == `"`+name+`"` }), ",")
}

// TestHostSelection_canonical: EXT03-CONTRACT-024 too, by accepted names that do not ascend.
func TestHostSelection_canonical(t *testing.T) {
	const schema, encoding = "octet.extension.api/0.3", "octet-canonical-json-v1"
	offer := offerText(`"lifecycle_events","session_lifecycle","theme_selection"`, `"hook/run","session/create","theme/select"`, limits)
	chosen := func(capabilities, methods string) string {
		return selectionText(schema, encoding, capabilities, methods, limits)
	}
	bounded := func(limits string) string { return selectionText(schema, encoding, caps, calls, limits) }
	for _, c := range []struct{ binds, name, selection, refused string }{
		{"EXT03-CONTRACT-018", "minimal", chosen(caps, calls), ""},
		{"EXT03-CONTRACT-018", "all", chosen(caps+`,"lifecycle_events","theme_selection"`, calls+`,"hook/run","theme/select"`), ""},
		{"EXT03-CONTRACT-018", "no core", chosen(lack(caps, "core"), calls), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "no tool_call", chosen(lack(caps, "tool_call"), lack(calls, "tool/call")), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "no cancellation method", chosen(caps, lack(calls, "$/cancelRequest")), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "no capability", chosen("", ""), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "capability not offered", chosen(caps+`,"provider_stream"`, calls), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "method not offered", chosen(caps+`,"session_lifecycle"`, calls+`,"session/create","session/fork"`), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "unknown capability", chosen(caps+`,"telepathy"`, calls), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "unknown method", chosen(caps, calls+`,"no/such"`), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "capability twice", chosen(caps+`,"core"`, calls), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "method twice", chosen(caps, calls+`,"tool/call"`), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "deferred capability", chosen(caps+`,"dynamic_tools"`, calls), "capability_mismatch"},
		{"EXT03-CONTRACT-018", "deferred method", chosen(caps, calls+`,"tools/register"`), "capability_mismatch"},
		{"EXT03-CONTRACT-019", "lower", bounded(`{"max_concurrent_requests":1,"max_frame_bytes":1,"max_tools":1}`), ""},
		{"EXT03-CONTRACT-019", "requests", bounded(`{"max_concurrent_requests":9,"max_frame_bytes":65536,"max_tools":16}`), "capability_mismatch"},
		{"EXT03-CONTRACT-019", "bytes", bounded(`{"max_concurrent_requests":8,"max_frame_bytes":65537,"max_tools":16}`), "capability_mismatch"},
		{"EXT03-CONTRACT-019", "tools", bounded(`{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":17}`), "capability_mismatch"},
		{"EXT03-CONTRACT-020", "both", chosen(caps+`,"lifecycle_events"`, calls+`,"hook/run"`), ""},
		{"EXT03-CONTRACT-020", "events without hook", chosen(caps+`,"lifecycle_events"`, calls), "capability_mismatch"},
		{"EXT03-CONTRACT-020", "hook without events", chosen(caps, calls+`,"hook/run"`), "capability_mismatch"},
		{"EXT03-CONTRACT-022", "schema", selectionText("octet.extension.api/0.4", encoding, caps, calls, limits), "version_mismatch"},
		{"EXT03-CONTRACT-022", "encoding", selectionText(schema, "octet-canonical-json-v2", caps, calls, limits), "invalid_params"},
		{"EXT03-CONTRACT-022", "no requests", bounded(`{"max_concurrent_requests":0,"max_frame_bytes":65536,"max_tools":16}`), "invalid_params"},
		{"EXT03-CONTRACT-022", "no bytes", bounded(`{"max_concurrent_requests":8,"max_frame_bytes":0,"max_tools":16}`), "invalid_params"},
		{"EXT03-CONTRACT-022", "no tools", bounded(`{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":0}`), "invalid_params"},
		{"EXT03-CONTRACT-022", "requests over the maximum", bounded(`{"max_concurrent_requests":65,"max_frame_bytes":65536,"max_tools":16}`), "resource_exhausted"},
		{"EXT03-CONTRACT-022", "bytes over the maximum", bounded(`{"max_concurrent_requests":8,"max_frame_bytes":1048577,"max_tools":16}`), "resource_exhausted"},
		{"EXT03-CONTRACT-022", "tools over the maximum", bounded(`{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":257}`), "resource_exhausted"},
	} {
		t.Run(c.binds+" "+c.name, func(t *testing.T) {
			contract, err := NegotiateJSON([]byte(offer), []byte(c.selection))
			var m *Mismatch
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.refused == "":
			case !errors.As(err, &m) || m.Code.Name != c.refused || contract != nil:
				t.Errorf("%+v, %v, want it refused as %s", contract, err, c.refused)
			}
		})
	}
}

// Of two faults in one selection the one that is looked for first is told, and the offer is looked at last; a
// capability may be selected with none of its methods.
//
// EXT03-CONTRACT-025, EXT03-CONTRACT-026.
func TestHostSelection_order(t *testing.T) {
	const schema, encoding = "octet.extension.api/0.3", "octet-canonical-json-v1"
	offer := offerText(`"session_lifecycle","theme_selection"`, `"session/create","theme/select"`, limits)
	const over = `{"max_concurrent_requests":65,"max_frame_bytes":65536,"max_tools":16}`
	for name, c := range map[string]struct{ selection, refused string }{
		"no methods":              {selectionText(schema, encoding, caps+`,"session_lifecycle","theme_selection"`, calls, limits), ""},
		"model before schema":     {`{"schema":"other","encoding":"other","capabilities":[],"methods":[]}`, "invalid_params"},
		"schema before encoding":  {selectionText("octet.extension.api/0.4", "other", caps, calls, limits), "version_mismatch"},
		"encoding before names":   {selectionText(schema, "other", caps+`,"telepathy"`, calls, limits), "invalid_params"},
		"names before limits":     {selectionText(schema, encoding, caps+`,"core"`, calls, over), "capability_mismatch"},
		"methods before limits":   {selectionText(schema, encoding, caps, calls+`,"theme/select"`, over), "capability_mismatch"},
		"limits before the offer": {selectionText(schema, encoding, caps+`,"provider_stream"`, calls, over), "resource_exhausted"},
		"the offer is looked at":  {selectionText(schema, encoding, caps+`,"provider_stream"`, calls, limits), "capability_mismatch"},
	} {
		_, err := NegotiateJSON([]byte(offer), []byte(c.selection))
		var m *Mismatch
		if c.refused == "" && err != nil || c.refused != "" && (!errors.As(err, &m) || m.Code.Name != c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

// The manifest says whether session hooks are wanted, the offer whether they can be had.
func TestHostSelection_sessionHooks(t *testing.T) {
	for _, c := range []struct {
		name                        string
		declared, offered, selected bool
		reported                    bool
		refused                     string
	}{
		{"EXT03-CONTRACT-021 wanted and had", true, true, true, false, ""},
		{"EXT03-CONTRACT-021 neither", false, true, false, false, ""},
		{"EXT03-CONTRACT-021 declared and not selected", true, true, false, false, "capability_mismatch"},
		{"EXT03-CONTRACT-021 selected and not declared", false, true, true, false, "capability_mismatch"},
		{"EXT03-CONTRACT-021 declared and not offered", true, false, false, true, ""},
		{"EXT03-CONTRACT-021 nobody speaks of it", false, false, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bound []string
			if c.offered {
				bound = []string{"lifecycle_events"}
			}
			o, err := Offer(65536, 8, bound...)
			if err != nil {
				t.Fatal(err)
			}
			capabilities, methods := caps, calls
			if c.selected {
				capabilities, methods = caps+`,"lifecycle_events"`, calls+`,"hook/run"`
			}
			contract, err := NegotiateJSON(o.AppendJSON(nil), []byte(selectionText("octet.extension.api/0.3", "octet-canonical-json-v1", capabilities, methods, limits)))
			if err != nil {
				t.Fatal(err)
			}
			reported, err := contract.CheckSessionHooks(c.declared, &o)
			var m *Mismatch
			if reported != c.reported || c.refused == "" && err != nil || c.refused != "" && (!errors.As(err, &m) || m.Code.Name != c.refused) {
				t.Errorf("reported %v, %v; want %v, %q", reported, err, c.reported, c.refused)
			}
		})
	}
}

func TestHostSelection_features(t *testing.T) {
	const required = `"request_cancellation","content_parts"`
	chosen := func(features, rest string) string { return `{"version":"@","features":[` + features + `]` + rest + `}` }
	const eight = `,"limits":{"max_concurrent_requests":8}`
	for _, c := range []struct{ binds, name, selection, broken string }{ // broken: the rule of the writer, or empty
		{"EXT04-NEG-013", "required alone", chosen(required, eight), ""},
		{"EXT04-NEG-013", "no cancellation", chosen(`"content_parts"`, eight), "EXT04-NEG-002"},
		{"EXT04-NEG-013", "no content parts", chosen(`"request_cancellation","request_progress"`, eight), "EXT04-NEG-002"},
		{"EXT04-NEG-013", "none", chosen(``, eight), "EXT04-NEG-002"},
		{"EXT04-NEG-013", "no list", `{"version":"@"` + eight + `}`, "EXT04-NEG-002"},
		{"EXT04-NEG-014", "an offered one", chosen(required+`,"request_progress"`, eight), ""},
		{"EXT04-NEG-014", "another", chosen(required+`,"artifacts"`, eight), "EXT04-NEG-003"},
		{"EXT04-NEG-014", "unknown", chosen(required+`,"telepathy"`, eight), "EXT04-NEG-003"},
		{"EXT04-NEG-015", "required", chosen(required+`,"content_parts"`, eight), "EXT04-NEG-004"},
		{"EXT04-NEG-015", "optional", chosen(required+`,"request_progress","request_progress"`, eight), "EXT04-NEG-004"},
		{"EXT04-NEG-016", "absent", chosen(required, `,"limits":{}`), "EXT04-NEG-005"},
		{"EXT04-NEG-016", "no limits", chosen(required, ``), "EXT04-NEG-005"},
		{"EXT04-NEG-016", "null", chosen(required, `,"limits":{"max_concurrent_requests":null}`), "EXT04-NEG-005"},
		{"EXT04-NEG-016", "zero", chosen(required, `,"limits":{"max_concurrent_requests":0}`), "EXT04-NEG-005"},
		{"EXT04-NEG-016", "negative", chosen(required, `,"limits":{"max_concurrent_requests":-1}`), "EXT04-NEG-005"},
		{"EXT04-NEG-016", "one", chosen(required, `,"limits":{"max_concurrent_requests":1}`), ""},
		{"EXT04-NEG-018", "empty without the feature", chosen(required, eight+`,"lifecycle_events":[]`), ""},
		{"EXT04-NEG-018", "without the feature", chosen(required, eight+`,"lifecycle_events":["turn/started"]`), "EXT04-NEG-006"},
		{"EXT04-NEG-018", "no list", chosen(required, eight+`,"lifecycle_events":"turn/started"`), "EXT04-NEG-006"},
		{"EXT04-NEG-018", "with the feature", chosen(required+`,"lifecycle_events"`, eight+`,"lifecycle_events":["turn/started"]`), ""},
		{"EXT04-NEG-021", "together", chosen(required+`,"progress_decoration","request_progress"`, eight), ""},
		{"EXT04-NEG-021", "progress decoration alone", chosen(required+`,"progress_decoration"`, eight), "EXT04-NEG-020"},
		{"EXT04-NEG-021", "approvals alone", chosen(required+`,"approvals"`, eight), "EXT04-NEG-020"},
	} {
		for _, version := range []string{"0.2", "0.4"} {
			t.Run(c.binds+" "+version+" "+c.name, func(t *testing.T) {
				offer := strings.Replace(`{"version":"@","required_features":[`+required+`],"optional_features":["request_progress","progress_decoration",`+
					`"lifecycle_events","policy_intents","approvals"],"limits":{"max_concurrent_requests":64}}`, "@", version, 1)
				a, err := NegotiateFeaturesJSON(version, []byte(offer), []byte(strings.Replace(c.selection, "@", version, 1)))
				var m *Mismatch
				switch {
				case c.broken == "" && err != nil:
					t.Errorf("refused: %v", err)
				case c.broken == "":
				case !errors.As(err, &m) || m.Rule != c.broken || a != nil:
					t.Errorf("%+v, %v, want it refused by %s", a, err, c.broken)
				}
			})
		}
	}
}

func TestHostSelection_concurrencyIsCutToTheOffer(t *testing.T) {
	for selected, want := range map[string]int64{"1": 1, "15": 15, "16": 16, "17": 16, "64": 16, "9007199254740991": 16} {
		for _, version := range []string{"0.2", "0.4"} {
			t.Run("EXT04-NEG-017 "+version+" "+selected, func(t *testing.T) {
				offer := `{"version":"` + version + `","required_features":["request_cancellation","content_parts"],"optional_features":[],"limits":{"max_concurrent_requests":16}}`
				selection := `{"version":"` + version + `","features":["content_parts","request_cancellation"],"limits":{"max_concurrent_requests":` + selected + `}}`
				a, err := NegotiateFeaturesJSON(version, []byte(offer), []byte(selection))
				if err != nil || a.MaxConcurrent != want {
					t.Errorf("%+v, %v, want %d requests at a time", a, err, want)
				}
				if err == nil && !slices.Equal(a.Features, []string{"content_parts", "request_cancellation"}) {
					t.Errorf("features %q", a.Features)
				}
			})
		}
	}
}
