package agent

import (
	"context"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// abandonAfter is how long a cancelled run waits for a tool that does not stop. Its result says so.
const abandonAfter = 10 * time.Second

// Results of calls that were stopped, or never ran.
const (
	neverRan   = "The call was cancelled before it ran. It had no effect."
	wasStopped = "The call was cancelled while it ran. It may have had an effect; look before you repeat it."
	notStopped = "The call was cancelled and did not stop in time. It may have had an effect, or may still have one."
	cutCall    = "The answer was cut at the output bound, so the arguments of this call may be incomplete. It was not run; make it again, shorter."
)

// work is one call of an answer.
type work struct {
	call     conversation.Part
	parallel bool
	started  bool
	done     bool
	result   tool.Result
}

// batch runs the calls of one answer. It belongs to the goroutine of the run, which alone emits; calls run
// in goroutines of their own and hand everything over.
type batch struct {
	*run
	offer    *offer
	works    []*work
	ctx      context.Context
	cancel   context.CancelFunc
	news     chan Event
	finished chan finish
	left     chan struct{} // closed when nobody listens any more
	asking   chan struct{} // holds one value: the right to ask somebody
	running  int
	stored   int // results that are stored: a prefix of the calls
	entries  []session.EntryID
	failure  error // of the store
}

type finish struct {
	work   *work
	result tool.Result
}

// runCalls runs the calls of an answer and stores one result for each, in their order. Calls of tools that
// are Parallel overlap with their neighbours; any other call runs alone, after all before it. When the run
// is cancelled, what runs is stopped, what waits never runs, and the results say so.
func (r *run) runCalls(tools *offer, calls []conversation.Part, stop model.StopReason) ([]session.EntryID, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	b := &batch{
		run: r, offer: tools, news: make(chan Event), finished: make(chan finish), left: make(chan struct{}), asking: make(chan struct{}, 1),
	}
	b.ctx, b.cancel = context.WithCancel(r.ctx)
	defer b.cancel()
	for _, call := range calls {
		b.works = append(b.works, &work{call: call, parallel: b.mayOverlap(call)})
	}
	if stop == model.StopLength {
		b.skip(cutCall, ToolFailed)
	}
	b.loop()
	b.skip(neverRan, ToolCancelled) // what has not started when the store failed
	close(b.left)
	r.calls += len(calls)
	return b.entries, b.failure
}

// loop goes on until every call has its result.
func (b *batch) loop() {
	over := b.ctx.Done()
	var abandon <-chan time.Time
	warm := b.warmDue()
	for b.advance(); b.stored < len(b.works) && (b.failure == nil || b.running > 0); b.advance() {
		select {
		case e := <-b.news:
			b.Emit(e)
		case f := <-b.finished:
			b.running--
			f.work.done, f.work.result = true, f.result
		case <-over:
			over, abandon = nil, b.Clock.After(abandonAfter)
			b.skip(neverRan, ToolCancelled)
		case <-abandon:
			b.abandon()
		case <-warm:
			b.warm()
			warm = b.warmDue()
		}
	}
}

// advance stores what is finished and starts what may start.
func (b *batch) advance() {
	if err := b.store(); err != nil && b.failure == nil {
		b.failure = err
		b.cancel()
	}
	if b.ctx.Err() != nil {
		return
	}
	alone := false // a call that tolerates no other runs
	for _, w := range b.works {
		switch {
		case w.done:
		case w.started:
			alone = alone || !w.parallel
		case alone || b.running > 0 && !w.parallel:
			return
		default:
			b.start(w)
			alone = !w.parallel
		}
	}
}

func (b *batch) start(w *work) {
	w.started = true
	b.running++
	go func() {
		d := &dispatch{batch: b, direct: true}
		result := d.call(b.ctx, call{id: w.call.CallID, name: w.call.Name, arguments: w.call.Arguments})
		select {
		case b.finished <- finish{w, result}:
		case <-b.left:
		}
	}()
}

// post hands an event to the goroutine of the run.
func (b *batch) post(e Event) {
	select {
	case b.news <- e:
	case <-b.left:
	}
}

// skip gives a result to every call that has not started.
func (b *batch) skip(text string, status ToolStatus) {
	for _, w := range b.works {
		if w.started {
			continue
		}
		w.started, w.done, w.result = true, true, tool.Failed(text)
		b.Emit(finishedEvent(b.at(), call{id: w.call.CallID, name: w.call.Name}, "", status, w.result, 0))
	}
}

// abandon gives up on calls that do not stop. Whatever they still hand over is dropped.
func (b *batch) abandon() {
	for _, w := range b.works {
		if w.done || !w.started {
			continue
		}
		b.running--
		w.done, w.result = true, tool.Failed(notStopped)
		b.Emit(finishedEvent(b.at(), call{id: w.call.CallID, name: w.call.Name}, "", ToolCancelled, w.result, abandonAfter))
	}
}

// store writes the results that are there, up to the first that is not, and tells of them.
func (b *batch) store() error {
	if b.failure != nil {
		return nil
	}
	var entries []session.Entry
	var said []conversation.Message
	for _, w := range b.works[b.stored:] {
		if !w.done {
			break
		}
		m := conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{w.part()}}
		said = append(said, m)
		entries = append(entries, session.Entry{Value: session.Message{Message: m, Run: b.id}})
	}
	if entries == nil {
		return nil
	}
	receipt, err := b.commit(session.Batch{Entries: entries})
	if err != nil {
		return err
	}
	for i, entry := range receipt.Entries {
		b.Emit(Message{At: b.at(), Entry: entry, Message: said[i]})
	}
	b.stored += len(entries)
	b.entries = append(b.entries, receipt.Entries...)
	return nil
}

// part is the result as the conversation keeps it.
func (w *work) part() conversation.Part {
	return conversation.Part{
		Kind: conversation.ToolResult, CallID: w.call.CallID, Name: w.call.Name,
		Content: w.result.Content, IsError: w.result.IsError, Details: w.result.Details,
	}
}

// mayOverlap reports whether a call tolerates others beside it: what its tool says, or the tool that
// run_tool would run.
func (b *batch) mayOverlap(c conversation.Part) bool {
	t := b.offer.direct(c.Name)
	if t != nil && c.Name == runToolName && b.offer.isMeta(c.Name) {
		name, _, err := runArguments(c.Arguments)
		if err != nil {
			return true // it fails at once
		}
		t = b.offer.direct(name)
	}
	return t == nil || t.Definition().Parallel
}
