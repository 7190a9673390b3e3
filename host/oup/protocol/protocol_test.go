package protocol_test

import (
	"testing"

	"github.com/octet-dev/octet/host/oup/protocol"
)

func TestText_givesWhatTheTableSays(t *testing.T) {
	if got := protocol.Text("subprotocol"); got != "octos-ui" {
		t.Errorf("subprotocol is %q", got)
	}
	if got := protocol.CloseReason(1008); got != "auth_expired" {
		t.Errorf("reason of 1008 is %q", got)
	}
}

func TestText_panicsOnAnUnknownName(t *testing.T) {
	for name, look := range map[string]func(){
		"text": func() { protocol.Text("no_such_text") },
		"code": func() { protocol.CloseReason(4711) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			look()
		})
	}
}
