package refusal

import (
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/peer"
)

// What is over a bound is told apart from what is malformed, by the first word.
//
// EXT04-ERR-006.
func TestOf(t *testing.T) {
	long := strings.Repeat("x", featurewire.MaxShortcutIDBytes+1)
	for text, want := range map[string]string{
		`{"parent_request_id":1,"id":"` + long + `","key":"k","description":""}`: "bounds_exceeded",
		`{"parent_request_id":1,"id":7,"key":"k","description":""}`:              "invalid_request",
		`{"parent_request_id":1,"id":"x","key":"k"}`:                             "invalid_request",
		`{"parent_request_id":-1,"id":"x","key":"k","description":""}`:           "invalid_request",
		`{"parent_request_id":1,"id":null,"key":"k","description":""}`:           "invalid_request",
		`{"id":"x","id":"x"}`: "invalid_request",
		`[]`:                  "invalid_request",
		``:                    "invalid_request",
	} {
		_, err := featurewire.DecodeShortcutRegisterParams([]byte(text))
		var refusal *peer.Error
		if got := Of(err); !errors.As(got, &refusal) || refusal.Code != featurewire.CodeInvalidParams || !strings.HasPrefix(refusal.Message, want+" ") {
			t.Errorf("%.60s: %v, want %s", text, got, want)
		}
	}
	_, err := featurewire.DecodeToolsSetActiveParams([]byte(`{"parent_request_id":1,"names":[` + strings.TrimSuffix(strings.Repeat(`"x",`, featurewire.MaxActiveTools+1), ",") + `]}`))
	if got := Of(err); got == nil || !strings.HasPrefix(got.Error(), "bounds_exceeded") {
		t.Errorf("%v", got)
	}
}
