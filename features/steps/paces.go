package steps

import (
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/schedule"
)

// paces says how the host writes: byte by byte or in pieces from now on, or together what comes up to the next
// expectation. A host that reads late looks at nothing that the extension writes before then.
func (w *World) paces(how string) error {
	pace, writes := strings.CutPrefix(how, "writes ")
	switch {
	case !writes:
		w.conv.ReadLate(w.setup.Patience.hook() / 4)
	case schedule.Pace(pace) == schedule.Together:
		w.conv.Gather()
	default:
		w.pace = schedule.Pace(pace)
		w.setPace()
	}
	return nil
}

// setPace tells a conversation that has begun how the host writes.
func (w *World) setPace() {
	if w.conv == nil || w.pace == schedule.ByFrame {
		return
	}
	// A frame is cut by what it says: when the extension asks something must not change how the rest is cut.
	seed, pace := w.setup.Seed, w.pace
	w.conv.Cut(func(b []byte) [][]byte { return schedule.New(seed, w.name+string(b)).Cut(pace, b) })
}

// Bounds of a mix.
const (
	fewestMixed = 4
	mostMixed   = 9
)

// makesMix makes some calls and cancels some of them: how many, which and when is in the schedule. A slow call is
// cancelled in any case, and a notification that concerns nobody comes between.
func (w *World) makesMix() error {
	sample, err := w.sample()
	if err != nil {
		return err
	}
	if err := w.room(1); err != nil {
		return err
	}
	n := min(fewestMixed+w.schedule.Below(mostMixed-fewestMixed+1), w.concurrency()-len(w.running))
	var strands [][][]byte
	for range n {
		strands = append(strands, w.mixed(sample))
	}
	strands = append(strands, [][]byte{w.setup.Dialect.Notification("conform/notice", dialect.Object{})})
	for _, frame := range schedule.Weave(w.schedule, strands...) {
		if err := unlessOmitted(w.send(frame)); err != nil {
			return err
		}
	}
	return nil
}

// mixed is one call of a mix, with its cancellation if it gets one.
func (w *World) mixed(sample profile.Call) [][]byte {
	d := w.setup.Dialect
	call, cancelled := sample, w.schedule.Below(2) == 0 && d.API() != dialect.FrozenAPI
	if slow, err := w.slow(); err == nil && cancelled && w.schedule.Below(2) == 0 {
		call = slow
	}
	id := w.nextID()
	w.running = append(w.running, id)
	frames := [][]byte{d.Request(id, dialect.ToolCall, w.toolCall(call.Tool, call.Arguments))}
	if cancelled {
		frames = append(frames, d.Notification(dialect.Cancel, d.Cancel(id, "user")))
	}
	return frames
}
