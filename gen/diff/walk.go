package diff

import (
	"strconv"
	"strings"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// outcome says whether a writer's legal value can be refused because of one difference. Of a breaking one
// text is such a value at the place of the difference, and at the JSON Pointer inside it where the reader
// stops.
type outcome struct {
	verdict Verdict
	note    string
	text    string
	at      string
}

var harmless = outcome{verdict: Compatible}

func unsure(note string) outcome { return outcome{verdict: Unknown, note: note} }

func broken(text, at string) outcome { return outcome{verdict: Breaking, text: text, at: at} }

const (
	noteLost  = "the search for a message that the reader refuses gave up"
	noteEmpty = "no legal value reaches this place"
)

// fromState turns the end of a search into an outcome.
func fromState(text, at string, st state) outcome {
	switch st {
	case found:
		return broken(text, at)
	case none:
		return harmless
	default:
		return unsure(noteLost)
	}
}

// difference is one place in which two shapes differ.
type difference struct {
	path    []step
	in      pair // the shapes that differ
	place   Place
	subject string
	kind    string
	reason  string
	loss    func(way) outcome
}

// step leads from a container to what it contains.
type step struct {
	kind stepKind
	name string // of a member
	in   pair   // the container
}

type stepKind int

const (
	memberStep stepKind = iota
	itemStep
	entryStep
)

// walker compares two shapes everywhere they can both be, what is near first.
type walker struct {
	make    [2]*maker // by way
	queue   []visit
	at      visit                // being looked at
	paths   map[[2]any][][]step  // the paths that lead to a pair, the first one is the shortest
	folding map[foldKey]struct{} // shared with the walkers inside
	visited []visit
	found   []difference
}

// visit is a pair to look at and how it was reached.
type visit struct {
	pair pair
	path []step
}

type foldKey struct {
	pair [2]any
	way  way
}

func newWalker(folding map[foldKey]struct{}) *walker {
	return &walker{make: [2]*maker{newMaker(), newMaker()}, paths: map[[2]any][][]step{}, folding: folding}
}

func (w *walker) emit(place Place, subject, kind, reason string, loss func(way) outcome) {
	w.found = append(w.found, difference{w.at.path, w.at.pair, place, subject, kind, reason, loss})
}

// maxPaths bounds the ways to one pair that are remembered.
const maxPaths = 8

// same plans to compare what stands at the place of the pair that is being looked at.
func (w *walker) same(p pair) { w.queue = append(w.queue, visit{p, w.at.path}) }

// inside plans to compare what stands in the pair that is being looked at.
func (w *walker) inside(kind stepKind, name string, p pair) {
	path := append(w.at.path[:len(w.at.path):len(w.at.path)], step{kind, name, w.at.pair})
	w.queue = append(w.queue, visit{p, path})
}

// walk finds the differences between two shapes.
func (w *walker) walk(root pair) []difference {
	w.queue = []visit{{pair: root}}
	for len(w.queue) > 0 {
		w.at, w.queue = w.queue[0], w.queue[1:]
		key := w.at.pair.key()
		known := w.paths[key]
		if len(known) < maxPaths {
			w.paths[key] = append(known, w.at.path)
		}
		if len(known) == 0 {
			w.visited = append(w.visited, w.at)
			w.compare(w.at.pair)
		}
	}
	return w.found
}

func (w *walker) compare(p pair) {
	o, n := p.old, p.new
	switch {
	case o.is(model.Record) && n.is(model.Record):
		w.records(p)
	case o.is(model.Union) && n.is(model.Union) && o.mod.Tag == n.mod.Tag:
		w.unions(p)
	case o.is(model.Choice) && n.is(model.Choice):
		w.same(pair{o.tree.spotOf(o.mod.Word), n.tree.spotOf(n.mod.Word)})
		w.same(pair{o.tree.spotOf(o.mod.Object), n.tree.spotOf(n.mod.Object)})
	case o.is(model.Enum) && n.is(model.Enum):
		w.enums(p)
	case o.typ != nil && n.typ != nil && o.typ.Kind == n.typ.Kind:
		w.types(p)
	default:
		w.emit(n.place, n.subject, KindShape, "was "+o.words()+", is "+n.words(), func(d way) outcome { return w.subset(p, d) })
	}
}

func (w *walker) types(p pair) {
	switch p.new.typ.Kind {
	case model.String, model.Const:
		w.strings(p)
	case model.Integer, model.Number:
		w.ranges(p)
	case model.ID:
		w.strings(p)
		w.ranges(p)
	case model.JSON, model.Object:
		w.encoded(p)
	case model.Array:
		w.arrays(p)
	case model.Map:
		w.maps(p)
	}
}

// wrap puts a value that stands at the end of a path into the smallest value at its start, and returns it
// with the pointer to the inner one.
func (w *walker) wrap(path []step, d way, text string) (outer, pointer string, st state) {
	var tokens []string
	for i := len(path) - 1; i >= 0; i-- {
		s := path[i]
		from, to := s.in.sides(d)
		switch s.kind {
		case memberStep:
			text, st = w.make[d].record(from, to, given{s.name: text})
			tokens = append(tokens, wirejson.EscapePointer(s.name))
		case itemStep:
			var items []string
			items, st = w.make[d].items(from, to, []string{text}, from.typ.MinItems)
			text = array(items)
			tokens = append(tokens, "0")
		case entryStep:
			keys, other := keysOf(from), keysOf(to)
			var key string
			key, st = keys.member(&other)
			text = object(map[string]string{key: text})
			tokens = append(tokens, wirejson.EscapePointer(key))
		}
		if st != found {
			return "", "", st
		}
	}
	var b strings.Builder
	for i := len(tokens) - 1; i >= 0; i-- {
		b.WriteString("/" + tokens[i])
	}
	return text, b.String(), found
}

// judge asks whether a difference breaks the messages at the start of its path, and checks the answer:
// breaking stands only if the writer's validator accepts the message and the reader's refuses it where the
// difference is.
func (w *walker) judge(diff difference, root pair, d way) outcome {
	o := diff.loss(d)
	if o.verdict != Breaking {
		return o
	}
	from, to := root.sides(d)
	sure := none
	for i, path := range w.ways(diff) {
		if i > 0 {
			sure = max(sure, lost) // other paths were not all tried
		}
		text, pointer, st := w.wrap(path, d, o.text)
		if st == found && from.tree.accepts(from, text) {
			if refused(to, text, pointer+o.at) {
				return broken(text, pointer+o.at)
			}
			return unsure(noteLost)
		}
		if st == found {
			st = lost
		}
		sure = max(sure, st)
	}
	if sure == none {
		return outcome{verdict: Compatible, note: noteEmpty}
	}
	return unsure("no legal message around the value " + brief(o.text) + " was found")
}

// ways returns the paths that lead to a difference: the one it was found on, and those that differ from it
// up to one of the containers on the way.
func (w *walker) ways(diff difference) [][]step {
	list := [][]step{diff.path}
	for i := len(diff.path); i >= 0; i-- {
		in := diff.in
		if i < len(diff.path) {
			in = diff.path[i].in
		}
		for _, other := range w.paths[in.key()][1:] {
			list = append(list, append(other[:len(other):len(other)], diff.path[i:]...))
		}
	}
	return list
}

// refused reports whether a reader finds fault with the value at a pointer.
func refused(to spot, text, pointer string) bool {
	faults, err := to.tree.refusals(to, text, 1000)
	if err != nil {
		return false
	}
	for _, v := range faults {
		if v.Pointer == pointer {
			return true
		}
	}
	return false
}

// brief cuts a JSON text for a sentence.
func brief(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "... (" + strconv.Itoa(len(text)) + " bytes)"
}

// fold compares two shapes on their own and returns the worst that comes of any difference between them.
func (w *walker) fold(p pair, d way) outcome {
	key := foldKey{p.key(), d}
	if _, open := w.folding[key]; open {
		return harmless // decided where it was asked first
	}
	w.folding[key] = struct{}{}
	defer delete(w.folding, key)
	worst := harmless
	inner := newWalker(w.folding)
	for _, diff := range inner.walk(p) {
		if o := inner.judge(diff, p, d); o.verdict.worse(worst.verdict) {
			worst = o
		}
	}
	return worst
}
