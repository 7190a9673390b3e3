// Package codec measures the canonical check of a frame: ours beside parsing, writing again and comparing.
package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/octet-dev/octet/bench/sample"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/runtime/canonical"
)

// Row is the row of the report.
const Row = "canonical"

// Ours and Copy are the subjects that budgets speak of.
const (
	Ours = "octet"
	Copy = "memory copy"
)

// subject is one way to find out whether a text is canonical.
type subject struct {
	name  string
	check func(text, spare []byte) bool // spare has room for the text
}

var subjects = []subject{
	{Ours, func(text, _ []byte) bool { return canonical.Check(text) == nil }},
	{"encoding/json", reencode},
	{"jsontext", func(text, spare []byte) bool {
		value := jsontext.Value(append(spare[:0], text...))
		return value.Canonicalize() == nil && bytes.Equal(value, text)
	}},
	{"gowebpki/jcs", func(text, _ []byte) bool {
		out, err := jcs.Transform(text)
		return err == nil && bytes.Equal(out, text)
	}},
	{Copy, func(text, spare []byte) bool { return copy(spare[:len(text)], text) == len(text) }},
}

func reencode(text, _ []byte) bool {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return false
	}
	out, err := json.Marshal(value)
	return err == nil && bytes.Equal(out, text)
}

// Sizes are the cases, from the smallest frame to the largest legal one.
var Sizes = []int{64, 1 << 10, 16 << 10, 256 << 10, 1 << 20}

// CaseOf is the case of a size, as bench/SAMPLES.md spells it.
func CaseOf(size int) string {
	switch {
	case size >= 1<<20:
		return fmt.Sprint(size>>20, " MiB")
	case size >= 1<<10:
		return fmt.Sprint(size>>10, " KiB")
	}
	return fmt.Sprint(size, " B")
}

// Frame is a canonical tool call of about so many bytes: rows of numbers, words and texts with escapes.
func Frame(size int) []byte {
	var b bytes.Buffer
	head := `{"id":7,"jsonrpc":"2.0","method":` + string(canonical.AppendString(nil, canonicalwire.MethodToolCall)) + `,"params":{"a":[`
	const tail = `]}}`
	b.WriteString(head)
	for n := 0; ; n++ {
		row := fmt.Sprintf(`{"line":%d,"ok":true,"path":"dir/file%d.go","text":"a line of text with \"quotes\" and ø"}`, n, n)
		if n > 0 {
			row = "," + row
		}
		if b.Len()+len(row)+len(tail) > size {
			break
		}
		b.WriteString(row)
	}
	b.WriteString(tail)
	return b.Bytes()
}

// Runs are the subjects.
func Runs() []sample.Run {
	var runs []sample.Run
	for _, s := range subjects {
		runs = append(runs, sample.Run{Row: Row, Subject: s.name, Do: s.run})
	}
	return runs
}

func (s subject) run(_ context.Context, lasts time.Duration, emit func(sample.Sample)) error {
	each := lasts / time.Duration(len(Sizes))
	for _, size := range Sizes {
		text := Frame(size)
		spare := make([]byte, 2*len(text))
		if !s.check(text, spare) {
			return errors.New("a canonical frame of " + CaseOf(size) + " is refused")
		}
		s.loop(text, spare, each/4)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		count, batch := s.loop(text, spare, each*3/4)
		runtime.ReadMemStats(&after)
		emit(sample.Sample{
			Case: CaseOf(size), Metric: sample.Throughput, Count: count,
			Value: float64(batchOf(text)*len(text)) / batch.Seconds() / 1e6,
		})
		emit(sample.Sample{
			Case: CaseOf(size), Metric: sample.Allocs, Count: count,
			Value: float64((after.Mallocs-before.Mallocs)*10/uint64(count)) / 10,
		})
	}
	return nil
}

// batchOf is how many checks are timed together, because one of a small frame is faster than a look at the clock.
func batchOf(text []byte) int { return max(1, (64<<10)/len(text)) }

// loop checks for a time, and returns how often and the median time of a batch: whoever takes the processor away for a
// while disturbs a few of them.
func (s subject) loop(text, spare []byte, lasts time.Duration) (count int, median time.Duration) {
	batch := batchOf(text)
	took := make([]time.Duration, 0, 4096)
	last := time.Now()
	for late := last.Add(lasts); last.Before(late) || count == 0; {
		for range batch {
			s.check(text, spare)
		}
		count += batch
		now := time.Now()
		took = append(took, now.Sub(last))
		last = now
	}
	slices.Sort(took)
	return count, took[len(took)/2]
}
