package dialect

import (
	"encoding/json"
	"testing"
)

func TestDialect_EncodeWritesTheNumbersOfTheWire(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"18446744073709551615", "18446744073709551615"},
		{"0.5", "0.5"},
		{`{"b":1E400,"a":"<\u00e9>","é":[-0.0]}`, `{"a":"<é>","b":1E400,"é":[-0.0]}`},
		{`{"b":1,"a":2}`, `{"a":2,"b":1}`},
	} {
		for _, api := range []string{"0.1", "0.2", "0.4"} {
			d, err := For(api)
			if err != nil {
				t.Fatal(err)
			}
			if !d.Spellable(c.text) {
				t.Errorf("%s cannot be written on API %s", c.text, api)
			}
			var got struct {
				ID     json.RawMessage `json:"id"`
				Result json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal(d.Result("18446744073709551615", json.RawMessage(c.text)), &got); err != nil {
				t.Fatal(err)
			}
			if string(got.ID) != "18446744073709551615" || string(got.Result) != c.want {
				t.Errorf("API %s writes %s under the id %s, want %s", api, got.Result, got.ID, c.want)
			}
		}
	}
}

func TestDialect_SpellableRefusesWhatIsNoStrictJSON(t *testing.T) {
	d, err := For("0.4")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"a":0.5,"a":1}`, `[0.5,"\ud800"]`, `[0.5`, `01`, `0.5 0.5`} {
		if d.Spellable(text) {
			t.Errorf("%s can be written back", text)
		}
	}
	canonical, err := For(CanonicalAPI)
	if err != nil {
		t.Fatal(err)
	}
	if canonical.Spellable("0.5") {
		t.Error("0.5 has a canonical spelling")
	}
}
