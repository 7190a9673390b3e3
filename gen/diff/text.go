package diff

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/octet-dev/octet/gen/model"
)

// texts is a set of strings.
type texts struct {
	listed   bool // only these values, which other bounds do not narrow
	values   []string
	min      int
	max      int64 // -1 for none
	notBlank bool
	controls model.Controls
	pattern  string
}

// textsOf returns the strings that a shape accepts; ok is false for a shape that accepts none.
func textsOf(s spot) (set texts, ok bool) {
	set.max = -1
	switch {
	case s.is(model.Choice):
		return textsOf(s.tree.spotOf(s.mod.Word))
	case s.is(model.Enum):
		set.listed, set.values = !s.mod.Open, values(s.mod)
		return set, true
	case s.mod != nil:
		return set, false
	}
	switch s.typ.Kind {
	case model.JSON:
		return set, true
	case model.Const:
		set.listed, set.values = true, []string{s.typ.Const}
		return set, true
	case model.ID:
		set.min = 1
		set.max = s.typ.MaxBytes.Value
		return set, true
	case model.String:
		set.min, set.notBlank, set.controls, set.pattern = s.typ.MinBytes, s.typ.NotBlank, s.typ.Controls, s.typ.Pattern
		if s.typ.MaxBytes != nil {
			set.max = s.typ.MaxBytes.Value
		}
		return set, true
	default:
		return set, false
	}
}

// keysOf returns the legal keys of a map.
func keysOf(s spot) texts { return texts{max: -1, pattern: s.typ.KeyPattern} }

func isBlank(c rune) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// allows reports whether a class of control characters allows a character.
func allows(class model.Controls, c rune) bool {
	switch {
	case class == model.AnyControls || c >= ' ' && c < 0x7F || c > 0x9F:
		return true
	case c == '\n' || c == '\t':
		return class != model.NoControls
	case c == '\r':
		return class == model.EditControls
	default:
		return false
	}
}

var compiled sync.Map // pattern to *regexp.Regexp

func matches(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	re, ok := compiled.Load(pattern)
	if !ok {
		re, _ = compiled.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return re.(*regexp.Regexp).MatchString(s)
}

// fails reports whether s breaks one aspect of the set, named by its kind of change.
func (t *texts) fails(kind, s string) bool {
	if t.listed {
		return kind == KindValue && !slices.Contains(t.values, s)
	}
	switch kind {
	case KindMinBytes:
		return len(s) < t.min
	case KindMaxBytes:
		return t.max >= 0 && int64(len(s)) > t.max
	case KindNotBlank:
		return t.notBlank && !strings.ContainsFunc(s, func(c rune) bool { return !isBlank(c) })
	case KindControls:
		return strings.ContainsFunc(s, func(c rune) bool { return !allows(t.controls, c) })
	case KindPattern:
		return !matches(t.pattern, s)
	default:
		return false
	}
}

// aspects are the ways in which a string can break a set, in the order of the validator.
var aspects = []string{KindMinBytes, KindMaxBytes, KindNotBlank, KindValue, KindControls, KindPattern}

func (t *texts) contains(s string) bool {
	for _, kind := range aspects {
		if t.fails(kind, s) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// state says how a search ended.
type state int

const (
	found state = iota
	none        // there is nothing: proven
	lost        // gave up
)

// member returns a short string of the set, one of to as well if there is any.
func (t *texts) member(to *texts) (string, state) {
	if to != nil {
		if s, st := t.search(to, "", true); st == found {
			return s, found
		}
	}
	return t.search(nil, "", false)
}

// escape returns a string of the set that breaks an aspect of to; "" is any aspect. It prefers one that
// breaks no other.
func (t *texts) escape(to *texts, aspect string) (string, state) {
	if aspect == "" {
		sure := none
		for _, kind := range aspects {
			s, st := t.escape(to, kind)
			if st == found {
				return s, found
			}
			sure = max(sure, st)
		}
		return "", sure
	}
	if to.listed && aspect != KindValue || !to.listed && aspect == KindValue {
		return "", none
	}
	if !t.listed && t.keeps(to, aspect) {
		return "", none
	}
	if s, st := t.search(to, aspect, true); st == found {
		return s, st
	}
	return t.search(to, aspect, false)
}

// keeps reports whether the bounds of one aspect alone show that no string of the set breaks it.
func (t *texts) keeps(to *texts, aspect string) bool {
	switch aspect {
	case KindMinBytes:
		return t.min >= to.min
	case KindMaxBytes:
		return to.max < 0 || t.max >= 0 && t.max <= to.max
	case KindNotBlank:
		return t.notBlank || !to.notBlank
	case KindControls:
		return t.controls == to.controls || to.controls == model.AnyControls
	case KindPattern:
		return t.pattern == to.pattern || to.pattern == ""
	default:
		return false
	}
}

// search returns a short string of the set. With an aspect it breaks that aspect of to; with others it
// keeps all the others, and without an aspect all of them.
func (t *texts) search(to *texts, aspect string, others bool) (string, state) {
	fits := func(s string) bool {
		if !t.contains(s) || aspect != "" && !to.fails(aspect, s) {
			return false
		}
		for _, kind := range aspects {
			if others && kind != aspect && to.fails(kind, s) {
				return false
			}
		}
		return true
	}
	if t.listed {
		return pick(t.values, fits)
	}
	if to != nil && to.listed && (others || aspect == KindValue) {
		if aspect == "" {
			return pick(to.values, fits)
		}
		return newSearch(t, to.asPattern(), KindPattern, false).run()
	}
	if aspect == KindMaxBytes && to.max >= 0 {
		if s, ok := t.stretch(to.max+1, fits); ok {
			return s, found
		}
	}
	return newSearch(t, to, aspect, others).run()
}

// asPattern returns a set of listed values as the set of strings that match a pattern.
func (t *texts) asPattern() *texts {
	quoted := make([]string, len(t.values))
	for i, v := range t.values {
		quoted[i] = regexp.QuoteMeta(v)
	}
	return &texts{max: -1, pattern: "^(?:" + strings.Join(quoted, "|") + ")$"}
}

func pick(values []string, fits func(string) bool) (string, state) {
	for _, v := range values {
		if fits(v) {
			return v, found
		}
	}
	return "", none
}

// stretch tries to make a string of exactly n bytes by repeating one character of a short one.
func (t *texts) stretch(n int64, fits func(string) bool) (string, bool) {
	if n > maxWitness || t.max >= 0 && n > t.max {
		return "", false
	}
	short, st := t.member(nil)
	if st != found {
		return "", false
	}
	if missing := n - int64(len(short)); missing >= 0 {
		for _, r := range alphabet(nil, nil) {
			if r >= utf8.RuneSelf {
				continue
			}
			more := strings.Repeat(string(r), int(missing))
			for _, s := range []string{short + more, more + short} {
				if fits(s) {
					return s, true
				}
			}
		}
	}
	return "", false
}

// members returns up to n different strings of the set; all says that there are no others.
func (t *texts) members(n int) (list []string, all bool) {
	if t.listed {
		return t.values[:min(n, len(t.values))], n >= len(t.values)
	}
	first, st := t.member(nil)
	if st != found {
		return nil, st == none
	}
	list = []string{first}
	seen := map[string]bool{first: true}
	m, ok := newMachine(t.pattern)
	if !ok {
		return list, false
	}
	letters := slices.Concat([]rune("abcdefghijklmnopqrstuvwxyz0123456789"), alphabet(m, nil))
	work := 0
	try := func(s string) bool {
		work++
		if !seen[s] && t.contains(s) {
			seen[s] = true
			list = append(list, s)
		}
		return len(list) >= n || work > maxEdits
	}
	// Neighbours of strings that are known: one character more, or another one.
	for i := 0; i < len(list); i++ {
		runes := []rune(list[i])
		for at := len(runes); at >= 0; at-- {
			for _, r := range letters {
				if try(string(runes[:at])+string(r)+string(runes[at:])) || at < len(runes) && try(string(runes[:at])+string(r)+string(runes[at+1:])) {
					return list[:min(n, len(list))], false
				}
			}
		}
	}
	return list, false
}

const (
	maxWitness = 4 << 20 // bytes of a string we are willing to make
	maxEdits   = 200_000 // strings tried in search of different ones
	maxCount   = 2048    // bytes that a search counts
	maxStates  = 4_000   // states that a search visits
)
