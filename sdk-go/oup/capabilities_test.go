package oup

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/oupwire"
)

// OUP-CAPABILITY-011: an opened session that says nothing of capabilities has those of a connection that named none.
func TestOpen_withoutCapabilities(t *testing.T) {
	for _, told := range []string{``, `,"capabilities":null`} {
		synctest.Test(t, func(t *testing.T) {
			s, p := play(t, Options{})
			got := make(chan *Session, 1)
			go func() {
				session, err := s.client.Open(t.Context(), key, OpenOptions{Listen: true})
				if err != nil {
					t.Error(err)
				}
				got <- session
			}()
			opened := fmt.Sprintf(`{"session_id":%q,"cursor":{"stream":%q,"seq":1}%s}`, key, key, told)
			p.answer(p.request(oupwire.MethodSessionOpen), `{"opened":`+opened+`}`)
			p.tell(oupwire.MethodSessionOpen, opened)
			session := <-got
			if session == nil {
				t.FailNow()
			}
			features := session.Opened().Capabilities.SupportedFeatures.Or(nil)
			if !slices.Contains(features, oupwire.FeatureApprovalTypedV1) || !slices.Contains(session.Opened().Capabilities.SupportedMethods, oupwire.MethodTurnStart) {
				t.Errorf("the capabilities are %+v", session.Opened().Capabilities)
			}
			for event, err := range session.Events(t.Context()) {
				if _, is := event.Body.(Opened); !is || err != nil {
					t.Errorf("got %T, %v", event.Body, err)
				}
				break
			}
			_ = s.client.Close()
		})
	}
}
