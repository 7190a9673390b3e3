package negotiation

import (
	"fmt"
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// offerText is the wire text of an offer with the given optional names and limits.
func offerText(capabilities, methods, limits string) string {
	return `{"encoding":"octet-canonical-json-v1","limits":` + limits + `,"optional_capabilities":[` + capabilities + `],"optional_methods":[` + methods +
		`],"required_capabilities":["content_parts","core","request_cancellation","tool_call"],` +
		`"required_methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"}`
}

func TestHostOffer_canonical(t *testing.T) {
	const most = `{"max_concurrent_requests":64,"max_frame_bytes":1048576,"max_tools":256}`
	for _, c := range []struct {
		binds        string
		frame, calls int64
		bound        []string
		want         string
	}{
		{"EXT03-CONTRACT-015", 1048576, 64, nil, offerText("", "", most)},
		{"EXT03-CONTRACT-015", 1048576, 64, []string{"theme_selection", "lifecycle_events"}, offerText(`"lifecycle_events","theme_selection"`, `"hook/run","theme/select"`, most)},
		{"EXT03-CONTRACT-016", 1048577, 65, nil, offerText("", "", most)},
		{"EXT03-CONTRACT-016", 1 << 40, 1 << 40, nil, offerText("", "", most)},
		{"EXT03-CONTRACT-016", 1048575, 63, nil, offerText("", "", `{"max_concurrent_requests":63,"max_frame_bytes":1048575,"max_tools":256}`)},
		{"EXT03-CONTRACT-016", 1, 1, nil, offerText("", "", `{"max_concurrent_requests":1,"max_frame_bytes":1,"max_tools":256}`)},
		{"EXT03-CONTRACT-017", 1048576, 64, nil, offerText("", "", most)},
		{"EXT03-CONTRACT-017", 1048576, 64, []string{"theme_selection"}, offerText(`"theme_selection"`, `"theme/select"`, most)},
		{"EXT03-CONTRACT-017", 1048576, 64, []string{"event_bus"}, offerText(
			`"event_bus"`, `"bus/declare","bus/event","bus/lifecycle","bus/publish","bus/subscribe","bus/unsubscribe"`, most)},
	} {
		t.Run(fmt.Sprint(c.binds, " ", c.frame, " ", c.calls, " ", c.bound), func(t *testing.T) {
			o, err := Offer(c.frame, c.calls, c.bound...)
			if got := string(o.AppendJSON(nil)); err != nil || got != c.want {
				t.Errorf("offers\n%s, %v, want\n%s", got, err, c.want)
			}
		})
	}
}

// A service is offered whole or not at all, whichever others are bound; what the table defers or lacks is never
// offered: EXT03-CONTRACT-028, EXT03-CONTRACT-029.
func TestHostOffer_leavesOutWhatIsNotBound(t *testing.T) {
	var optional []string
	for _, c := range canonicalwire.Capabilities {
		if c.Offer == "optional" {
			optional = append(optional, c.Name)
		}
	}
	if len(optional) < 5 {
		t.Fatalf("the table has %d optional capabilities", len(optional))
	}
	for _, missing := range optional {
		t.Run("EXT03-CONTRACT-017 "+missing, func(t *testing.T) {
			bound := slices.DeleteFunc(slices.Clone(optional), func(name string) bool { return name == missing })
			o, err := Offer(1048576, 64, bound...)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(o.OptionalCapabilities, missing) || len(o.OptionalCapabilities) != len(bound) {
				t.Errorf("offers %q", o.OptionalCapabilities)
			}
			for _, m := range canonicalwire.Methods {
				if offered := slices.Contains(o.OptionalMethods, m.Name); offered != (m.Offer == "optional" && slices.Contains(bound, m.Gate)) {
					t.Errorf("%s of %s is offered: %v", m.Name, m.Gate, offered)
				}
			}
		})
	}
}
