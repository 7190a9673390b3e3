package permission

import (
	"context"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/tool"
)

// TestProfile walks what a client may choose, under a policy that allows everything and under one that asks.
func TestProfile(t *testing.T) {
	outside := func(effect tool.Effect) Request {
		r := request(effect, "/elsewhere")
		r.Summary.External = true
		return r
	}
	modes := []Mode{"", ReadOnly, WorkspaceWrite, FullAccess}
	for _, c := range []struct {
		name       string
		r          Request
		open       [4]Decision // by mode, under unsafe_host
		controlled [4]Decision
	}{
		{"nothing", request(tool.None, ""), [4]Decision{Allow, Allow, Allow, Allow}, [4]Decision{Allow, Allow, Allow, Allow}},
		{"read", request(tool.Read, "a"), [4]Decision{Allow, Allow, Allow, Allow}, [4]Decision{Allow, Allow, Allow, Allow}},
		{"read outside", outside(tool.Read), [4]Decision{Allow, Ask, Ask, Allow}, [4]Decision{Allow, Ask, Ask, Allow}},
		{"write", request(tool.Write, "a"), [4]Decision{Allow, Ask, Allow, Allow}, [4]Decision{Ask, Ask, Ask, Ask}},
		{"write outside", outside(tool.Write), [4]Decision{Allow, Ask, Ask, Allow}, [4]Decision{Ask, Ask, Ask, Ask}},
		{"command", request(tool.Command, "rm x"), [4]Decision{Allow, Ask, Ask, Allow}, [4]Decision{Ask, Ask, Ask, Ask}},
		{"look", request(tool.Command, "ls"), [4]Decision{Allow, Ask, Ask, Allow}, [4]Decision{Allow, Ask, Ask, Allow}},
		{"extension", request(tool.External, ""), [4]Decision{Allow, Ask, Ask, Allow}, [4]Decision{Ask, Ask, Ask, Ask}},
	} {
		for i, mode := range modes {
			for s, want := range map[policy.Effect]Decision{policy.UnsafeHost: c.open[i], policy.Controlled: c.controlled[i]} {
				for _, never := range []bool{false, true} {
					profile := Profile{Mode: mode, Never: never}
					got := New(Options{Settings: settings(s), Profile: func() Profile { return profile }}).Judge(c.r)
					want := want
					if never && want == Ask {
						want = Deny
					}
					if got.Decision != want {
						t.Errorf("%s, mode %q, never %v, under %s: %+v, want %s", c.name, mode, never, s, got, want)
					}
					if want == Deny && !strings.Contains(got.Reason, "nobody is asked") {
						t.Errorf("%s: the reason is %q", c.name, got.Reason)
					}
				}
			}
		}
	}
}

// TestProfile_opensNothing: what was granted beforehand and what is shut stay as they are.
func TestProfile_opensNothing(t *testing.T) {
	full := func() Profile { return Profile{Mode: FullAccess} }
	shut := New(Options{Settings: settings(policy.UnsafeHost, func(s *policy.Settings) { s.AllowShell = false }), Profile: full})
	if got := shut.Judge(request(tool.Command, "ls")); got.Decision != Deny {
		t.Errorf("a shut gate: %+v", got)
	}
	granted := New(Options{
		Settings: settings(policy.Controlled), Granted: []tool.Effect{tool.Command}, Profile: func() Profile { return Profile{Mode: ReadOnly} },
	})
	if got := granted.Judge(request(tool.Command, "rm x")); got.Decision != Ask {
		t.Errorf("a grant under a narrow profile: %+v", got)
	}
	now := Profile{Mode: FullAccess}
	changing := New(Options{Settings: settings(policy.UnsafeHost), Profile: func() Profile { return now }})
	if got := changing.Ask(context.Background(), request(tool.Command, "rm x")); got.Decision != Allow {
		t.Errorf("%+v", got)
	}
	now = Profile{Mode: ReadOnly}
	if got := changing.Ask(context.Background(), request(tool.Command, "rm x")); got.Decision != Deny || !strings.Contains(got.Reason, "nobody is there") {
		t.Errorf("behind a change: %+v", got)
	}
}
