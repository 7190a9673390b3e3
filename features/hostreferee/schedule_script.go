package hostreferee

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/schedule"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// plot is what a player does, move by move. What the moves do not wait for is answered as a sound extension
// does: initialize, shutdown, hooks, and the calls that come once all moves are made.
type plot struct {
	API string `json:"api"`
	// Selects are the optional features, capabilities and methods that are selected where they are offered.
	Selects []string `json:"selects,omitempty"`
	// Contributes adds to what the manifest declares.
	Contributes map[string]any `json:"contributes,omitempty"`
	// Pace, Seed and Name cut what a move writes.
	Pace  schedule.Pace `json:"pace,omitempty"`
	Seed  int64         `json:"seed,omitempty"`
	Name  string        `json:"name,omitempty"`
	Moves []move        `json:"moves"`

	asked []string // ids that nothing has waited for yet
}

// spelledLater begins a frame that is put into its canonical spelling once nothing stands between guillemets.
const spelledLater = "≈"

// ask adds requests to a move: an id, a method and params. In several of them %d counts from 0.
func (s *plot) ask(m *move, text string, times int) error {
	for i := range times {
		one := text
		if times > 1 {
			one = strings.ReplaceAll(text, "%d", strconv.Itoa(i))
		}
		id, rest, _ := strings.Cut(one, " ")
		method, params, found := strings.Cut(rest, " ")
		if !found {
			return fmt.Errorf("%q has no id, method and params", text)
		}
		m.Says = append(m.Says, fmt.Sprintf(`%s{"id":%q,"jsonrpc":"2.0","method":%q,"params":%s}`, spelledLater, id, method, params))
		s.asked = append(s.asked, id)
	}
	return nil
}

// move waits, writes in one go, and does one thing behind it. Each part is optional.
type move struct {
	// On is a method of the host, "answer ID" with an id of the player as spelled, or "end of input".
	On string `json:"on,omitempty"`
	// Says are frames, see player.expand for what stands between guillemets. A frame that ends in ↩ has no line
	// feed.
	Says []string `json:"says,omitempty"`
	// Does is one of the acts.
	Does string `json:"does,omitempty"`
}

// What a move may do behind what it writes. An exit has a code behind it.
const (
	actExit        = "exit"
	actCloseOutput = "close output"
	actCloseInput  = "close input"
	actStall       = "stall"
	actShout       = "shout" // and how many bytes, on standard error
)

// parsePlot reads moves as features write them: lines that begin with select, contribute, on, say, ask or asks,
// wait for the answers to all that was asked, then, and acts. Frames behind each other are written together.
func parsePlot(text string) (plot, error) {
	var s plot
	fresh := true
	last := func() *move {
		if fresh {
			s.Moves = append(s.Moves, move{})
			fresh = false
		}
		return &s.Moves[len(s.Moves)-1]
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
		case word == "select":
			s.Selects = append(s.Selects, strings.Fields(rest)...)
		case word == "contribute":
			if err := json.Unmarshal([]byte(rest), &s.Contributes); err != nil {
				return s, fmt.Errorf("%q: %w", line, err)
			}
		case word == "on":
			fresh = true
			last().On = rest
		case word == "say":
			if rest == "" {
				return s, fmt.Errorf("%q says nothing", line)
			}
			m := last()
			m.Says = append(m.Says, rest)
		case word == "ask":
			if err := s.ask(last(), rest, 1); err != nil {
				return s, err
			}
		case word == "asks":
			count, ask, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(count)
			if err == nil {
				err = s.ask(last(), ask, n)
			}
			if err != nil {
				return s, err
			}
		case word == "wait":
			for _, id := range s.asked {
				s.Moves = append(s.Moves, move{On: fmt.Sprintf("answer %q", id)})
			}
			s.asked, fresh = nil, true
		case word == "then":
			fresh = true
		case line == actCloseOutput, line == actCloseInput, line == actStall, (word == actExit || word == actShout) && isNumber(rest):
			last().Does = line
			fresh = true
		default:
			return s, fmt.Errorf("%q is no line of a script", line)
		}
	}
	return s, nil
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// service is the capability that the script is about: the first optional one that it selects. Where it is not offered
// the script says nothing.
func (s plot) service() string {
	for _, name := range s.Selects {
		if slices.ContainsFunc(cw.Capabilities, func(c wirejson.Capability) bool { return c.Name == name && c.Offer == "optional" }) {
			return name
		}
	}
	return ""
}

// save writes a script for the player.
func (s plot) save(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func loadPlot(path string) (plot, error) {
	var s plot
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}
