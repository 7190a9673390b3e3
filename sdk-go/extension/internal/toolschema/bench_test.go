package toolschema

import (
	"reflect"
	"strings"
	"testing"
)

func BenchmarkSchema_check(b *testing.B) {
	s, err := Arguments(reflect.TypeFor[slowArgs]())
	if err != nil {
		b.Fatal(err)
	}
	value := []byte(`{"delay_ms":100,"text":"` + strings.Repeat("word ", 14) + `"}`)
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Check(value); err != nil {
			b.Fatal(err)
		}
	}
}
