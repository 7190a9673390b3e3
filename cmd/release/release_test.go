package release

import "testing"

func TestPublished(t *testing.T) {
	own := Number
	defer func() { Number = own }()
	for number, want := range map[string]string{
		"0.1.0-dev": "0.1.0", "0.1.0": "0.1.0", "1.2.3-4-gabcdef": "1.2.3", "0.1.0-dev+abcdef": "0.1.0", "0.1.0+abc-def": "0.1.0",
	} {
		if Number = number; Published() != want {
			t.Errorf("%s is published as %s, want %s", number, Published(), want)
		}
	}
}
