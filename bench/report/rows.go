package report

import (
	"slices"

	"github.com/octet-dev/octet/bench/sample"
)

// rowText is what the report says of a row.
type rowText struct {
	row, title, text string
	charts           []chartOf
}

// chartOf is a plot of one metric of a row: a group for each case, or for the listed ones.
type chartOf struct {
	file   string
	title  string
	metric sample.Metric
	cases  []string
}

// Names of subjects and cases that more than one place speaks of.
const (
	ours    = "octet"
	whole   = "octet, whole host"
	floor   = "bare echo"
	copying = "memory copy"

	lone100  = "100 B, 1 in flight"
	lone10K  = "10 KiB, 1 in flight"
	lone500K = "500 KiB, 1 in flight"
	many100  = "100 B, 64 in flight"
	many10K  = "10 KiB, 64 in flight"
)

var (
	loneCases = []string{lone100, lone10K, lone500K}
	manyCases = []string{many100, many10K}
)

// rowTexts are in the order of the report.
var rowTexts = []rowText{
	{
		"canonical", "Canonical check of a frame (Go)",
		"Whether a frame is spelled in the one canonical way: one pass of ours, beside parsing, writing again and comparing. " +
			"A memory copy is the floor.",
		[]chartOf{{"canonical", "Canonical check of a frame, Go", sample.Throughput, nil}},
	},
	{
		"call", "Tool call between two processes (Go)",
		"A tool that gives its text back, over real pipes. `octet` is the peer of the runtime with the decoders of the host on " +
			"one side and an extension of `sdk-go` on the other, everything validated; `octet, whole host` adds what a host does " +
			"beside it: schemas of arguments, deadlines, owners, supervision. The others do what their documents show. The bare echo is " +
			"the same frame without any JSON.",
		[]chartOf{
			{"call-latency", "Tool call, one in flight, Go: median latency", sample.P50, loneCases},
			{"call-rate", "Tool calls, 64 in flight, Go: calls a second", sample.Rate, manyCases},
		},
	},
	{
		"python-canonical", "Canonical check of a frame (Python)", "The same in Python.",
		[]chartOf{{"python-canonical", "Canonical check of a frame, Python", sample.Throughput, nil}},
	},
	{
		"python-call", "Tool call to a Python extension", "One kind of caller for every subject; the served side is the SDK of that library.",
		[]chartOf{{"python-call", "Tool call, one in flight, Python: median latency", sample.P50, loneCases}},
	},
	{"python-start", "Start of a Python extension", "", nil},
	{
		"typescript-canonical", "Canonical check of a frame (TypeScript)", "The same in TypeScript.",
		[]chartOf{{"typescript-canonical", "Canonical check of a frame, TypeScript", sample.Throughput, nil}},
	},
	{
		"typescript-call", "Tool call to a TypeScript extension", "One kind of caller for every subject; the served side is the SDK of that library.",
		[]chartOf{{"typescript-call", "Tool call, one in flight, TypeScript: median latency", sample.P50, loneCases}},
	},
	{"typescript-start", "Start of a TypeScript extension", "", nil},
	{
		"host", "A host with many extensions",
		"A host process of its own with so many Go extensions. The start is from the start of that process to the first result of " +
			"a tool, everything started; memory is the resident memory of the host process alone.", nil,
	},
	{
		"load", "Much at once",
		"A thousand callers at the same time over ten extensions, and one caller alone beside an extension that writes to its " +
			"standard error without end and one that answers 64 calls at a time.", nil,
	},
	{"commands", "Commands", "From the start of the process to its end. `nothing` is a Go program that ends at once.", nil},
	{"idle", "Memory of what waits", "Resident memory of the process, once it is up and nothing happens.", nil},
	{"generator", "Generator", "`octet-gen generate`, everything from nothing, and again without a change.", nil},
	{"referee", "Referee", "A full run of `octet-conform extension` against the word-count examples, judged and reported.", nil},
	{
		"oup", "OUP ledger and server",
		"100,000 stored events read back, and told to a client over a connection in memory; appends of so many writers, each " +
			"acknowledged when it is on disk; a reader beside one that does not read.", nil,
	},
}

func placeOf(row string) int {
	at := slices.IndexFunc(rowTexts, func(r rowText) bool { return r.row == row })
	if at < 0 {
		return len(rowTexts)
	}
	return at
}

func textOf(row string) rowText {
	if at := placeOf(row); at < len(rowTexts) {
		return rowTexts[at]
	}
	return rowText{row: row, title: row}
}
