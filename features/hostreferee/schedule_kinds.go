package hostreferee

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/schedule"
	"github.com/octet-dev/octet/generated/featurewire"
)

// kind is a schedule: what a seed decides of a conversation.
type kind struct {
	name string
	make func(s *schedule.Schedule, d dialect.Dialect) plot
}

// schedules are those that scenarios name.
var schedules = []kind{
	{"one byte per write", paced(schedule.ByByte)},
	{"writes of any length", paced(schedule.InPieces)},
	{"many frames in one write", allTogether},
	{"many frames per write", manyFrames},
	{"requests behind the answer to initialize", behindInitialize},
	{"a request in front of the answer to initialize", beforeInitialize},
	{"an answer as the cancellation comes", answeredCancel},
	{"an answer in place of the cancellation's", insteadOfCancel},
	{"a second answer behind that to the cancellation", secondAnswer},
	{"a request and its cancellation", cancelledRequests},
	{"a request and the answer of its parent", askedAtTheEnd},
	{"a request behind the answer of its parent", askedBehindTheEnd},
	{"an answer and the exit", answerAndExit},
	{"an exit with the call in flight", exitInFlight},
	{"half an answer and the exit", halfAnAnswer},
	{"a closed input while it is busy", closedInput},
	{"noise in front of the answer to shutdown", noiseAtShutdown},
	{"an end of the output in place of the answer to shutdown", closedAtShutdown},
	{"a late answer to shutdown", lateShutdown},
}

// scheduleOf makes the script of a schedule: one seed, one script.
func scheduleOf(name string, seed int64, d dialect.Dialect) (plot, bool) {
	i := slices.IndexFunc(schedules, func(k kind) bool { return k.name == name })
	if i < 0 {
		return plot{}, false
	}
	s := schedules[i].make(schedule.New(seed, name), d)
	s.API, s.Seed, s.Name = d.API(), seed, name
	return s, true
}

// paces are those that a seed may choose where the pace is not the point.
var paces = []schedule.Pace{schedule.Together, schedule.InPieces, schedule.ByByte}

func anyPace(s *schedule.Schedule) schedule.Pace { return paces[s.Below(len(paces))] }

func paced(p schedule.Pace) func(*schedule.Schedule, dialect.Dialect) plot {
	return func(*schedule.Schedule, dialect.Dialect) plot { return plot{Pace: p} }
}

// asked is a request for a method that no version has.
func asked(d dialect.Dialect, id string) string {
	return string(d.Request(fmt.Sprintf("%q", id), "peer/unknown", dialect.Object{}))
}

// cancelled is a cancellation by the extension.
func cancelled(d dialect.Dialect, id string) string {
	return string(d.Notification(dialect.Cancel, d.Cancel(fmt.Sprintf("%q", id), "user")))
}

// leaving are the moves of an extension that ends once it has been answered.
func leaving(ids ...string) []move {
	var moves []move
	for _, id := range ids {
		moves = append(moves, move{On: fmt.Sprintf("answer %q", id)})
	}
	return append(moves, move{On: dialect.Shutdown, Says: []string{"«ended»"}, Does: actExit + " 0"})
}

// manyFrames says notices, progress and requests, and then the answer.
func manyFrames(s *schedule.Schedule, d dialect.Dialect) plot {
	var notices, progress []string
	if !d.Canonical() {
		for i := range 1 + s.Below(4) {
			notices = append(notices, string(d.Notification(dialect.Notification, dialect.Object{"level": "info", "message": fmt.Sprintf("step %d", i)})))
		}
	}
	if d.Negotiates() {
		for i := range 1 + s.Below(4) {
			event := dialect.Object{"type": "status", "message": "working", "current": i, "total": 9, "unit": "steps"}
			frame := d.Notification(dialect.Progress, dialect.Object{"request_id": "§", "sequence": i + 1, "event": event})
			progress = append(progress, ofTheCall(frame))
		}
	}
	requests := []string{asked(d, "p-1"), asked(d, "p-2"), asked(d, "p-3")}
	says := append(schedule.Weave(s, notices, progress, requests), "«answer»")
	moves := append([]move{{On: dialect.ToolCall, Says: says}}, leaving("p-1", "p-2", "p-3")...)
	return plot{Pace: anyPace(s), Selects: []string{featurewire.FeatureRequestProgress}, Moves: moves}
}

// allTogether says some requests and the answer in one write.
func allTogether(s *schedule.Schedule, d dialect.Dialect) plot {
	var ids, says []string
	for i := range 2 + s.Below(4) {
		ids = append(ids, fmt.Sprintf("p-%d", i+1))
		says = append(says, asked(d, ids[i]))
	}
	moves := append([]move{{On: dialect.ToolCall, Says: append(says, "«answer»")}}, leaving(ids...)...)
	return plot{Pace: schedule.Together, Moves: moves}
}

// behindInitialize says more than the answer to initialize in one write.
func behindInitialize(s *schedule.Schedule, d dialect.Dialect) plot {
	says := []string{"«initialized»", asked(d, "p-1")}
	for i := range s.Below(3) {
		says = append(says, cancelled(d, fmt.Sprintf("none-%d", i)))
	}
	says = append(says, asked(d, "p-2"))
	moves := append([]move{{On: dialect.Initialize, Says: says}, {On: dialect.ToolCall, Says: []string{"«answer»"}}}, leaving("p-1", "p-2")...)
	return plot{Pace: anyPace(s), Moves: moves}
}

func beforeInitialize(s *schedule.Schedule, d dialect.Dialect) plot {
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.Initialize, Says: []string{asked(d, "p-1"), "«initialized»"}}}}
}

// ofTheCall names the running call where a frame has a place for it.
func ofTheCall(frame []byte) string {
	return strings.Replace(string(frame), `"§"`, "«id tool/call»", 1)
}

// refusal is the answer to a call that was cancelled.
func refusal(d dialect.Dialect) string {
	frame := d.Refuse(`"§"`, "request_cancelled", dialect.ToolCall)
	return ofTheCall(frame)
}

// answeredCancel answers while the host is interrupted: at once, or when the cancellation has come.
func answeredCancel(s *schedule.Schedule, d dialect.Dialect) plot {
	says := [][]string{{"«answer»"}, {refusal(d)}}[s.Below(2)]
	if s.Below(2) == 0 {
		return plot{Pace: anyPace(s), Moves: []move{{On: dialect.ToolCall, Says: says}}}
	}
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.Cancel, Says: says}}}
}

// insteadOfCancel answers a cancellation with what was asked for.
func insteadOfCancel(s *schedule.Schedule, d dialect.Dialect) plot {
	says := []string{"«answer»"}
	if s.Below(2) == 0 {
		says = append(says, asked(d, "p-1"))
	}
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.Cancel, Says: says}}}
}

// secondAnswer settles a cancelled call twice.
func secondAnswer(s *schedule.Schedule, d dialect.Dialect) plot {
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.Cancel, Says: schedule.Weave(s, []string{refusal(d)}, []string{"«answer»"})}}}
}

// cancelledRequests cancels requests in the write that asks them, and others that nobody made.
func cancelledRequests(s *schedule.Schedule, d dialect.Dialect) plot {
	says := schedule.Weave(s,
		[]string{asked(d, "p-1"), cancelled(d, "p-1")}, []string{asked(d, "p-2")}, []string{cancelled(d, "none-1"), cancelled(d, "none-2")},
		[]string{asked(d, "p-3"), cancelled(d, "p-3"), cancelled(d, "p-3")},
	)
	moves := append([]move{{On: dialect.ToolCall, Says: append(says, "«answer»")}}, leaving("p-1", "p-2", "p-3")...)
	return plot{Pace: anyPace(s), Moves: moves}
}

// question asks the person something in the name of the call.
func question(d dialect.Dialect, id string) string {
	frame := d.Request(fmt.Sprintf("%q", id), featurewire.MethodConfirmationRequest, dialect.Object{"parent_request_id": "§", "prompt": "Go on?", "destructive": false, "default": false})
	return ofTheCall(frame)
}

func askedAtTheEnd(s *schedule.Schedule, d dialect.Dialect) plot {
	return plot{Pace: anyPace(s), Moves: append([]move{{On: dialect.ToolCall, Says: []string{question(d, "p-1"), "«answer»"}}}, leaving()...)}
}

func askedBehindTheEnd(s *schedule.Schedule, d dialect.Dialect) plot {
	return plot{Pace: schedule.Together, Moves: append([]move{{On: dialect.ToolCall, Says: []string{"«answer»", question(d, "p-1")}}}, leaving("p-1")...)}
}

func answerAndExit(s *schedule.Schedule, _ dialect.Dialect) plot {
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.ToolCall, Says: []string{"«answer»"}, Does: fmt.Sprintf("%s %d", actExit, s.Below(2))}}}
}

// exitInFlight ends between two frames.
func exitInFlight(s *schedule.Schedule, d dialect.Dialect) plot {
	m := move{On: dialect.ToolCall, Does: fmt.Sprintf("%s %d", actExit, s.Below(2))}
	if s.Below(2) == 0 {
		m.Says = []string{asked(d, "p-1")}
	}
	return plot{Pace: anyPace(s), Moves: []move{m}}
}

// halfAnAnswer ends in the middle of a frame.
func halfAnAnswer(s *schedule.Schedule, _ dialect.Dialect) plot {
	half := []string{`{"id":«id tool/call»,"jsonrpc":"2.0","res↩`, `{↩`, "«answer»↩"}[s.Below(3)]
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.ToolCall, Says: []string{half}, Does: fmt.Sprintf("%s %d", actExit, s.Below(2))}}}
}

func closedInput(s *schedule.Schedule, _ dialect.Dialect) plot {
	moves := []move{{On: dialect.ToolCall, Does: actCloseInput}, {Says: []string{"«answer»"}}}
	if s.Below(2) == 0 {
		moves = []move{{On: dialect.ToolCall, Says: []string{"«answer»"}, Does: actCloseInput}}
	}
	return plot{Pace: anyPace(s), Moves: moves}
}

// noiseAtShutdown says what nobody has to look at any more, and then answers shutdown.
func noiseAtShutdown(s *schedule.Schedule, d dialect.Dialect) plot {
	noise := schedule.Weave(s, []string{asked(d, "p-2"), asked(d, "p-3")}, []string{cancelled(d, "none-1")})
	says := append([]string{asked(d, "p-1")}, noise[:s.Below(len(noise))]...)
	return plot{Pace: anyPace(s), Moves: []move{{On: dialect.Shutdown, Says: append(says, "«ended»")}, {On: endOfInput, Does: actExit + " 0"}}}
}

func closedAtShutdown(s *schedule.Schedule, _ dialect.Dialect) plot {
	m := move{On: dialect.Shutdown, Does: actExit + " 0"}
	if s.Below(2) == 0 {
		m.Does = actCloseOutput
	}
	return plot{Pace: anyPace(s), Moves: []move{m, {On: endOfInput, Does: actExit + " 0"}}}
}

// lateShutdown answers shutdown when its input ends, or not at all.
func lateShutdown(s *schedule.Schedule, _ dialect.Dialect) plot {
	moves := []move{{On: dialect.Shutdown}, {On: endOfInput, Says: []string{"«ended»"}, Does: actExit + " 0"}}
	if s.Below(2) == 0 {
		moves = []move{{On: dialect.Shutdown, Does: actStall}}
	}
	return plot{Pace: anyPace(s), Moves: moves}
}
