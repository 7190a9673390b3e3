package diff

import (
	"slices"
	"testing"
)

func TestCompare_namesVersionsAndMarksReleasedOnes(t *testing.T) {
	const (
		two   = `{"versions": ["0.2", "0.4"]`
		one   = `{"versions": ["0.2"]`
		free  = `, "models": {"Params": {"type": "object", "properties": {"a": {"type": "string"}}}}}`
		tight = `, "models": {"Params": {"type": "object", "properties": {"a": {"type": "string", "x-max-bytes": 1}}}}}`
		busy  = `, "errors": [{"name": "bad", "code": -1, "message": "bad", "fixed": false}, {"name": "busy", "code": -2, "message": "busy", "fixed": false}]}`
		part  = `, "models": {"Params": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "x-versions": ["0.4"]}}}}}`
	)
	for _, c := range []struct {
		name, old, new string
		kind           string
		versions       []string
		frozen         bool
	}{
		{"a shape of both versions", two + free, two + tight, KindMaxBytes, []string{"0.2", "0.4"}, true},
		{"a shape of the version that both have", one + free, two + tight, KindMaxBytes, []string{"0.2"}, true},
		{"a member of one version", two + free, two + part, KindMember, []string{"0.4"}, true},
		{"an error added alone", one + "}", one + busy, KindError, []string{"0.2"}, true},
		{"an error added with a version", one + "}", two + busy, KindError, []string{"0.2"}, false},
		{"a new version", one + "}", two + "}", KindVersion, []string{"0.4"}, false},
		{"a version that is gone", two + "}", one + "}", KindVersion, []string{"0.4"}, true},
	} {
		found := false
		for _, change := range Compare(fragment(t, c.old), fragment(t, c.new)) {
			if change.Kind != c.kind {
				continue
			}
			found = true
			if !slices.Equal(change.Versions, c.versions) || change.Frozen != c.frozen {
				t.Errorf("%s: versions %v frozen %v, want %v %v", c.name, change.Versions, change.Frozen, c.versions, c.frozen)
			}
		}
		if !found {
			t.Errorf("%s: no change of kind %s", c.name, c.kind)
		}
	}
}

func TestCompare_namesAWireThatComesOrGoes(t *testing.T) {
	empty, toy := fragment(t, `{}`), fragment(t, `{}`)
	empty.Wires = nil
	for _, c := range Compare(empty, toy) {
		if c.Kind != KindWire || c.Verdict != Compatible || c.Frozen {
			t.Errorf("the wire comes: %+v", c)
		}
	}
	gone := Compare(toy, empty)
	if Overall(gone, false) != Breaking || len(gone) != 4 {
		t.Errorf("the wire goes: %s", lines(gone))
	}
	for _, c := range gone {
		if (c.Verdict == Breaking) != (c.Direction == Read) {
			t.Errorf("%s %s is %s", c.Role, c.Direction, c.Verdict)
		}
	}
}

func TestOverall_countsFrozenChangesOnlyWhenAsked(t *testing.T) {
	changes := []Change{{Verdict: Compatible, Frozen: true}, {Verdict: Unknown}}
	if got := Overall(changes, false); got != Unknown {
		t.Errorf("without frozen: %s", got)
	}
	if got := Overall(changes, true); got != Breaking {
		t.Errorf("with frozen: %s", got)
	}
	if got := Overall(nil, true); got != Compatible {
		t.Errorf("nothing: %s", got)
	}
}

// The change of a bound is told at the row of the limit it follows, once for everything that refers to it.
func TestCompare_placesAChangeWhereItIsWritten(t *testing.T) {
	limited := func(n string) string {
		return `{"limits": [{"name": "max_name_bytes", "value": ` + n + `, "unit": "bytes", "negotiable": false}],
			"models": {"Params": {"type": "object", "properties": {"a": {"type": "string", "x-max-bytes": "max_name_bytes"}, "b": {"type": "array", "items": {"type": "string", "x-max-bytes": 3}}}}}}`
	}
	changes := Compare(fragment(t, limited("4")), fragment(t, limited("2")))
	if want := (Place{New, "toy/limits.json", "/limits/1"}); len(changes) != 2 || changes[0].Place != want {
		t.Errorf("limit: %+v", changes)
	}
	gone := Compare(fragment(t, `{"models": {"Params": {"type": "object", "properties": {"a": {"type": "string"}}}}}`), fragment(t, `{"models": {"Params": {"type": "object", "properties": {}}}}`))
	if want := (Place{Old, "toy/models.json", "/$defs/Params/properties/a"}); len(gone) == 0 || gone[0].Place != want {
		t.Errorf("member that is gone: %+v", gone)
	}
	nested := func(n string) string {
		return `{"models": {"Params": {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string", "x-max-bytes": ` + n + `}}}}}}}`
	}
	inner := Compare(fragment(t, nested("3")), fragment(t, nested("4")))
	if want := (Place{New, "toy/models.json", "/$defs/Params/properties/a/additionalProperties/items"}); len(inner) == 0 || inner[0].Place != want {
		t.Errorf("element of a map's value: %+v", inner)
	}
}
