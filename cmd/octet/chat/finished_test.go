package chat

import (
	"testing"

	"github.com/octet-dev/octet/host/agent"
)

func TestFinished_keepsTheReasonAsItIs(t *testing.T) {
	for want, o := range map[string]agent.Outcome{
		"":                                  {Status: agent.Completed, Reason: "x"},
		"limit reached":                     {Status: agent.LimitReached},
		"failed: my_script.yaml has no end": {Status: agent.Failed, Reason: "my_script.yaml\nhas no end"},
	} {
		if got := Finished(o); got != want {
			t.Errorf("%v is told as %q, want %q", o, got, want)
		}
	}
}
