package lane_test

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// BenchmarkReplay tells a client stored events over a connection in memory, one an operation.
func BenchmarkReplay(b *testing.B) {
	s := newStage(b, ledger.Options{Retain: 1 << 20})
	s.append(said(turn1, "go"))
	page := make([]ledger.Event, 1000)
	for i := range page {
		page[i] = delta(turn1, strings.Repeat("word ", 4))
	}
	for n := 1; n < b.N; n += len(page) {
		s.append(page[:min(len(page), b.N-n)]...)
	}
	c := s.connect()
	b.ReportAllocs()
	b.ResetTimer()
	c.open(0)
	for told := 0; told <= b.N+1; told++ {
		if text, err := c.Read(); err != nil {
			b.Fatal(err)
		} else if strings.Contains(string(text), `"method":"`+oupwire.MethodSessionOpen+`"`) {
			break
		}
	}
}
