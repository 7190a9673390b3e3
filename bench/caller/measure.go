//go:build linux

package main

import (
	"bytes"
	"fmt"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"github.com/octet-dev/octet/bench/sample"
)

// load is one case of a call: how long its text is and how many calls wait for an answer at one time.
type load struct {
	name     string
	size     int
	inFlight int
}

var loads = []load{
	{"100 B, 1 in flight", 100, 1},
	{"10 KiB, 1 in flight", 10 << 10, 1},
	{"500 KiB, 1 in flight", 500 << 10, 1},
	{"100 B, 64 in flight", 100, 64},
	{"10 KiB, 64 in flight", 10 << 10, 64},
}

// warmUp is the part of the time of a case that is not counted.
const warmUp = 0.25

// conversation is the calls of one case with one program.
type conversation struct {
	subject *subject
	request request
	next    int
	length  int // of every answer
}

func newConversation(s *subject, p plan, size int) (*conversation, error) {
	c := &conversation{subject: s, request: p.request(size), next: firstID}
	if err := s.write(c.request.number(c.take())); err != nil {
		return nil, err
	}
	answer, err := s.read()
	if err != nil {
		return nil, err
	}
	text := p.request(size).frame
	if sent := bytes.Repeat([]byte("octet "), size/6); !bytes.Contains(answer, sent) || bytes.Contains(answer, []byte(`"error":{`)) {
		return nil, fmt.Errorf("%.200q does not come back: the answer is %.300q", text, answer)
	}
	c.length = len(answer)
	return c, nil
}

func (c *conversation) take() int {
	c.next++
	return c.next
}

func (c *conversation) answer() error {
	answer, err := c.subject.read()
	if err == nil && len(answer) != c.length {
		err = fmt.Errorf("an answer has %d bytes and the first had %d: %.300q", len(answer), c.length, answer)
	}
	return err
}

// alone makes calls one after the other, and returns how long each took.
func (c *conversation) alone(during time.Duration) ([]time.Duration, error) {
	var took []time.Duration
	for end := time.Now().Add(during); ; {
		frame := c.request.number(c.take())
		sent := time.Now()
		if sent.After(end) && len(took) >= 3 {
			return took, nil
		}
		if err := c.subject.write(frame); err != nil {
			return nil, err
		}
		if err := c.answer(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(sent))
	}
}

// crowded keeps a number of calls in flight, and returns how many were answered. Another thread writes: a program may
// stop reading until its answers are taken.
func (c *conversation) crowded(during time.Duration, inFlight int) (int, error) {
	room := make(chan bool, inFlight) // true for one call more, false for none
	wrote := make(chan error, 1)
	go func() {
		for more := range room {
			if !more {
				break
			}
			if err := c.subject.write(c.request.number(c.take())); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	for range inFlight {
		room <- true
	}
	answered := 0
	for end := time.Now().Add(during); time.Now().Before(end); answered++ {
		if err := c.answer(); err != nil {
			return 0, err
		}
		room <- true
	}
	for range inFlight { // those that are still out
		if err := c.answer(); err != nil {
			return 0, err
		}
	}
	room <- false
	return answered + inFlight, <-wrote
}

func calls(p plan) ([]sample.Sample, error) {
	s, err := start(p)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.open(p); err != nil {
		return nil, err
	}
	if err := s.warm(p); err != nil {
		return nil, err
	}
	var samples []sample.Sample
	for _, load := range loads {
		c, err := newConversation(s, p, load.size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", load.name, err)
		}
		found, err := c.measure(load, (p.duration()-p.warmUp())/time.Duration(len(loads)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", load.name, err)
		}
		for _, one := range found {
			one.Row, one.Subject, one.Case = p.Row, p.Subject, load.name
			samples = append(samples, one)
		}
	}
	return samples, nil
}

// warm makes calls that nobody counts: a compiler at run time is done with what it will compile when the first case begins.
func (s *subject) warm(p plan) error {
	c, err := newConversation(s, p, loads[0].size)
	if err != nil {
		return err
	}
	if _, err := c.alone(p.warmUp() / 2); err != nil {
		return err
	}
	_, err = c.crowded(p.warmUp()/2, 64)
	return err
}

func (c *conversation) measure(load load, during time.Duration) ([]sample.Sample, error) {
	warm := time.Duration(float64(during) * warmUp)
	run := func(during time.Duration) ([]time.Duration, int, error) {
		if load.inFlight > 1 {
			count, err := c.crowded(during, load.inFlight)
			return nil, count, err
		}
		took, err := c.alone(during)
		return took, len(took), err
	}
	if _, _, err := run(warm); err != nil {
		return nil, err
	}
	busy, began := c.busy(), time.Now()
	took, count, err := run(during - warm)
	if err != nil {
		return nil, err
	}
	elapsed, cost := time.Since(began), c.busy()-busy
	samples := []sample.Sample{{Metric: sample.CPU, Value: microseconds(cost) / float64(count), Count: count}}
	if load.inFlight > 1 {
		return append(samples, sample.Sample{Metric: sample.Rate, Value: float64(count) / elapsed.Seconds(), Count: count}), nil
	}
	slices.Sort(took)
	return append(
		samples,
		sample.Sample{Metric: sample.P50, Value: microseconds(took[count/2]), Count: count},
		sample.Sample{Metric: sample.P99, Value: microseconds(took[count*99/100]), Count: count},
	), nil
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// busy returns the processor time of both processes, those of threads that have ended included.
func (c *conversation) busy() time.Duration {
	return processorTime(0) + processorTime(c.subject.command.Process.Pid)
}

// processorTime asks for the clock that Linux keeps for every process; 0 is this one.
func processorTime(pid int) time.Duration {
	const ofProcess = 2
	var found syscall.Timespec
	clock := uintptr(int32(^pid<<3 | ofProcess))
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&found)), 0); errno != 0 {
		panic(fmt.Sprintf("the clock of process %d cannot be read: %v", pid, errno))
	}
	return time.Duration(found.Nano())
}

// starts runs the program again and again, to its end or to its first answer.
func starts(p plan) ([]sample.Sample, error) {
	var took []time.Duration
	for end := time.Now().Add(p.duration()); len(took) < 3 || time.Now().Before(end); {
		began := time.Now()
		if err := once(p); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	wall := float64(took[len(took)/2].Microseconds()) / 1000
	return []sample.Sample{{Row: p.Row, Subject: p.Subject, Case: p.Case, Metric: sample.Wall, Value: wall, Count: len(took)}}, nil
}

func once(p plan) error {
	s, err := start(p)
	if err != nil {
		return err
	}
	defer s.close()
	if p.Call == "" {
		return s.command.Wait()
	}
	if err := s.open(p); err != nil {
		return err
	}
	_, err = newConversation(s, p, loads[0].size)
	return err
}
