package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/octet-dev/octet/bench/sample"
)

// budget is one promise of the design, and how it is judged.
type budget struct {
	what, promise string
	judge         func(f *figures) verdict
	// note says how it is measured where that is not plain, and of a promise that is not kept, why, and what comes next.
	note string
	// beside judges the same of the whole host, which does more for a call; nil for nothing.
	beside func(f *figures) verdict
}

type verdict struct {
	figure string
	known  bool
	held   bool
}

// atMost holds where a ratio or a value is no more than a bound.
func atMost(d distribution, found bool, bound float64, text string) verdict {
	return verdict{figure: text, known: found, held: found && d.median <= bound}
}

// times is a ratio for people.
func times(d distribution) string {
	return fmt.Sprintf("%s times (%s to %s)", number(d.median), number(d.low), number(d.high))
}

// timesOf promises a ratio of ours to a subject of the same case; lower is better.
func timesOf(row, subject, other, shape string, metric sample.Metric, bound float64) func(*figures) verdict {
	return func(f *figures) verdict {
		d, found := f.ratio(key{row, subject, shape, metric}, key{row, other, shape, metric})
		return atMost(d, found, bound, times(d))
	}
}

// quarterOf promises a part of the latency of the fastest peer.
func quarterOf(row, subject, shape string, bound float64) func(*figures) verdict {
	return func(f *figures) verdict {
		k := key{row, subject, shape, sample.P50}
		peer, found := f.best(k, ours, whole, floor)
		if !found {
			return verdict{}
		}
		d, found := f.ratio(k, key{row, peer, shape, sample.P50})
		return atMost(d, found, bound, fmt.Sprintf("%s, of %s", times(d), peer))
	}
}

// fasterThan promises so many times the best other subject; higher is better.
func fasterThan(row, subject, shape string, metric sample.Metric, bound float64, without ...string) func(*figures) verdict {
	return func(f *figures) verdict {
		k := key{row, subject, shape, metric}
		peer, found := f.best(k, append([]string{subject}, without...)...)
		if !found {
			return verdict{}
		}
		var d distribution
		if metric.HigherIsBetter() {
			d, found = f.ratio(k, key{row, peer, shape, metric})
		} else {
			d, found = f.ratio(key{row, peer, shape, metric}, k)
		}
		return verdict{figure: fmt.Sprintf("%s, of %s", times(d), peer), known: found, held: found && d.median >= bound}
	}
}

// below promises a value.
func below(row, subject, shape string, metric sample.Metric, bound float64) func(*figures) verdict {
	return func(f *figures) verdict {
		d, found := f.of(key{row, subject, shape, metric})
		return atMost(d, found, bound, fmt.Sprintf("%s (%s to %s)", format(d.median, metric.Unit()), format(d.low, metric.Unit()), format(d.high, metric.Unit())))
	}
}

// all joins promises that belong together: the figure is that of the worst, by how they are listed.
func all(names []string, judges ...func(*figures) verdict) func(*figures) verdict {
	return func(f *figures) verdict {
		joined := verdict{known: true, held: true}
		var figures []string
		for n, judge := range judges {
			v := judge(f)
			if !v.known {
				joined.known = false
				continue
			}
			joined.held = joined.held && v.held
			figures = append(figures, names[n]+": "+v.figure)
		}
		joined.figure = strings.Join(figures, "; ")
		return joined
	}
}

// canonicalSizes are judged one by one, because linear means that none of them is slow.
var canonicalSizes = []string{"64 B", "1 KiB", "16 KiB", "256 KiB", "1 MiB"}

func canonicalFaster(f *figures) verdict {
	var worst verdict
	least := math.Inf(1)
	for _, size := range canonicalSizes {
		k := key{"canonical", ours, size, sample.Throughput}
		peer, found := f.best(k, ours, copying)
		d, paired := f.ratio(k, key{"canonical", peer, size, sample.Throughput})
		if !found || !paired {
			return verdict{}
		}
		if d.median < least {
			least = d.median
			worst = verdict{figure: fmt.Sprintf("%s, of %s at %s", times(d), peer, size), known: true, held: d.median >= 5}
		}
	}
	return worst
}

func canonicalAllocations(f *figures) verdict {
	most, known := 0.0, true
	for _, size := range canonicalSizes {
		d, found := f.of(key{"canonical", ours, size, sample.Allocs})
		most, known = math.Max(most, d.high), known && found
	}
	return verdict{figure: number(most), known: known, held: most == 0}
}

// canonicalLinear compares the time for a byte at 1 MiB with that at 16 KiB: a check that is not linear gets slower.
func canonicalLinear(f *figures) verdict {
	d, found := f.ratio(key{"canonical", ours, "16 KiB", sample.Throughput}, key{"canonical", ours, "1 MiB", sample.Throughput})
	return atMost(d, found, 1.5, times(d))
}

// memoryPerExtension is what the host grows by from 1 to 100 extensions.
func memoryPerExtension(f *figures) verdict {
	many, has := f.of(key{"host", ours, "100 extensions", sample.Memory})
	one, also := f.of(key{"host", ours, "1 extension", sample.Memory})
	each := (many.median - one.median) / 99
	return verdict{figure: format(each, "B"), known: has && also, held: each <= 1e6}
}

// slowReader compares the fast reader beside a stalled one with the fast reader alone.
func slowReader(f *figures) verdict {
	d, found := f.ratio(key{"oup", "fast reader", "beside a stalled one", sample.Wall}, key{"oup", "fast reader", "alone", sample.Wall})
	return atMost(d, found, 1.2, times(d))
}

// groupCommit compares the appends of 64 writers with those of one: commits that are shared make more of them.
func groupCommit(f *figures) verdict {
	d, found := f.ratio(key{"oup", "append", "64 writers", sample.Rate}, key{"oup", "append", "1 writer", sample.Rate})
	return verdict{figure: times(d), known: found, held: d.median >= 4}
}

// budgets are the rows of the design, in its order.
var budgets = []budget{
	{"Tool call, one in flight, 100 B", "p50 within 3 times a bare echo", timesOf("call", ours, floor, lone100, sample.P50, 3), "", timesOf("call", whole, floor, lone100, sample.P50, 3)},
	{"", "at most a quarter of the fastest peer", quarterOf("call", ours, lone100, 0.25), "", quarterOf("call", whole, lone100, 0.25)},
	{"Tool call, 64 in flight, 100 B", "at least 3 times the fastest peer", fasterThan("call", ours, many100, sample.Rate, 3, whole, floor), "", fasterThan("call", whole, many100, sample.Rate, 3, ours, floor)},
	{"Tool call, one in flight, 10 KiB", "p50 within 6 times a bare echo", timesOf("call", ours, floor, lone10K, sample.P50, 6), "", timesOf("call", whole, floor, lone10K, sample.P50, 6)},
	{"Canonical check", "at least 5 times the fastest public way, at every size", canonicalFaster, "the worst size is shown", nil},
	{"", "zero allocations", canonicalAllocations, "", nil},
	{"", "linear in bytes", canonicalLinear, "time for a byte at 1 MiB, beside 16 KiB: at most 1.5 times", nil},
	{"Python extension, tool call", "at least 3 times the official MCP SDK", all([]string{"100 B", "10 KiB", "64 in flight"},
		versus("python-call", "octet-extension", "mcp", lone100, sample.P50), versus("python-call", "octet-extension", "mcp", lone10K, sample.P50),
		versus("python-call", "octet-extension", "mcp", many100, sample.Rate)), "", nil},
	{"TypeScript extension, tool call", "at least 3 times the official MCP SDK", all([]string{"100 B", "10 KiB", "64 in flight"},
		versus("typescript-call", "octet-extension", "@modelcontextprotocol/sdk", lone100, sample.P50),
		versus("typescript-call", "octet-extension", "@modelcontextprotocol/sdk", lone10K, sample.P50),
		versus("typescript-call", "octet-extension", "@modelcontextprotocol/sdk", many100, sample.Rate)), "", nil},
	{"Full `octet-conform extension`", "under 10 s, Go extension", below("referee", "Go extension", "full run", sample.Wall, 10_000), "", nil},
	{"", "under 20 s, Python extension", below("referee", "Python extension", "full run", sample.Wall, 20_000), "", nil},
	{"`octet --help`", "under 40 ms", below("commands", "octet --help", "start to end", sample.Wall, 40), "", nil},
	{"Idle host", "under 40 MB", all([]string{"octet host", "octet serve"},
		below("idle", "octet host", "idle", sample.Memory, 40e6), below("idle", "octet serve", "idle", sample.Memory, 40e6)), "", nil},
	{"Memory of an extension, host side", "under 1 MB", memoryPerExtension, "growth from 1 to 100 extensions, divided", nil},
	{"Generated code", "under 5 s", below("generator", ours, "everything", sample.Wall, 5000), "the generator alone, built", nil},
	{"", "a run without a change writes nothing", below("generator", ours, "files written without a change", sample.Allocs, 0), "", nil},
	{"OUP", "100,000 stored events replay in under 1 s", all([]string{"from the ledger", "to a client"},
		below("oup", "replay", "100,000 events from the ledger", sample.Wall, 1000), below("oup", "replay", "100,000 events to a client", sample.Wall, 1000)), "", nil},
	{"", "one slow reader never slows another", slowReader, "time of the fast one beside a stalled one, beside alone: at most 1.2 times", nil},
	{"", "append is one group-committed transaction", groupCommit, "64 writers beside one: at least 4 times the appends", nil},
}

// versus promises three times another subject.
func versus(row, subject, other, shape string, metric sample.Metric) func(*figures) verdict {
	return func(f *figures) verdict {
		a, b := key{row, other, shape, metric}, key{row, subject, shape, metric}
		if metric.HigherIsBetter() {
			a, b = b, a
		}
		d, found := f.ratio(a, b)
		return verdict{figure: times(d), known: found, held: found && d.median >= 3}
	}
}
