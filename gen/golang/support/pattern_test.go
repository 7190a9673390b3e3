package wirejson

import (
	"regexp"
	"testing"
)

var patterns = []struct {
	source string
	simple bool
}{
	{`^[a-z][a-z0-9-]*$`, true},
	{`^[A-Za-z_][A-Za-z0-9_.-]*$`, true},
	{`^[a-z]+$`, true},
	{`^[ab][cd]$`, true},
	{`^[0-9a-f][0-9a-f]+$`, true},
	{`^[a-z]*$`, true},
	{`^[^\x00-\x1f]*$`, false},
	{`^[a-z]*[0-9]$`, false},
	{`^(?:[ab]|[cd])x$`, false},
	{`^abc$`, false},
	{`^[a-z]{2,3}$`, false},
	{`^$`, false},
}

func TestPattern_walksIdentifierClasses(t *testing.T) {
	for _, c := range patterns {
		p := &Pattern{Source: c.source}
		p.match(nil)
		if got := p.simple != nil; got != c.simple {
			t.Errorf("%s: walked %t, want %t", c.source, got, c.simple)
		}
	}
}

// FuzzPattern holds the walk against the general machine.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{"", "a", "ab", "a-1", "a\n", "A.b_c", "1a", "é", "aé", "ac", "ffff", "abx", "zz", "a9", "abc"} {
		f.Add(text)
	}
	var machines []*regexp.Regexp
	var walks []*Pattern
	for _, c := range patterns {
		machines = append(machines, regexp.MustCompile(c.source))
		walks = append(walks, &Pattern{Source: c.source})
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, machine := range machines {
			if got, want := walks[i].match([]byte(text)), machine.MatchString(text); got != want {
				t.Errorf("%s on %q: walk says %t, machine %t", machine, text, got, want)
			}
		}
	})
}
