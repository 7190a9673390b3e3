package chaos

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/octet-dev/octet/process/guard"
)

var (
	faultCount = flag.Int("faults", 40, "how many faults the campaign makes")
	seed       = flag.Uint64("seed", 0, "repeats the campaign of that seed; 0: a new one")
	hosts      = flag.Int("hosts", 2, "how many hosts suffer at once")
)

func TestMain(m *testing.M) {
	guard.Main()
	Main()
	os.Exit(m.Run())
}

// EXT04-PROC-007, MAN-LAUNCH-008, MAN-RESTART-002, MAN-RESTART-008, MAN-RELOADING-004, MAN-SUPER-011.
func TestCampaign(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d faults", *seed, *faultCount)
	bar := newBar(*faultCount, *seed)
	result, err := Campaign{Program: program, Dir: t.TempDir(), Seed: *seed, Faults: *faultCount, Hosts: *hosts, Told: bar.show}.Run(t.Context())
	bar.end()
	t.Log(describe(result))
	if err != nil {
		t.Errorf("%v\nrepeat with --seed %d --faults %d", err, *seed, *faultCount)
	}
	if settled := result.Answered + result.Failed + result.Lost; settled != result.Calls+result.Reloads && err == nil {
		t.Errorf("%d outcomes for %d calls and %d reloads", settled, result.Calls, result.Reloads)
	}
	if result.Survivors+result.Unsettled+result.Repeated+result.Forgotten > 0 && err == nil {
		t.Error("the counters show what no error tells")
	}
}

// describe is the result for people.
func describe(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d faults against %d hosts in %s\n", r.Faults, r.Hosts, r.Took.Round(time.Second/10))
	fmt.Fprintf(&b, "%d calls and %d reloads: %d answered, %d failed, %d died with their host\n", r.Calls, r.Reloads, r.Answered, r.Failed, r.Lost)
	fmt.Fprintf(&b, "%d records acknowledged, %d forgotten; %d calls unsettled, %d made twice; %d processes survived\n",
		r.Acknowledged, r.Forgotten, r.Unsettled, r.Repeated, r.Survivors)
	for _, f := range faults {
		fmt.Fprintf(&b, "%6d  %s\n", r.Kinds[f.name], f.name)
	}
	return b.String()
}

// bar shows progress on a terminal and nowhere else.
type bar struct {
	mu    sync.Mutex
	shown bool
	total int
	seed  uint64
}

func newBar(total int, seed uint64) *bar {
	return &bar{shown: term.IsTerminal(int(os.Stderr.Fd())), total: total, seed: seed}
}

func (b *bar) show(r Result) {
	const width = 40
	if !b.shown {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	done := int(r.Faults) * width / b.total
	fmt.Fprintf(os.Stderr, "\rseed %d [%s%s] %d of %d faults, %d calls, %s ", b.seed,
		strings.Repeat("#", done), strings.Repeat(".", width-done), r.Faults, b.total, r.Calls, r.Took.Round(time.Second))
}

func (b *bar) end() {
	if b.shown {
		fmt.Fprintln(os.Stderr)
	}
}

// The same seed draws the same faults.
func TestDraw_repeats(t *testing.T) {
	draw := func(seed uint64) (names []string) {
		p := &player{random: newRandom(seed, 1)}
		for range 50 {
			names = append(names, p.draw().name)
		}
		return names
	}
	if !slices.Equal(draw(7), draw(7)) || slices.Equal(draw(7), draw(8)) {
		t.Error("a seed does not decide")
	}
}
