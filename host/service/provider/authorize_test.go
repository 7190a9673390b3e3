package provider_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/provider"
)

// policy answers as it is told and remembers what it was asked.
type policy struct {
	status canonicalwire.ProviderAuthorizationStatus
	asked  []provider.Authorization
	during func()
}

func (p *policy) authorize(_ context.Context, wish provider.Authorization) (canonicalwire.ProviderAuthorizationStatus, error) {
	p.asked = append(p.asked, wish)
	if p.during != nil {
		p.during()
	}
	return p.status, nil
}

func secured(t *testing.T, r *provider.Registry) *extensiontest.Rig {
	t.Helper()
	rig := join(t, r, "one")
	rig.Ask(register, fmt.Sprintf(`{"models":[%s],"provider":%s}`, modelOf("m"), definition("p", "oauth"))).OK(t, "")
	return rig
}

func wish(id, action string) string {
	return fmt.Sprintf(`{"action":%q,"interactive":true,"provider_id":%q,"scopes":["read"]}`, action, id)
}

// lease reads an answer that must be ready with a lease.
func lease(t *testing.T, a extensiontest.Answer) string {
	t.Helper()
	var result struct{ Status, Lease string }
	a.Decode(t, &result)
	if result.Status != "ready" || result.Lease == "" || len(result.Lease) > canonicalwire.MaxProviderAuthLeaseBytes || strings.Contains(result.Lease, "://") {
		t.Errorf("answer is %s, want ready with an opaque lease", a.Result)
	}
	return result.Lease
}

// EXT03-AUTH-003, EXT03-AUTH-008
func TestAuthorize_refuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &policy{status: canonicalwire.ProviderAuthorizationStatusReady}
		r := provider.New(provider.Options{Authorize: p.authorize})
		one, two := secured(t, r), join(t, r, "two")
		one.Ask(request, wish("p", "revoke")).Refused(t, invalid, "")
		one.Ask(revoke, wish("p", "authorize")).Refused(t, invalid, "")
		one.Ask(revoke, wish("p", "refresh")).Refused(t, invalid, "")
		one.Ask(request, wish("none", "authorize")).Refused(t, foreign, "")
		two.Ask(request, wish("p", "authorize")).Refused(t, foreign, "")
		two.Ask(revoke, wish("p", "revoke")).Refused(t, foreign, "")
		one.Ask(request, `{"action":"authorize","interactive":true,"provider_id":"p","token":"x"}`).Refused(t, invalid, "")
		if len(p.asked) > 0 {
			t.Errorf("the policy was asked %+v", p.asked)
		}
	})
}

// EXT03-AUTH-004, EXT03-AUTH-005, EXT03-AUTH-006, EXT03-AUTH-007
func TestAuthorize_answersWithStatusAndLeasesOnlyWhenReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &policy{}
		one := secured(t, provider.New(provider.Options{Authorize: p.authorize}))
		for _, status := range []canonicalwire.ProviderAuthorizationStatus{
			canonicalwire.ProviderAuthorizationStatusPending, canonicalwire.ProviderAuthorizationStatusDenied,
			canonicalwire.ProviderAuthorizationStatusUnavailable, canonicalwire.ProviderAuthorizationStatusRevoked,
		} {
			p.status = status
			one.Ask(request, wish("p", "authorize")).OK(t, fmt.Sprintf(`{"status":%q}`, status))
		}
		p.status = canonicalwire.ProviderAuthorizationStatusReady
		one.Ask(request, wish("p", "refresh")).OK(t, `{"status":"denied"}`) // there is nothing to refresh
		first := lease(t, one.Ask(request, wish("p", "authorize")))
		if second := lease(t, one.Ask(request, wish("p", "refresh"))); second == first {
			t.Error("a refreshed lease is the old one")
		}
		last := p.asked[len(p.asked)-1]
		if !last.Refresh || !last.Interactive || last.Extension != "one" || last.Provider.ID != "p" || len(last.Scopes) != 1 {
			t.Errorf("the policy was asked %+v", last)
		}
		one.Ask(revoke, wish("p", "revoke")).OK(t, `{"status":"revoked"}`)
		one.Ask(request, wish("p", "refresh")).OK(t, `{"status":"denied"}`)
	})
}

func TestAuthorize_withoutPolicyOrNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		one := secured(t, r)
		one.Ask(request, wish("p", "authorize")).OK(t, `{"status":"unavailable"}`)
		one.Ask(register, declares("free", "m")).OK(t, "")
		one.Ask(request, wish("free", "authorize")).OK(t, `{"status":"ready"}`)
	})
}

func TestAuthorize_whatIsRevokedMeanwhileStaysRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &policy{status: canonicalwire.ProviderAuthorizationStatusReady}
		one := secured(t, provider.New(provider.Options{Authorize: p.authorize}))
		p.during = func() { one.Ask(revoke, wish("p", "revoke")).OK(t, `{"status":"revoked"}`) }
		one.Ask(request, wish("p", "authorize")).OK(t, `{"status":"revoked"}`)
	})
}
