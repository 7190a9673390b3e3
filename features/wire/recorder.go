// Package wire keeps what passed between the referee and its subject: every frame of both lanes with
// its time, within a bound, so that a failure can be shown and a subject that floods cannot fill memory.
package wire

import (
	"sync"
	"time"
)

// Lane is the direction of a frame.
type Lane uint8

// The lanes.
const (
	ToSubject   Lane = iota // written by the referee, acting as host
	FromSubject             // written by the subject
)

// String is the lane's name in reports.
func (l Lane) String() string {
	if l == ToSubject {
		return "host"
	}
	return "extension"
}

// Frame is one line of one lane.
type Frame struct {
	Index int           // position in the recording, both lanes counted together, from 0
	Lane  Lane          // who wrote it
	At    time.Duration // since the recording began
	Bytes []byte        // the payload without the line feed; cut to the recorder's bound
	Size  int           // payload bytes on the wire; more than len(Bytes) when cut
	Ended bool          // a line feed ended it; false for bytes that EOF left behind
	// Origin is what a scenario calls a frame of the host, the same in every run of it; empty for all others.
	Origin string
}

// Cut reports whether only the beginning of the payload was kept.
func (f Frame) Cut() bool { return f.Size > len(f.Bytes) }

// Bounds of a Recorder.
const (
	maxFrames     = 4096     // frames kept; later ones are counted only
	maxTotalBytes = 16 << 20 // payload bytes kept over all frames
	excerptBytes  = 512      // kept of a frame once the total is used up, and of a piece of a line behind the first
	pieceBytes    = 1 << 20  // what has so many bytes and no line feed is a piece
)

// Recorder stores frames in the order in which they were seen. It is safe for concurrent use.
type Recorder struct {
	now   func() time.Time
	start time.Time

	mu      sync.Mutex // guards the fields below
	frames  []Frame
	bytes   int
	pieces  int // of lines that were too long to be read at once
	dropped int
}

// NewRecorder starts a recording. A nil clock means time.Now.
func NewRecorder(now func() time.Time) *Recorder {
	if now == nil {
		now = time.Now
	}
	return &Recorder{now: now, start: now()}
}

// Add records a frame and returns it whole; of what is stored only the beginning may be kept. The payload
// becomes the recorder's.
func (r *Recorder) Add(lane Lane, payload []byte, ended bool) Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := Frame{
		Index: len(r.frames) + r.dropped,
		Lane:  lane,
		At:    r.now().Sub(r.start),
		Bytes: payload,
		Size:  len(payload),
		Ended: ended,
	}
	if len(r.frames) >= maxFrames {
		r.dropped++
		return f
	}
	if !ended && len(payload) > pieceBytes {
		r.pieces++
	}
	kept := f
	// The first piece of a line without end shows all there is to see.
	further := !ended && len(payload) > pieceBytes && r.pieces > 1
	if (further || r.bytes+len(payload) > maxTotalBytes) && len(payload) > excerptBytes {
		kept.Bytes = append([]byte(nil), payload[:excerptBytes]...)
	}
	r.bytes += len(kept.Bytes)
	r.frames = append(r.frames, kept)
	return f
}

// Len is how many frames were seen.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.frames) + r.dropped
}

// Frames returns what is kept, oldest first, and how many later frames were only counted.
func (r *Recorder) Frames() (kept []Frame, dropped int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Frame(nil), r.frames...), r.dropped
}
