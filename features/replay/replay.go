// Package replay plays the host of a transcript to a fresh subject: it sends what the host sent, each frame
// once the subject has done what it had done by then, and judges what comes.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/wire"
)

// Options say what is played to whom. All are required.
type Options struct {
	Starter subject.Starter
	Frames  []wire.Frame // both lanes
	// Wait is how long each frame of the subject is waited for.
	Wait time.Duration
}

// Result is what came of it.
type Result struct {
	Frames  []wire.Frame
	Dropped int // frames that were counted and not kept
	Found   []tap.Finding
	// Missing are the frames of the transcript that the subject did not repeat: what it said there and not
	// here.
	Missing []wire.Frame
	Ended   subject.Ended
	Stderr  string
}

// Run plays the transcript once. The error says that the subject could not be started or does not read.
func Run(ctx context.Context, o Options) (*Result, error) {
	run, err := subject.Bounded(ctx, o.Starter).Start(subject.Start{})
	if err != nil {
		return nil, err
	}
	judge := &observer{}
	rec := wire.NewRecorder(nil)
	p := &player{
		conv: subject.Converse(run, rec, judge, func(subject.Message) [][]byte { return nil }),
		ids:  map[string]json.RawMessage{}, wait: o.Wait,
	}
	err = p.play(ctx, o.Frames)
	r := &Result{Missing: p.missing, Ended: p.conv.Close(), Stderr: run.Stderr()}
	r.Frames, r.Dropped = rec.Frames()
	r.Found = judge.findings()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, err
}

// observer judges as a tap does, for a conversation that is ours.
type observer struct {
	mu    sync.Mutex // guards the fields below
	judge tap.Judge
	found []tap.Finding
}

func (o *observer) Observe(f wire.Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.found = append(o.found, o.judge.Observe(f)...)
}

func (o *observer) InputEnded() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judge.InputEnded()
}

func (o *observer) findings() []tap.Finding {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.found
}

type player struct {
	conv    *subject.Conversation
	wait    time.Duration
	ids     map[string]json.RawMessage // ids of the subject's requests: those of the transcript to those of now
	missing []wire.Frame
}

// message is a frame as loosely as it can be read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
}

func (p *player) play(ctx context.Context, frames []wire.Frame) error {
	for _, f := range frames {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f.Lane == wire.FromSubject {
			p.expect(f)
			continue
		}
		if err := p.conv.SendBytes(p.line(f), p.wait); err != nil {
			return fmt.Errorf("frame %d of the transcript: %w", f.Index, err)
		}
	}
	p.conv.CloseInput()
	// One that does not end is ended by Close; that is for the caller to tell.
	_ = p.conv.AwaitEnd(p.wait)
	return nil
}

// expect waits for the frame that the subject wrote in the transcript: the answer under the same id, or the
// next message of the same method. Bytes that are neither are nothing to wait for.
func (p *player) expect(f wire.Frame) {
	var then message
	if json.Unmarshal(f.Bytes, &then) != nil {
		return
	}
	accept := subject.Answers(string(bytes.TrimSpace(then.ID)))
	if then.Method != nil {
		accept = func(m subject.Message) bool { return m.Method == *then.Method && (m.ID == "") == (then.ID == nil) }
	} else if then.ID == nil {
		return
	}
	now, err := p.conv.Await(accept, p.wait)
	if err != nil {
		p.missing = append(p.missing, f)
		return
	}
	if then.Method != nil && then.ID != nil {
		p.ids[string(bytes.TrimSpace(then.ID))] = json.RawMessage(now.ID)
	}
}

// line is a frame of the host as it is sent: an answer goes to the id that the subject uses now.
func (p *player) line(f wire.Frame) []byte {
	line := bytes.Clone(f.Bytes)
	var then message
	if json.Unmarshal(f.Bytes, &then) == nil && then.Method == nil && then.ID != nil {
		old := bytes.TrimSpace(then.ID)
		if id, known := p.ids[string(old)]; known && !bytes.Equal(id, old) {
			line = replaceID(line, old, id)
		}
	}
	if f.Ended {
		line = append(line, '\n')
	}
	return line
}

// replaceID changes the id of an answer and nothing else of its bytes: the first member id of the outer
// object.
func replaceID(line, old, id []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if _, err := decoder.Token(); err != nil {
		return line
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return line
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return line
		}
		if end := int(decoder.InputOffset()); name == "id" && bytes.Equal(value, old) {
			return bytes.Join([][]byte{line[:end-len(value)], id, line[end:]}, nil)
		}
	}
	return line
}
