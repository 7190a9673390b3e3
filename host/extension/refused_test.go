package extension_test

import (
	"testing"
)

// A request that belongs to nothing is refused to the extension, and told of to whoever writes it.
func TestHandle_tellsOfWhatItRefuses(t *testing.T) {
	var s seen
	r := s.rig(t, "0.4", "")
	r.During(front, func(int64) { r.Ask(required, tie(0, "")).Refused(t, invalid, "") })
	if want := `request of method "` + required + `" is refused: `; !r.Diagnosed(want) {
		t.Errorf("%q is not in %q", want, r.Diagnostics())
	}
}
