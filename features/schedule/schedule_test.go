package schedule_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/schedule"
)

func TestCut_theSameSeedCutsAlike(t *testing.T) {
	text := []byte(strings.Repeat(`{"id":1,"jsonrpc":"2.0"}`, 40))
	cut := func(seed int64, scenario string) [][]byte {
		return schedule.New(seed, scenario).Cut(schedule.InPieces, text)
	}
	first := cut(7, "a")
	if !reflect.DeepEqual(first, cut(7, "a")) {
		t.Error("one seed has cut in two ways")
	}
	if reflect.DeepEqual(first, cut(8, "a")) || reflect.DeepEqual(first, cut(7, "b")) {
		t.Error("another seed, or another scenario, has cut in the same way")
	}
	if !bytes.Equal(bytes.Join(first, nil), text) || len(first) < 10 {
		t.Errorf("%d pieces, which have to be many and the whole text", len(first))
	}
}

func TestCut_paces(t *testing.T) {
	text := []byte("{}\n")
	for pace, want := range map[schedule.Pace]int{schedule.ByFrame: 1, schedule.Together: 1, schedule.ByByte: 3} {
		if got := schedule.New(1, "").Cut(pace, text); len(got) != want {
			t.Errorf("pace %q: %d pieces, want %d", pace, len(got), want)
		}
	}
	large := make([]byte, 1<<20)
	if n := len(schedule.New(1, "").Cut(schedule.ByByte, large)); n > 1<<15 {
		t.Errorf("a large frame is cut into %d pieces", n)
	}
}

func TestWeave_keepsTheOrderOfAStrand(t *testing.T) {
	strands := func() [][]string { return [][]string{{"a1", "a2", "a3"}, {"b1", "b2"}, {}} }
	orders := map[string]bool{}
	for seed := range int64(40) {
		woven := schedule.Weave(schedule.New(seed, ""), strands()...)
		for _, strand := range strands() {
			kept := slices.DeleteFunc(slices.Clone(woven), func(s string) bool { return !slices.Contains(strand, s) })
			if !slices.Equal(kept, strand) {
				t.Errorf("seed %d: %v has the strand %v as %v", seed, woven, strand, kept)
			}
		}
		if len(woven) != 5 {
			t.Errorf("seed %d: %v", seed, woven)
		}
		orders[strings.Join(woven, " ")] = true
	}
	if len(orders) < 5 {
		t.Errorf("40 seeds gave %d orders", len(orders))
	}
}
