package diff

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// search walks through all strings at once, shortest first, remembering of a prefix only what matters: where
// both patterns stand, the length as far as a bound needs it, and which kinds of character it holds. If it
// ends, its answer is exact.
type search struct {
	from, to   *texts // to may be nil
	aspect     string
	others     bool
	a, b       *machine
	ok         bool // both patterns can be stepped through
	count      int  // lengths above this are the same
	letters    []rune
	nodes      []node
	shortest   map[string]int // length in bytes of the shortest way to a node
	byDistance [][]int        // nodes to look at, by length in bytes
}

type node struct {
	parent   int
	r        rune
	a, b     threads
	length   int
	key      string
	visible  bool // holds something that is not blank
	controls bool // holds a control character that to does not allow
}

func newSearch(from, to *texts, aspect string, others bool) *search {
	s := &search{from: from, to: to, aspect: aspect, others: others, shortest: map[string]int{}}
	var okA, okB bool
	s.a, okA = newMachine(from.pattern)
	s.count = from.min
	okB = true
	if to != nil {
		s.b, okB = newMachine(to.pattern)
		s.count = max(s.count, to.min)
		if aspect == KindMaxBytes && to.max >= 0 {
			s.count = max(s.count, int(min(to.max+1, maxCount+1)))
		}
	}
	s.ok = okA && okB
	s.letters = alphabet(s.a, s.b)
	return s
}

func (s *search) run() (string, state) {
	if !s.ok || s.count > maxCount {
		return "", lost
	}
	s.visit(node{parent: -1, a: s.a.start(), b: s.b.start()})
	for distance := 0; distance < len(s.byDistance); distance++ {
		for i := 0; i < len(s.byDistance[distance]); i++ {
			at := s.byDistance[distance][i]
			if s.shortest[s.nodes[at].key] < distance {
				continue
			}
			if s.fits(&s.nodes[at]) {
				return s.text(at), found
			}
			for _, r := range s.letters {
				s.extend(at, r)
			}
			if len(s.nodes) > maxStates {
				return "", lost
			}
		}
	}
	return "", none
}

func (s *search) extend(at int, r rune) {
	if !allows(s.from.controls, r) {
		return
	}
	n := s.nodes[at]
	n.parent, n.r = at, r
	n.a, n.b = s.a.next(n.a, r), s.b.next(n.b, r)
	if s.a.dead(n.a) {
		return
	}
	n.length += utf8.RuneLen(r)
	n.visible = n.visible || !isBlank(r)
	n.controls = n.controls || s.to != nil && !allows(s.to.controls, r)
	// The first string that is found is a shortest one: nothing longer than a maximum is of use.
	if s.from.max >= 0 && int64(n.length) > s.from.max || s.others && s.aspect != KindMaxBytes && s.to.max >= 0 && int64(n.length) > s.to.max {
		return
	}
	s.visit(n)
}

// visit takes a node up unless one like it is known that is no longer.
func (s *search) visit(n node) {
	key := binary.BigEndian.AppendUint32(nil, uint32(min(n.length, s.count)))
	key = append(key, oneOrZero(n.visible), oneOrZero(n.controls))
	key = n.b.appendKey(n.a.appendKey(key))
	n.key = string(key)
	if known, ok := s.shortest[n.key]; ok && known <= n.length {
		return
	}
	s.shortest[n.key] = n.length
	for len(s.byDistance) <= n.length {
		s.byDistance = append(s.byDistance, nil)
	}
	s.byDistance[n.length] = append(s.byDistance[n.length], len(s.nodes))
	s.nodes = append(s.nodes, n)
}

func oneOrZero(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (s *search) fits(n *node) bool {
	if n.length < s.from.min || s.from.notBlank && !n.visible || !s.a.accepts(n.a) {
		return false
	}
	if s.aspect != "" && !s.breaks(s.aspect, n) {
		return false
	}
	for _, kind := range aspects {
		if s.others && kind != s.aspect && s.breaks(kind, n) {
			return false
		}
	}
	return true
}

// breaks is texts.fails of to for the string that leads to a node.
func (s *search) breaks(kind string, n *node) bool {
	switch kind {
	case KindMinBytes:
		return n.length < s.to.min
	case KindMaxBytes:
		return s.to.max >= 0 && int64(n.length) > s.to.max
	case KindNotBlank:
		return s.to.notBlank && !n.visible
	case KindControls:
		return n.controls
	case KindPattern:
		return !s.b.accepts(n.b)
	default:
		return false
	}
}

func (s *search) text(at int) string {
	var runes []rune
	for ; s.nodes[at].parent >= 0; at = s.nodes[at].parent {
		runes = append(runes, s.nodes[at].r)
	}
	slices.Reverse(runes)
	return string(runes)
}

// alphabet returns one character for each class that the machines and the other bounds tell apart, those
// that are easy to read first.
func alphabet(a, b *machine) []rune {
	borders := []rune{0, '\t', '\n', '\v', '\r', '\r' + 1, ' ', '!', '0', ':', 'A', '[', 'a', '{', 0x7F, 0x80, 0xA0, 0x800, 0xD800, 0xE000, 0x10000, utf8.MaxRune + 1}
	borders = b.borders(a.borders(borders))
	slices.Sort(borders)
	borders = slices.Compact(borders)
	var letters []rune
	for i, low := range borders[:len(borders)-1] {
		if low < 0 || low >= 0xD800 && low < 0xE000 {
			continue
		}
		best := low
		// The interval of the printable ASCII before the digits starts with a mark that JSON escapes.
		if low == '!' && borders[i+1] > '-' {
			best = '-'
		}
		letters = append(letters, best)
	}
	slices.SortStableFunc(letters, func(a, b rune) int { return dislike(a) - dislike(b) })
	return letters
}

func dislike(r rune) int {
	switch {
	case 'a' <= r && r <= 'z':
		return 0
	case 'A' <= r && r <= 'Z':
		return 1
	case '0' <= r && r <= '9':
		return 2
	case '-' <= r && r <= '/' || r == '_':
		return 3
	case '!' < r && r < 0x7F && r != '"' && r != '\\':
		return 4
	case r == ' ':
		return 5
	case r >= 0xA0:
		return 6
	case r >= ' ':
		return 7
	default:
		return 8
	}
}
