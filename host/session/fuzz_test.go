package session

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzDecodeValue reads a row of the store as any version may have written it: it is refused, or what was read is
// written and read as the same value.
func FuzzDecodeValue(f *testing.F) {
	for _, v := range []Value{Message{}, Injected{}, Compaction{}, Extension{}, ModelChange{}, Composition{}} {
		text, err := encodeValue(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(v.Type(), text)
		f.Add(v.Type(), []byte(`{"type":1}`))
		f.Add(v.Type(), []byte(`null`))
	}
	f.Add("brand_new", []byte(`{"a":[1e400,"\ud800"]}`))
	f.Add("", []byte(`{`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		v, err := decodeValue(kind, data)
		if err != nil {
			return
		}
		text, err := encodeValue(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeValue(kind, text)
		if err != nil {
			t.Fatalf("%s is not read: %v", text, err)
		}
		if second, err := encodeValue(again); err != nil || !bytes.Equal(text, second) {
			t.Errorf("%s\nis read as\n%s: %v", text, second, err)
		}
	})
}

// FuzzMetadata reads the metadata of a row.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{"", "null", "[]", "{}", `[{"namespace":"a","key":"b","value":{"c":1}}]`, `[null]`, `[{"value":null}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Metadata
		if json.Unmarshal(data, &m) != nil {
			return
		}
		text, err := json.Marshal(&m)
		if err != nil {
			t.Fatalf("metadata that was read cannot be written: %v", err)
		}
		var again Metadata
		if err := json.Unmarshal(text, &again); err != nil {
			t.Errorf("%s is not read: %v", text, err)
		}
	})
}
