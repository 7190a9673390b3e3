package edit

import "testing"

func TestVisible(t *testing.T) {
	for _, r := range "\x1b\a\u0085\u2028\u2029\u202e\u200f\u2067" {
		if got := visible(r); got != '\uFFFD' {
			t.Errorf("%U is shown as %U", r, got)
		}
	}
	for _, r := range "a\u00e4\u200d\u2027" {
		if got := visible(r); got != r {
			t.Errorf("%U is shown as %U", r, got)
		}
	}
}
