package wirejson

import (
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// Pattern is an anchored regular expression that is compiled when it is first needed.
type Pattern struct {
	Source string
	once   sync.Once
	simple []class // instead of re, where not nil
	repeat bool    // the last class of simple stands for any number of characters
	re     *regexp.Regexp
}

// class is a set of ASCII characters.
type class [utf8.RuneSelf]bool

func (p *Pattern) match(text []byte) bool {
	p.once.Do(p.compile)
	if p.simple == nil {
		return p.re.Match(text)
	}
	last := len(p.simple) - 1
	fixed := len(p.simple)
	if p.repeat {
		fixed = last
	}
	if len(text) < fixed || len(text) > fixed && !p.repeat {
		return false
	}
	for i, c := range text {
		if c >= utf8.RuneSelf || !p.simple[min(i, last)][c] {
			return false
		}
	}
	return true
}

// compile prefers a walk over character classes, which is enough for the identifier classes of the wires
// and far faster than the general machine.
func (p *Pattern) compile() {
	if parsed, err := syntax.Parse(p.Source, syntax.Perl); err == nil {
		p.simple, p.repeat = classes(parsed)
	}
	if p.simple == nil {
		p.re = regexp.MustCompile(p.Source)
	}
}

// classes returns the classes of an anchored sequence of single characters whose last one may repeat; nil
// for anything else.
func classes(re *syntax.Regexp) (list []class, repeat bool) {
	if re.Op != syntax.OpConcat || len(re.Sub) < 3 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[len(re.Sub)-1].Op != syntax.OpEndText {
		return nil, false
	}
	inner := re.Sub[1 : len(re.Sub)-1]
	for i, sub := range inner {
		if i == len(inner)-1 && (sub.Op == syntax.OpStar || sub.Op == syntax.OpPlus) {
			c, ok := asciiClass(sub.Sub[0])
			if !ok {
				return nil, false
			}
			if sub.Op == syntax.OpPlus {
				list = append(list, c)
			}
			return append(list, c), true
		}
		c, ok := asciiClass(sub)
		if !ok {
			return nil, false
		}
		list = append(list, c)
	}
	return list, false
}

// asciiClass returns the characters of a class that holds ASCII only.
func asciiClass(re *syntax.Regexp) (c class, ok bool) {
	if re.Op != syntax.OpCharClass {
		return c, false
	}
	for i := 0; i < len(re.Rune); i += 2 {
		if re.Rune[i+1] >= utf8.RuneSelf {
			return c, false
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			c[r] = true
		}
	}
	return c, true
}
