package oupreferee_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/oupreferee"
)

// The guide shows an adapter that is one, and names every input there is and every place of a client.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/oup-conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```toml\n")
	block, _, found := strings.Cut(rest, "```")
	if a, err := oupreferee.ParseAdapter("guide", []byte(block)); err != nil || !found || a.Ask.Approval == "" || a.WorkSecret == nil || len(a.File) != 1 {
		t.Errorf("the adapter of the guide: %+v, %v", a, err)
	}
	asks := reflect.TypeFor[oupreferee.Ask]()
	for i := range asks.NumField() {
		if key := asks.Field(i).Tag.Get("toml"); key != "-" && !strings.Contains(string(text), "\n| `"+key+"` |") {
			t.Errorf("the guide lacks the input %s", key)
		}
	}
	for _, place := range []string{oupreferee.PlaceURL, oupreferee.PlaceServer, oupreferee.PlaceSession, oupreferee.PlacePrompt, oupreferee.PlaceDecision, oupreferee.PlaceData, oupreferee.PlacePort, oupreferee.PlaceSeconds} {
		if !strings.Contains(string(text), "`"+place+"`") {
			t.Errorf("the guide lacks the place %s", place)
		}
	}
}
