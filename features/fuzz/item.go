// Package fuzz makes conversations up: what a host may write in the middle of anything else, and what no extension
// may choke on. It judges them by the monitor and by what every extension owes whatever it does: an answer to each
// request, and its end when the time has come.
package fuzz

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/octet-dev/octet/features/wire"
)

// kind is what a line of the host asks for.
type kind string

// The kinds. They stand in transcripts as the origins of frames.
const (
	answer  kind = "answer"  // exactly one response, an error of some name where names follow
	slow    kind = "slow"    // the same, once it is cancelled or shutdown has come
	silence kind = "silence" // nothing
	goOn    kind = "go-on"   // an error without an id, or nothing
	end     kind = "end"     // the end of the output, without a word
	leave   kind = "leave"   // a result, and then the end
)

// Item is one line of the host, its line feed not included, and what it asks for.
type Item struct {
	Line   []byte
	Cut    int // where the line is cut in two writes; 0 for one
	kind   kind
	errors []string // names of the errors that will do; none: any answer will
	rule   string   // that is broken by anything else
	wait   bool     // everything that is owed is waited for behind it
	bent   bool     // a request that is wrong in some place: nobody says what a result of it looks like
	id     string   // of a request, as spelled
	cancel string   // the id that is cancelled, as spelled
}

var ruleID = regexp.MustCompile(`^[A-Z]+\d+-[A-Z]+-\d{3}$`)

// origin spells what an item asks for, for transcripts.
func (i Item) origin() string {
	words := append([]string{string(i.kind)}, i.errors...)
	if i.rule != "" {
		words = append(words, i.rule)
	}
	if i.bent {
		words = append(words, "bent")
	}
	if i.wait {
		words = append(words, "wait")
	}
	return strings.Join(words, " ")
}

// Items reads the host's lines of a transcript. A line that was written in two pieces is one.
func Items(frames []wire.Frame) ([]Item, error) {
	var out []Item
	var partial []byte
	for _, f := range frames {
		if f.Lane != wire.ToSubject || f.Origin == "" && f.Ended {
			continue // answers are made anew
		}
		if !f.Ended {
			partial = append(partial, f.Bytes...)
			continue
		}
		item, err := parse(f.Origin)
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", f.Index, err)
		}
		item.Cut, item.Line = len(partial), append(partial, f.Bytes...)
		item.id, item.cancel = ids(item)
		partial = nil
		out = append(out, item)
	}
	return out, nil
}

func parse(origin string) (Item, error) {
	words := strings.Fields(origin)
	item := Item{}
	for n, w := range words {
		switch {
		case n == 0:
			item.kind = kind(w)
		case w == "wait":
			item.wait = true
		case w == "bent":
			item.bent = true
		case ruleID.MatchString(w):
			item.rule = w
		default:
			item.errors = append(item.errors, w)
		}
	}
	switch item.kind {
	case answer, slow, silence, goOn, end, leave:
		return item, nil
	}
	return item, fmt.Errorf("the origin %q is none of a conversation that was made up", origin)
}
