package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// frames are tool calls of the wire, from the smallest to the largest legal one.
func frames() map[string][]byte {
	all := map[string][]byte{
		"64B":  []byte(`{"id":12,"jsonrpc":"2.0","method":"shutdown","params":{"a":"bc"}}`),
		"300B": []byte(`{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"case":false,"limit":25,"path":"src/main.go","pattern":"func (.*) Close","tags":["a","b","c"]},"context":{"execution_scope":null,"host":{"active_skills":[],"model":"m","session_id":"s1"},"workspace":"/home/user/project"},"name":"search"}}`),
	}
	for _, size := range []int{10 << 10, 1 << 20} {
		var b bytes.Buffer
		b.WriteString(`{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"rows":[`)
		for n := 0; b.Len() < size-200; n++ {
			if n > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"line":%d,"ok":true,"path":"dir/file%d.go","text":"a line of text with \"quotes\" and ø"}`, n, n)
		}
		b.WriteString(`]},"context":{},"name":"search"}}`)
		all[fmt.Sprintf("%dKiB", size>>10)] = b.Bytes()
	}
	all["1MiB-text"] = []byte(`{"t":"` + strings.Repeat("0123456789 abcdef", 1<<16) + `"}`)
	return all
}

var order = []string{"64B", "300B", "10KiB", "1024KiB", "1MiB-text"}

func benchmark(b *testing.B, check func([]byte) bool) {
	all := frames()
	for _, name := range order {
		b.Run(name, func(b *testing.B) {
			text := all[name]
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if !check(text) {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	benchmark(b, func(text []byte) bool { return Check(text) == nil })
}

// The public ways: parse, write again, compare.

func BenchmarkReencode_encodingJSON(b *testing.B) {
	benchmark(b, func(text []byte) bool {
		var v any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return false
		}
		out, err := json.Marshal(v)
		return err == nil && bytes.Equal(out, text)
	})
}

func BenchmarkReencode_jsontext(b *testing.B) {
	benchmark(b, func(text []byte) bool {
		v := jsontext.Value(bytes.Clone(text))
		return v.Canonicalize() == nil && bytes.Equal(v, text)
	})
}

func BenchmarkCopy(b *testing.B) {
	dst := make([]byte, 2<<20)
	benchmark(b, func(text []byte) bool { return copy(dst, text) == len(text) })
}
