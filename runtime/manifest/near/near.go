// Package near finds the word that somebody probably meant.
package near

import "strings"

// Find returns the candidate closest to a mistyped word, "" if none is close. Close means at most two
// edits, and no more than a third of the word; exchanged neighbours count as one edit, case as none.
func Find(word string, candidates []string) string {
	best, limit := "", min(2, (len([]rune(word))+2)/3)
	for _, candidate := range candidates {
		if gap := len(word) - len(candidate); gap > 4*limit || gap < -4*limit {
			continue // more edits than bytes of a character can explain
		}
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d <= limit {
			best, limit = candidate, d-1
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and exchanges of neighbours.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
