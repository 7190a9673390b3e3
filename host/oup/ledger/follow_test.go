package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// TestFollow_handsOverWithoutGapOrDouble lets readers come and go at random while writers write, and demands
// that each sees every event behind its cursor once, in order, as it was written.
func TestFollow_handsOverWithoutGapOrDouble(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { handOver(t, seed) })
	}
}

func handOver(t *testing.T, seed uint64) {
	const (
		streams = 3
		writers = 4
		readers = 6
		batches = 16
	)
	l := open(t, t.TempDir())
	var mu sync.Mutex
	written := map[string]map[int64]string{} // stream, position, body
	total := map[string]int64{}
	plans := make([][][]ledger.Event, writers)
	random := rand.New(rand.NewPCG(seed, 1))
	for w := range plans {
		for range batches {
			stream := fmt.Sprint("s", random.IntN(streams))
			var batch []ledger.Event
			// Some batches are longer than what is kept in memory.
			for range 1 + random.IntN(8)*random.IntN(8)*random.IntN(8) {
				batch = append(batch, ledger.Event{Stream: stream, Method: "m", Body: fmt.Appendf(nil, `{"w":%d,"r":%q}`, w, strings.Repeat("x", random.IntN(40)))})
			}
			total[stream] += int64(len(batch))
			plans[w] = append(plans[w], batch)
		}
	}
	var tasks sync.WaitGroup
	for _, plan := range plans {
		tasks.Go(func() {
			for _, batch := range plan {
				stored, err := l.Append(context.Background(), batch...)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, e := range stored {
					if written[e.Stream] == nil {
						written[e.Stream] = map[int64]string{}
					}
					written[e.Stream][e.Seq] = string(e.Body)
				}
				mu.Unlock()
			}
		})
	}
	seen := make([]map[int64]string, readers)
	for i := range readers {
		seen[i] = map[int64]string{}
		random := rand.New(rand.NewPCG(seed, uint64(i)+2))
		tasks.Go(func() {
			stream := fmt.Sprint("s", i%streams)
			if err := readAll(l, stream, total[stream], random, seen[i]); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	tasks.Wait()
	for i, got := range seen {
		stream := fmt.Sprint("s", i%streams)
		for seq, body := range written[stream] {
			if got[seq] != body {
				t.Fatalf("reader %d has %q at %d of %s, and %q was written", i, got[seq], seq, stream, body)
			}
		}
		want(t, "count", len(got), len(written[stream]))
	}
}

// readAll follows a stream up to a position and reconnects at random with the cursor it has come to.
func readAll(l *ledger.Ledger, stream string, last int64, random *rand.Rand, seen map[int64]string) error {
	at := ledger.Cursor{Stream: stream}
	for at.Seq < last {
		reader, err := l.Follow(context.Background(), stream, &at)
		if err != nil {
			return err
		}
		for pages := 1 + random.IntN(6); pages > 0 && at.Seq < last; pages-- {
			page, err := reader.Next(context.Background())
			if err != nil {
				return err
			}
			for _, e := range page {
				if e.Seq != at.Seq+1 {
					return fmt.Errorf("event %d comes behind %d", e.Seq, at.Seq)
				}
				at.Seq = e.Seq
				seen[e.Seq] = string(e.Body)
			}
			if reader.Position() != at {
				return fmt.Errorf("the reader is at %v, and was read up to %v", reader.Position(), at)
			}
		}
		reader.Close()
		if _, err := reader.Next(context.Background()); !errors.Is(err, ledger.ErrClosed) {
			return fmt.Errorf("a closed reader says %w", err)
		}
	}
	return nil
}

// TestFollow_withoutCursorIsLiveAlone shows what a reader without a cursor gets, and that the large and the
// forgotten cost no order.
func TestFollow_withoutCursorIsLiveAlone(t *testing.T) {
	l := open(t, t.TempDir())
	add(t, l, event("s", 1), event("s", 2))
	reader, err := l.Follow(t.Context(), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	want(t, "window", reader.Window(), ledger.Window{Stream: "s", Oldest: 1, Head: 2})
	// 12 events of 900 KiB are more than is kept in memory or given at once.
	for n := range 12 {
		add(t, l, ledger.Event{Stream: "s", Method: "m", Body: fmt.Appendf(nil, `{"n":%d,"x":%q}`, n, strings.Repeat("x", 900<<10))})
	}
	for next := int64(3); next <= 14; {
		page, err := reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > 5 {
			t.Errorf("%d events of 900 KiB come at once", len(page))
		}
		for _, e := range page {
			want(t, "seq", e.Seq, next)
			next++
		}
	}
	add(t, l, event("s", 15))
	if err := l.Forget(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	add(t, l, event("s", 16))
	page, err := reader.Next(t.Context()) // whoever follows is told how it ended
	want(t, "goes on", fmt.Sprint(numbers(page), err), "[15 16] <nil>")
	_, err = l.Follow(t.Context(), "s", &ledger.Cursor{Stream: "s", Seq: 14})
	want(t, "nobody else is", errors.Is(err, ledger.ErrExpired), true)
}
