package negotiation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"pgregory.net/rapid"
)

// TestOffer_isValidAndBounded: EXT03-CONTRACT-027, by the bounds of zero.
func TestOffer_isValidAndBounded(t *testing.T) {
	o, err := Offer(1<<30, 1000, "lifecycle_events", "event_bus")
	if err != nil {
		t.Fatal(err)
	}
	got := string(o.AppendJSON(nil))
	const want = `{"encoding":"octet-canonical-json-v1","limits":{"max_concurrent_requests":64,"max_frame_bytes":1048576,"max_tools":256},` +
		`"optional_capabilities":["event_bus","lifecycle_events"],` +
		`"optional_methods":["bus/declare","bus/event","bus/lifecycle","bus/publish","bus/subscribe","bus/unsubscribe","hook/run"],` +
		`"required_capabilities":["content_parts","core","request_cancellation","tool_call"],` +
		`"required_methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, bad := range []struct {
		frame, calls int64
		bound        string
		code         string
	}{
		{0, 64, "", "invalid_params"},
		{1024, -1, "", "invalid_params"},
		{1024, 64, "dynamic_tools", "capability_mismatch"},
		{1024, 64, "telepathy", "capability_mismatch"},
		{1024, 64, "core", "capability_mismatch"},
	} {
		var bound []string
		if bad.bound != "" {
			bound = []string{bad.bound}
		}
		var m *Mismatch
		if _, err := Offer(bad.frame, bad.calls, bound...); !errors.As(err, &m) || m.Code.Name != bad.code {
			t.Errorf("Offer(%d, %d, %q) = %v, want %s", bad.frame, bad.calls, bad.bound, err, bad.code)
		}
	}
}

func TestSelect_takesWhatIsOffered(t *testing.T) {
	o, err := Offer(65536, 8, "lifecycle_events", "theme_selection", "session_lifecycle")
	if err != nil {
		t.Fatal(err)
	}
	s := Select(&o, canonicalwire.ProtocolLimits{MaxFrameBytes: 4096, MaxConcurrentRequests: 100}, "lifecycle_events", "event_bus", "theme_selection", "theme_selection", "telepathy")
	c, err := Negotiate(&o, &s)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Capabilities, " "); got != "content_parts core lifecycle_events request_cancellation theme_selection tool_call" {
		t.Errorf("capabilities %s", got)
	}
	if got := strings.Join(c.Open(), " "); got != "$/cancelRequest hook/run initialize shutdown theme/select tool/call" {
		t.Errorf("open methods %s", got)
	}
	if c.Limits != (canonicalwire.ProtocolLimits{MaxFrameBytes: 4096, MaxConcurrentRequests: 8, MaxTools: 256}) {
		t.Errorf("limits %+v", c.Limits)
	}
	o.OptionalMethods = slices.DeleteFunc(o.OptionalMethods, func(n string) bool { return n == "hook/run" })
	s = Select(&o, canonicalwire.ProtocolLimits{}, "lifecycle_events")
	if slices.Contains(s.Capabilities, "lifecycle_events") {
		t.Error("a capability whose indispensable method is not offered must be left out")
	}
	if err := c.CheckTools(256); err != nil {
		t.Error(err)
	}
	var m *Mismatch
	if err := c.CheckTools(257); !errors.As(err, &m) || m.Code.Name != "resource_exhausted" {
		t.Errorf("257 tools: %v", err)
	}
}

func TestContract_CheckSessionHooks(t *testing.T) {
	with, _ := Offer(65536, 8, "lifecycle_events")
	without, _ := Offer(65536, 8)
	for _, c := range []struct {
		declared, selected bool
		offer              *canonicalwire.ContractOffer
		unbound, ok        bool
	}{
		{true, true, &with, false, true},
		{true, false, &with, false, false},
		{false, true, &with, false, false},
		{false, false, &with, false, true},
		{true, false, &without, true, true},
		{false, false, &without, false, true},
	} {
		var wanted []string
		if c.selected {
			wanted = []string{"lifecycle_events"}
		}
		s := Select(c.offer, canonicalwire.ProtocolLimits{}, wanted...)
		contract, err := Negotiate(c.offer, &s)
		if err != nil {
			t.Fatal(err)
		}
		unbound, err := contract.CheckSessionHooks(c.declared, c.offer)
		if unbound != c.unbound || (err == nil) != c.ok {
			t.Errorf("%+v: unbound %v, %v", c, unbound, err)
		}
	}
}

func TestSelectFeatures_keepsDependencies(t *testing.T) {
	o, err := OfferFeatures("0.4", 16, "request_progress", "progress_decoration", "artifacts")
	if err != nil {
		t.Fatal(err)
	}
	o.OptionalFeatures = append(o.OptionalFeatures, "made_up_v9")
	for wanted, want := range map[string]string{
		"":                                     "request_cancellation content_parts",
		"request_progress":                     "request_cancellation content_parts request_progress",
		"progress_decoration":                  "request_cancellation content_parts",
		"progress_decoration request_progress": "request_cancellation content_parts request_progress progress_decoration",
		"composer made_up_v9 artifacts":        "request_cancellation content_parts artifacts",
	} {
		s := SelectFeatures(&o, 4, strings.Fields(wanted)...)
		if got := strings.Join(s.Features, " "); got != want {
			t.Errorf("wanting %q selects %s, want %s", wanted, got, want)
		}
		a, err := NegotiateFeatures("0.4", &o, &s)
		if err != nil || a.MaxConcurrent != 4 {
			t.Errorf("wanting %q: %+v, %v", wanted, a, err)
		}
		if CheckSelection("0.4", &o, &s) != nil {
			t.Errorf("wanting %q: CheckSelection disagrees", wanted)
		}
	}
	if s := SelectFeatures(&o, 0); s.Limits.MaxConcurrentRequests != 16 {
		t.Errorf("no wish gives %d, want the offer", s.Limits.MaxConcurrentRequests)
	}
}

func TestAgreement_opensByVersionFeatureAndManifest(t *testing.T) {
	for _, c := range []struct {
		a      *Agreement
		closed []string
		want   string
	}{
		{Legacy(), nil, "initialize tool/call shutdown notification"},
		{Legacy(), []string{featurewire.MethodNotification}, "initialize tool/call shutdown"},
		{&Agreement{Version: "0.4", Features: []string{"content_parts", "request_cancellation"}}, nil, "initialize tool/call shutdown $/cancelRequest notification"},
		{&Agreement{Version: "0.2", Features: []string{"request_cancellation", "request_progress"}}, nil, "initialize tool/call shutdown $/cancelRequest $/progress notification"},
	} {
		open := c.a.Open(c.closed...)
		for _, name := range strings.Fields(c.want) {
			if !slices.Contains(open, name) {
				t.Errorf("version %s: %s is not open", c.a.Version, name)
			}
		}
		for _, name := range open {
			if m := featurewire.LookupMethod(name); !slices.Contains(strings.Fields(c.want), name) && featurewire.LookupFeature(m.Gate) != nil && !c.a.Has(m.Gate) {
				t.Errorf("version %s: %s is open without %s", c.a.Version, name, m.Gate)
			}
			if slices.Contains(c.closed, name) {
				t.Errorf("version %s: %s is open though the manifest closes it", c.a.Version, name)
			}
		}
	}
}

// TestOfferFeatures_refusesWhatTheVersionLacks: EXT04-NEG-027.
func TestOfferFeatures_refusesWhatTheVersionLacks(t *testing.T) {
	for _, c := range []struct {
		api, feature string
		calls        int64
		ok           bool
	}{
		{"0.4", "request_progress", 64, true},
		{"0.4", "content_parts", 64, true},
		{"0.2", "remote_ui", 64, false},
		{"0.4", "telepathy", 64, false},
		{"0.4", "request_progress", 0, false},
	} {
		if _, err := OfferFeatures(c.api, c.calls, c.feature); (err == nil) != c.ok {
			t.Errorf("OfferFeatures(%s, %d, %s) = %v", c.api, c.calls, c.feature, err)
		}
	}
}

func TestCheckOffer_namesWhatIsUnsupported(t *testing.T) {
	o, _ := OfferFeatures("0.4", 64)
	if err := CheckOffer("0.4", &o); err != nil {
		t.Error(err)
	}
	if err := CheckOffer("0.2", &o); err == nil {
		t.Error("an offer of another version must be refused")
	}
	o.RequiredFeatures = append(o.RequiredFeatures, "artifacts", "telepathy")
	var m *Mismatch
	if err := CheckOffer("0.4", &o); !errors.As(err, &m) || m.Name != "artifacts" || m.Code.Name != "server_error" {
		t.Errorf("got %v", err)
	}
	if err := CheckOffer("0.4", &o, "artifacts"); !errors.As(err, &m) || m.Name != "telepathy" {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(Unsupported(&o), " "); got != "artifacts telepathy" {
		t.Errorf("unsupported %s", got)
	}
}

func TestValidateOffer_countsBeforeItLooks(t *testing.T) {
	for _, c := range []struct {
		caps, methods int
		code          string
	}{
		{32, 0, "capability_mismatch"}, // unknown names, but not too many
		{33, 0, "resource_exhausted"},
		{0, 64, "capability_mismatch"},
		{0, 65, "resource_exhausted"},
	} {
		o, err := Offer(65536, 8)
		if err != nil {
			t.Fatal(err)
		}
		for n := range c.caps {
			o.OptionalCapabilities = append(o.OptionalCapabilities, fmt.Sprintf("made.up.%d", n))
		}
		for n := range c.methods {
			o.OptionalMethods = append(o.OptionalMethods, fmt.Sprintf("made/up/%d", n))
		}
		var m *Mismatch
		if err := ValidateOffer(&o); !errors.As(err, &m) || m.Code.Name != c.code {
			t.Errorf("%d capabilities and %d methods: %v, want %s", c.caps, c.methods, err, c.code)
		}
	}
}

func TestNegotiateFeatures_knowsTheVersionOfAFeature(t *testing.T) {
	o, err := OfferFeatures("0.2", 1)
	if err != nil {
		t.Fatal(err)
	}
	o.OptionalFeatures = append(o.OptionalFeatures, featurewire.FeatureRemoteUI)
	s := SelectFeatures(&o, 0)
	s.Features = append(s.Features, featurewire.FeatureRemoteUI)
	var m *Mismatch
	if _, err := NegotiateFeatures("0.2", &o, &s); !errors.As(err, &m) || m.Name != featurewire.FeatureRemoteUI {
		t.Errorf("a feature of 0.4 selected on 0.2: %v", err)
	}
}

func TestMismatch_namesThingRuleAndCause(t *testing.T) {
	m := &Mismatch{Rule: "EXT03-INIT-013", Name: "core", Text: "is missing", Err: errors.New("because")}
	if got, want := m.Error(), `negotiation: "core" is missing: because (EXT03-INIT-013)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if errors.Unwrap(m) != m.Err {
		t.Error("the cause must be matchable")
	}
}

// Whatever an extension wants of whatever a host binds, the two agree.
func TestSelect_alwaysAgreesWithTheOffer(t *testing.T) {
	var caps, features []string
	for _, c := range canonicalwire.Capabilities {
		if c.Offer == "optional" {
			caps = append(caps, c.Name)
		}
	}
	for _, f := range featurewire.Features {
		features = append(features, f.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		some := func(from []string, label string) []string {
			return rapid.SliceOfDistinct(rapid.SampledFrom(from), rapid.ID[string]).Draw(t, label)
		}
		o, err := Offer(rapid.Int64Range(1, 1<<21).Draw(t, "frame"), rapid.Int64Range(1, 100).Draw(t, "calls"), some(caps, "bound")...)
		if err != nil {
			t.Fatal(err)
		}
		s := Select(&o, canonicalwire.ProtocolLimits{}, some(caps, "wanted")...)
		if _, err := Negotiate(&o, &s); err != nil {
			t.Fatal(err)
		}
		version := rapid.SampledFrom([]string{"0.2", "0.4"}).Draw(t, "version")
		bound := slices.DeleteFunc(some(features, "features"), func(n string) bool {
			return !slices.Contains(featurewire.LookupFeature(n).Versions, version)
		})
		fo, err := OfferFeatures(version, 64, bound...)
		if err != nil {
			t.Fatal(err)
		}
		fs := SelectFeatures(&fo, rapid.Int64Range(0, 100).Draw(t, "most"), some(features, "wanted features")...)
		if _, err := NegotiateFeatures(version, &fo, &fs); err != nil {
			t.Fatal(err)
		}
	})
}
