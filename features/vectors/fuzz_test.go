package vectors

import "testing"

// FuzzRead reads a file of vectors: it is refused, or every vector of it can be shown and asked.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"wire":"extension-feature","op":"frame","vectors":[{"id":"a","hex":"7b","bound":3,"verdict":"reject"},{"id":"b","text":"@@REP:x:3@@"}]}`,
		`{"op":"model","vectors":[{"id":"a"}]}`, `{"op":"negotiate","vectors":[{"id":"a","offer":{"a":"@@REP:x:0@@"}}]}`, `{"op":"x","vectors":[{}]}`, `{}`, `[]`, ``, `{"op":"frame","vectors":[{"text":"@@REP:ab:99999999999999999999@@"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Read("a.json", text)
		if err != nil {
			return
		}
		for _, v := range all {
			v.Value()
			if v.Asked() == "" {
				t.Errorf("the vector %q is asked with an empty line", v.ID)
			}
		}
	})
}
