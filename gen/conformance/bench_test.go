package conformance

import (
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

var (
	canonicalCall = []byte(`{"arguments":{"options":{"case":true},"path":"docs/guide.md","text":"count the words in here"},"context":{"host":{},"workspace":"/home/ann/work"},"name":"word_count"}`)
	featureCall   = []byte(`{"name":"word_count","arguments":{"text":"count the words in here"},"context":{"workspace":"/home/ann/work","execution_scope":null,"host":{"session_id":"s-1","session_name":null,"model":"m","reasoning":null,"active_skills":[]}}}`)
	result        = []byte(`{"content":[{"text":"12 words","type":"text"}],"is_error":false,"metadata":null,"structured_content":{"words":12}}`)
)

func BenchmarkDecodeToolCallParams_canonical(b *testing.B) {
	b.SetBytes(int64(len(canonicalCall)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canonicalwire.DecodeToolCallParams(canonicalCall); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeToolCallParams_feature(b *testing.B) {
	b.SetBytes(int64(len(featureCall)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := featurewire.DecodeToolCallParams(featureCall); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToolCallResult_AppendJSON(b *testing.B) {
	x, err := canonicalwire.DecodeToolCallResult(result)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(result)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = x.AppendJSON(buf[:0])
	}
}

func BenchmarkToolCallResult_MarshalJSON(b *testing.B) {
	x, err := canonicalwire.DecodeToolCallResult(result)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(result)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}
