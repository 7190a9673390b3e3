package negotiation

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/rules"
)

type vector struct {
	ID, API, Note, Verdict, Error string
	Offer, Selection              json.RawMessage
}

// vectors reads a vector file of the spec; floor is how many it must hold.
func vectors(t *testing.T, name string, floor int) []vector {
	t.Helper()
	data, err := os.ReadFile("../../spec/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) < floor {
		t.Fatalf("%s holds %d vectors, want at least %d", name, len(file.Vectors), floor)
	}
	return file.Vectors
}

// judge compares an outcome with a vector.
func (v vector) judge(t *testing.T, err error, name func(*Mismatch) string) {
	t.Helper()
	var m *Mismatch
	switch {
	case err == nil && v.Verdict != "accept":
		t.Errorf("%s (%s): accepted, want %s", v.ID, v.Note, v.Error)
	case err == nil:
	case !errors.As(err, &m):
		t.Errorf("%s: %v is no *Mismatch", v.ID, err)
	case v.Verdict != "reject" || name(m) != v.Error:
		t.Errorf("%s (%s): refused as %s: %v; want %s %s", v.ID, v.Note, name(m), err, v.Verdict, v.Error)
	case rules.Lookup(m.Rule) == nil:
		t.Errorf("%s: refused under rule %q, which does not exist", v.ID, m.Rule)
	}
}

func TestNegotiateJSON_givesTheVerdictsOfTheSpec(t *testing.T) {
	for _, v := range vectors(t, "canonical-negotiations.json", 70) {
		_, err := NegotiateJSON(v.Offer, v.Selection)
		v.judge(t, err, func(m *Mismatch) string { return m.Code.Name })
	}
}

// TestNegotiateFeaturesJSON_givesTheVerdictsOfTheSpec: one of them is EXT04-NEG-026, an event that does not exist.
func TestNegotiateFeaturesJSON_givesTheVerdictsOfTheSpec(t *testing.T) {
	for _, v := range vectors(t, "feature-negotiations.json", 50) {
		a, err := NegotiateFeaturesJSON(v.API, v.Offer, v.Selection)
		v.judge(t, err, func(*Mismatch) string { return "invalid_negotiation" })
		if err != nil {
			continue
		}
		o, err := featurewire.DecodeProtocolOffer(v.Offer)
		if err != nil {
			t.Fatal(err)
		}
		if a.MaxConcurrent > o.Limits.MaxConcurrentRequests {
			t.Errorf("%s: agreed on %d calls, more than the offered %d", v.ID, a.MaxConcurrent, o.Limits.MaxConcurrentRequests)
		}
	}
}
