package ledger_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// BenchmarkAppend tells what one acknowledged event costs when so many write at once.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			l := open(b, b.TempDir())
			e := ledger.Event{Stream: "s", Method: "projection/envelope", Body: []byte(`{"text":"` + strings.Repeat("w", 200) + `"}`)}
			var next atomic.Int64
			var tasks sync.WaitGroup
			b.ResetTimer()
			for range writers {
				tasks.Go(func() {
					for next.Add(1) <= int64(b.N) {
						if _, err := l.Append(context.Background(), e); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			tasks.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// BenchmarkReplay tells what it takes to read 100,000 events.
func BenchmarkReplay(b *testing.B) {
	l := open(b, b.TempDir())
	batch := make([]ledger.Event, 1000)
	for i := range batch {
		batch[i] = ledger.Event{Stream: "s", Method: "projection/envelope", Body: []byte(`{"text":"` + strings.Repeat("w", 200) + `"}`)}
	}
	for range 100 {
		add(b, l, batch...)
	}
	b.ResetTimer()
	for b.Loop() {
		count := 0
		if _, err := l.Replay(b.Context(), "s", nil, func(ledger.Stored) error { count++; return nil }); err != nil || count != 100_000 {
			b.Fatal(count, err)
		}
	}
}
