package diff

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// machine steps through a regular expression one character at a time, with the meaning of
// regexp.MatchString. The nil machine matches everything.
type machine struct {
	prog  *syntax.Prog
	known map[advance]threads
}

// newMachine compiles a pattern; "" gives nil. ok is false for what the dialect of the spec does not have,
// such as word boundaries.
func newMachine(pattern string) (m *machine, ok bool) {
	if pattern == "" {
		return nil, true
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, false
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, false
	}
	for _, inst := range prog.Inst {
		if inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil, false
		}
	}
	return &machine{prog, map[advance]threads{}}, true
}

// advance is a step that was made before.
type advance struct {
	from string
	r    rune
}

// threads is where a machine may be behind some text: instructions that no rune has been spent on yet.
type threads struct {
	at      []uint32
	first   bool // behind the empty text
	matched bool // whatever follows
}

func (m *machine) start() threads {
	if m == nil {
		return threads{matched: true}
	}
	return m.settle(threads{at: []uint32{uint32(m.prog.Start)}, first: true})
}

// settle notices a match that does not depend on the end of the text.
func (m *machine) settle(t threads) threads {
	if t.matched {
		return threads{matched: true}
	}
	for _, pc := range m.closure(t, false) {
		if m.prog.Inst[pc].Op == syntax.InstMatch {
			return threads{matched: true}
		}
	}
	return t
}

// closure follows everything that spends no rune.
func (m *machine) closure(t threads, end bool) []uint32 {
	seen := map[uint32]bool{}
	var list []uint32
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		list = append(list, pc)
		switch inst := &m.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(inst.Out)
			follow(inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			follow(inst.Out)
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(inst.Arg)
			if (op&syntax.EmptyBeginText == 0 || t.first) && (op&syntax.EmptyEndText == 0 || end) {
				follow(inst.Out)
			}
		}
	}
	for _, pc := range t.at {
		follow(pc)
	}
	return list
}

func (m *machine) next(t threads, r rune) threads {
	if m == nil || t.matched {
		return threads{matched: true}
	}
	key := advance{string(t.appendKey(nil)), r}
	if next, ok := m.known[key]; ok {
		return next
	}
	// A search may begin anywhere; behind the first character an anchored one goes nowhere.
	next := threads{at: []uint32{uint32(m.prog.Start)}}
	for _, pc := range m.closure(t, false) {
		inst := &m.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if inst.MatchRune(r) {
				next.at = append(next.at, inst.Out)
			}
		}
	}
	slices.Sort(next.at)
	next.at = slices.Compact(next.at)
	next = m.settle(next)
	m.known[key] = next
	return next
}

func (m *machine) accepts(t threads) bool {
	if m == nil || t.matched {
		return true
	}
	for _, pc := range m.closure(t, true) {
		if m.prog.Inst[pc].Op == syntax.InstMatch {
			return true
		}
	}
	return false
}

// dead reports whether nothing that follows can lead to a match.
func (m *machine) dead(t threads) bool {
	if m == nil || t.matched {
		return false
	}
	for _, pc := range m.closure(t, true) {
		switch m.prog.Inst[pc].Op {
		case syntax.InstMatch, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			return false
		}
	}
	return true
}

// appendKey appends what tells two sets of threads apart.
func (t threads) appendKey(dst []byte) []byte {
	switch {
	case t.matched:
		return append(dst, 'm')
	case t.first:
		dst = append(dst, 'f')
	}
	for _, pc := range t.at {
		dst = binary.BigEndian.AppendUint32(dst, pc)
	}
	return append(dst, '|')
}

// borders appends the runes at which an instruction starts or stops to match.
func (m *machine) borders(dst []rune) []rune {
	if m == nil {
		return dst
	}
	for i := range m.prog.Inst {
		inst := &m.prog.Inst[i]
		switch inst.Op {
		case syntax.InstRuneAnyNotNL:
			dst = append(dst, '\n', '\n'+1)
		case syntax.InstRune, syntax.InstRune1:
			if len(inst.Rune) == 1 {
				dst = append(dst, inst.Rune[0], inst.Rune[0]+1)
			}
			for j := 0; j+1 < len(inst.Rune); j += 2 {
				dst = append(dst, inst.Rune[j], inst.Rune[j+1]+1)
			}
		}
	}
	return dst
}
