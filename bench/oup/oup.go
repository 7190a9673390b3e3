// Package oup measures what a client of octet serve waits for: the ledger of events and what is told of it.
package oup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/bench/sample"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

const (
	row     = "oup"
	stored  = 100_000
	session = "_main:local:bench#build"
	turn    = "7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a01"
)

// Runs are the subjects.
func Runs() []sample.Run {
	const few = 5
	return []sample.Run{
		{Row: row, Subject: "replay", Rounds: few, Do: replay},
		{Row: row, Subject: "append", Rounds: few, Do: appends},
		{Row: row, Subject: "fast reader", Rounds: few, Do: readers},
	}
}

// said begins a turn, and delta is what a model says in it: the most frequent event.
func said() ledger.Event {
	return event.Envelope{Thread: turn, Turn: turn, Payload: oupwire.UserMessagePayload{Data: oupwire.UserMessageData{Text: "go"}}}.
		Event(session, event.Turn, ledger.Begins)
}

func delta() ledger.Event {
	return event.Envelope{Thread: turn, Turn: turn, Payload: oupwire.AssistantDeltaPayload{
		Data: oupwire.AssistantDeltaData{Text: strings.Repeat("word ", 4), AssistantSegmentID: turn + ".1"},
	}}.Event(session, event.Turn, ledger.Within)
}

// opened is a ledger in a directory of its own.
func opened(ctx context.Context) (l *ledger.Ledger, end func() error, err error) {
	dir, err := os.MkdirTemp("", "octet-bench-")
	if err != nil {
		return nil, nil, err
	}
	if l, err = ledger.Open(ctx, dir); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return l, func() error { return errors.Join(l.Close(), os.RemoveAll(dir)) }, nil
}

// filled is opened with so many events.
func filled(ctx context.Context, count int) (l *ledger.Ledger, end func() error, err error) {
	if l, end, err = opened(ctx); err != nil {
		return nil, nil, err
	}
	page := []ledger.Event{said()}
	for range count - 1 {
		page = append(page, delta())
		if len(page) == 1000 {
			_, err = l.Append(ctx, page...)
			page = page[:0]
		}
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
	}
	if len(page) > 0 {
		_, err = l.Append(ctx, page...)
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return l, end, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// replay reads every event from the ledger, then has a client be told all of them.
func replay(ctx context.Context, _ time.Duration, emit func(sample.Sample)) (err error) {
	l, end, err := filled(ctx, stored)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	began, count := time.Now(), 0
	if _, err := l.Replay(ctx, session, nil, func(ledger.Stored) error { count++; return nil }); err != nil {
		return err
	}
	if count != stored {
		return fmt.Errorf("%d of %d events came back", count, stored)
	}
	emit(sample.Sample{Case: "100,000 events from the ledger", Metric: sample.Wall, Value: millis(time.Since(began)), Count: count})

	s := &server{ledger: l}
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	began = time.Now()
	if err := c.open(0); err != nil {
		return err
	}
	told, err := c.readOpened()
	if err != nil {
		return err
	}
	if told < stored {
		return fmt.Errorf("the client was told %d of %d events", told, stored)
	}
	emit(sample.Sample{Case: "100,000 events to a client", Metric: sample.Wall, Value: millis(time.Since(began)), Count: told})
	return nil
}

// appends has so many writers append one event each at a time.
func appends(ctx context.Context, lasts time.Duration, emit func(sample.Sample)) error {
	counts := []int{1, 16, 64}
	for _, writers := range counts {
		l, end, err := opened(ctx)
		if err != nil {
			return err
		}
		count, took, err := write(ctx, l, writers, lasts/time.Duration(len(counts)))
		if err := errors.Join(err, end()); err != nil {
			return err
		}
		shape := fmt.Sprint(writers, " writers")
		if writers == 1 {
			shape = "1 writer"
		}
		emit(sample.Sample{Case: shape, Metric: sample.Rate, Value: float64(count) / took.Seconds(), Count: count})
	}
	return nil
}

func write(ctx context.Context, l *ledger.Ledger, writers int, lasts time.Duration) (int, time.Duration, error) {
	if _, err := l.Append(ctx, said()); err != nil {
		return 0, 0, err
	}
	var count atomic.Int64
	var tasks sync.WaitGroup
	failed := make([]error, writers)
	began := time.Now()
	for n := range writers {
		tasks.Go(func() {
			for time.Since(began) < lasts {
				if _, err := l.Append(ctx, delta()); err != nil {
					failed[n] = err
					return
				}
				count.Add(1)
			}
		})
	}
	tasks.Wait()
	return int(count.Load()), time.Since(began), errors.Join(failed...)
}

// readers times a client that reads all it can, alone and beside one that opens the same session and reads nothing.
func readers(ctx context.Context, _ time.Duration, emit func(sample.Sample)) (err error) {
	const count = stored / 5
	l, end, err := filled(ctx, count)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	s := &server{ledger: l}
	if err := s.time("alone", count, emit); err != nil {
		return err
	}
	stalled, err := s.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stalled.close()) }()
	if err := stalled.open(0); err != nil {
		return err
	}
	return s.time("beside a stalled one", count, emit)
}

// time has a client be told everything, three times, and takes the median.
func (s *server) time(shape string, count int, emit func(sample.Sample)) error {
	const times = 3
	var took [times]time.Duration
	for n := range times {
		c, err := s.connect()
		if err != nil {
			return err
		}
		began := time.Now()
		err = c.open(0)
		told := 0
		if err == nil {
			told, err = c.readOpened()
		}
		took[n] = time.Since(began)
		if err := errors.Join(err, c.close()); err != nil {
			return err
		}
		if told < count {
			return fmt.Errorf("%s: the client was told %d of %d events", shape, told, count)
		}
	}
	slices.Sort(took[:])
	emit(sample.Sample{Case: shape, Metric: sample.Wall, Value: millis(took[1]), Count: times})
	return nil
}
