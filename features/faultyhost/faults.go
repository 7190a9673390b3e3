package faultyhost

import (
	"bytes"
	"slices"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/manifest/launch"
)

// Fault is one way to be wrong.
type Fault struct {
	Name string // unique among those of an API version, in kebab case
	Rule string // the rule it breaks
	API  string // the version it shows on
	Doc  string // what the host does, as the end of "a host that ..."

	quirk quirk
}

// quirk is what a fault changes in a sound host. Every member is optional.
type quirk struct {
	frame   func(method string, frame []byte) []byte // what is written in place of a frame, line feed included
	before  func(h *host)                            // before initialize is sent
	opened  func(h *host)                            // once initialize was accepted
	cancel  func(h *host)                            // behind a cancellation
	ended   func(h *host)                            // behind shutdown
	lax     []string                                 // rules of the extension that the host does not look at
	strict  []string                                 // rules of the extension that it should pass over, and does not
	hides   func(told *launch.Wire)                  // what the extension is not told
	does    string                                   // one of the does constants
	rejects string                                   // a part of an initialize result that the host does not accept
	spurns  string                                   // a part of a result that the host does not accept
	wrong   *deviation                               // an answer to the extension

	talks  string                   // one of the constants of conversations
	limits map[string]time.Duration // how long an answer is waited for, by method and hook
}

// What a host does otherwise, where no frame shows it.
const (
	skipsArguments = "skips arguments"
	repeatsCalls   = "repeats calls"
	neverAsks      = "never asks to end"
	leavesAll      = "leaves all"
	neverCancels   = "never cancels"
	waitsForever   = "waits forever"
	endsUnasked    = "ends unasked"
	passesAll      = "passes all"
	countsNothing  = "counts nothing"
	leavesOpen     = "leaves open"
)

const (
	frozen    = dialect.FrozenAPI
	middle    = "0.2"
	current   = "0.4"
	canonical = dialect.CanonicalAPI
)

// Alone reports whether a host with this fault leaves things behind, or hangs, and so has to be a process of its
// own.
func (f Fault) Alone() bool {
	return f.quirk.does != "" && f.quirk.does != countsNothing && f.quirk.does != leavesOpen
}

// Faults returns the table, in the order of the rules they break.
func Faults() []Fault {
	return slices.Concat(speech, judgement, conduct, racing, canonicalReading, canonicalStart, canonicalCalls, busFaults, sessionFaults, serviceFaults, answering, reported, slices.Concat(talks...))
}

// Find returns a fault by name and version.
func Find(name, api string) (Fault, bool) {
	all := Faults()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name && f.API == api })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}

// bend replaces a piece of the frames of a method.
func bend(method, old, new string) quirk {
	return quirk{frame: func(m string, frame []byte) []byte {
		if m != method {
			return frame
		}
		return bytes.Replace(frame, []byte(old), []byte(new), 1)
	}}
}

func lax(rules ...string) quirk { return quirk{lax: rules} }

func doing(what string) quirk { return quirk{does: what} }

// hiding empties what the extension is told of itself.
func hiding(hides func(told *launch.Wire)) quirk { return quirk{hides: hides} }

// unsorted is a member with flags in another order than that of their names.
const unsorted = `"flag_values":[{"name":"b","value":true},{"name":"a","value":true}],`

// longNotice sends one byte more than a frame may have.
func longNotice(h *host) {
	h.write("", bytes.Repeat([]byte("x"), h.d.FrameBound()+1))
}

// goesOn writes a call behind shutdown. Both are one write: an extension that ends at shutdown has read it.
func goesOn(api string) quirk {
	d, err := dialect.For(api)
	if err != nil {
		panic(err)
	}
	call := d.Request("9", dialect.ToolCall, d.Call("echo", dialect.Object{}))
	return quirk{frame: func(method string, frame []byte) []byte {
		if method != dialect.Shutdown {
			return frame
		}
		return append(append(frame, call...), '\n')
	}}
}

// speech are faults in what a host writes.
var speech = []Fault{
	{"ends-lines-twice", "EXT04-FRAME-011", current, "writes a blank line behind every frame", quirk{frame: func(_ string, b []byte) []byte { return append(b, '\n') }}},
	{"calls-in-batches", "EXT04-FRAME-011", middle, "writes its calls in batches of one", quirk{frame: func(m string, b []byte) []byte {
		if m != dialect.ToolCall {
			return b
		}
		return append(append([]byte("["), bytes.TrimSuffix(b, []byte("\n"))...), "]\n"...)
	}}},
	{"ends-lines-twice", "EXT03-FRAME-009", canonical, "writes a blank line behind every frame", quirk{frame: func(_ string, b []byte) []byte { return append(b, '\n') }}},
	{"writes-blanks", "EXT03-CANON-013", canonical, "writes a blank behind the first colon", quirk{frame: func(_ string, b []byte) []byte { return bytes.Replace(b, []byte(":"), []byte(": "), 1) }}},
	{"calls-at-once", "EXT04-INIT-008", current, "calls a tool before initialize is answered", quirk{before: func(h *host) { h.early = true }}},
	{"calls-first", "EXT04-INIT-008", frozen, "begins with a call", quirk{before: func(h *host) { h.request("7", dialect.ToolCall, h.call()) }}},
	{"calls-first", "EXT03-INIT-029", canonical, "begins with a call", quirk{before: func(h *host) { h.request("7", dialect.ToolCall, h.call()) }}},
	{"says-another-octet", "EXT04-INIT-009", current, "names its own release", bend(dialect.Initialize, `"octet_version":"0.8.0"`, `"octet_version":"1.0.0"`)},
	{"says-another-octet", "EXT03-INIT-037", canonical, "names its own release", bend(dialect.Initialize, `"octet_version":"0.8.0"`, `"octet_version":"1.0.0"`)},
	{"leaves-out-hooks", "EXT04-INIT-012", middle, "leaves out an empty list of what the manifest declares", bend(dialect.Initialize, `"hooks":[],`, ``)},
	{"adds-flags", "EXT03-INIT-038", canonical, "repeats flags among what the manifest declares", bend(dialect.Initialize, `"hooks":[],`, `"flags":[],"hooks":[],`)},
	{"writes-ids-as-text", "EXT04-ENV-014", current, "writes its ids as strings", quirk{frame: func(m string, b []byte) []byte {
		if m == dialect.ToolCall {
			return bytes.Replace(b, []byte(`"id":2`), []byte(`"id":"2"`), 1)
		}
		return b
	}}},
	{"reuses-its-id", "EXT04-ENV-014", frozen, "numbers every request by one", quirk{before: func(h *host) { h.sameID = true }}},
	{"reuses-its-id", "EXT03-ENV-022", canonical, "numbers every request by one", quirk{before: func(h *host) { h.sameID = true }}},
	{"triggers-unasked", "EXT04-ORDER-011", current, "tells of a shortcut that nobody registered", quirk{opened: func(h *host) { h.notify(featurewire.MethodShortcutTrigger, dialect.Object{"id": "x"}) }}},
	{"runs-hooks-unasked", "EXT03-METHOD-008", canonical, "runs a hook that was not selected", quirk{opened: func(h *host) { h.request("7", canonicalwire.MethodHookRun, dialect.Object{}) }}},
	{"cancels-twice", "EXT04-CANCEL-010", current, "cancels a call again", quirk{cancel: func(h *host) { h.notify(dialect.Cancel, h.d.Cancel("2", "user")) }}},
	{"cancels-what-nobody-asked", "EXT03-CANCEL-010", canonical, "cancels a request that it never made", quirk{opened: func(h *host) { h.notify(dialect.Cancel, h.d.Cancel("99", "user")) }}},
	{"cancels-on-frozen", "EXT01-CANCEL-002", frozen, "cancels a call on the version without cancellation", quirk{before: func(h *host) { h.cancels = true }}},
	{"adds-flags", "EXT04-INIT-013", current, "gives flags in the order of its map", bend(dialect.Initialize, `"host":`, unsorted+`"host":`)},
	{"adds-flags", "EXT01-INIT-003", frozen, "gives flags to the version that has none", bend(dialect.Initialize, `"host":`, unsorted+`"host":`)},
	{"shuffles-flags", "EXT03-INIT-031", canonical, "gives flags in the order of its map", bend(dialect.Initialize, `"flag_values":[],`, unsorted)},
	{"revises-on-frozen", "EXT01-CALL-001", frozen, "names a revision of the catalog to the version that has none", bend(dialect.ToolCall, `"params":{`, `"params":{"catalog_revision":1,`)},
	{"answers-nothing", "EXT04-ENV-015", current, "answers what nobody has asked", quirk{opened: func(h *host) { h.write("", h.d.Result(`"c-1"`, dialect.Object{})) }}},
	{"answers-nothing", "EXT03-ORDER-015", canonical, "answers what nobody has asked", quirk{opened: func(h *host) { h.write("", h.d.Result(`"c-1"`, dialect.Object{})) }}},
	{"asks-by-notification", "EXT03-ENV-023", canonical, "sends a cancellation with an id", quirk{opened: func(h *host) { h.request("8", dialect.Cancel, h.d.Cancel("1", "user")) }}},
	{"writes-long-frames", "EXT04-FRAME-012", middle, "writes frames of any length", quirk{opened: longNotice}},
	{"writes-long-frames", "EXT03-FRAME-016", canonical, "writes frames of any length", quirk{opened: longNotice}},
	{"goes-on-behind-shutdown", "EXT04-SHUT-007", middle, "asks for something behind shutdown", goesOn(middle)},
	{"goes-on-behind-shutdown", "EXT03-SHUT-012", canonical, "asks for something behind shutdown", goesOn(canonical)},
}

// judgement are faults in what a host makes of what it reads.
var judgement = []Fault{
	{"takes-any-version", "EXT04-NEG-011", middle, "does not look at the version of the answer", lax("EXT04-INIT-002", "EXT04-NEG-001")},
	{"needs-no-selection", "EXT04-NEG-012", current, "does not look for a selection", lax("EXT04-NEG-001", "EXT04-NEG-002", "EXT04-NEG-005", "EXT04-INIT-002")},
	{"needs-no-features", "EXT04-NEG-013", middle, "does not look for the required features", lax("EXT04-NEG-002")},
	{"takes-any-feature", "EXT04-NEG-014", current, "takes features that it did not offer", lax("EXT04-NEG-003", "EXT04-NEG-007", "EXT04-INIT-002")},
	{"takes-doubles", "EXT04-NEG-015", middle, "takes a feature that is named twice", lax("EXT04-NEG-004")},
	{"takes-any-limit", "EXT04-NEG-016", current, "does not look at the limits", lax("EXT04-NEG-005", "EXT04-INIT-002")},
	{"takes-any-subscription", "EXT04-NEG-018", current, "does not look at what events are asked for", lax("EXT04-NEG-006")},
	{"takes-any-catalog", "EXT04-NEG-019", frozen, "does not compare the catalog with the manifest", lax("EXT04-INIT-003")},
	{"takes-lone-features", "EXT04-NEG-021", current, "does not look at what features need", lax("EXT04-NEG-020")},
	{"takes-selections-on-frozen", "EXT01-NEG-001", frozen, "passes over a selection that it did not ask for", lax("EXT01-INIT-001", "EXT04-INIT-002")},
	{"reads-any-line", "EXT04-FRAME-013", current, "passes over lines that are no JSON objects", lax("EXT04-FRAME-001", "EXT04-FRAME-003", "EXT04-ENV-001")},
	{"reads-any-length", "EXT04-FRAME-014", middle, "reads lines of any length", lax("EXT04-FRAME-004", "EXT04-CANCEL-002", "EXT04-CANCEL-009")},
	{"wants-compact-lines", "EXT04-FRAME-015", current, "ends at white space that it need not see", quirk{strict: []string{"EXT04-FRAME-008", "EXT04-FRAME-009"}}},
	{"ends-at-second-answer", "EXT04-ENV-016", middle, "ends at an answer that comes twice", quirk{strict: []string{"EXT04-ENV-006"}}},
	{"takes-any-result", "EXT04-CALL-009", current, "shows whatever a tool answers", lax("EXT04-RESULT-001", "EXT04-RESULT-002")},
	{"takes-any-answer", "EXT03-INIT-033", canonical, "takes any answer to initialize", quirk{lax: []string{
		"EXT03-INIT-002", "EXT03-INIT-003", "EXT03-INIT-004", "EXT03-CONTRACT-001", "EXT03-CONTRACT-002", "EXT03-CONTRACT-003", "EXT03-CONTRACT-004",
		"EXT03-CONTRACT-005", "EXT03-CONTRACT-006", "EXT03-CONTRACT-007", "EXT03-CONTRACT-012", "EXT03-INIT-009",
	}}},
	{"takes-any-names", "EXT03-INIT-036", canonical, "does not look at the names of tools", lax("EXT03-INIT-006", "EXT03-INIT-007", "EXT03-INIT-009")},
	{"strips-carriage-returns", "EXT03-FRAME-012", canonical, "reads lines that end in CR LF", lax("EXT03-FRAME-002", "EXT03-CANON-001")},
	{"reads-what-is-no-json", "EXT03-READ-025", canonical, "passes over what is no JSON", lax("EXT03-CANON-011", "EXT03-FRAME-004")},
	{"reads-any-spelling", "EXT03-READ-026", canonical, "reads JSON in any spelling", lax("EXT03-CANON-001", "EXT03-CANON-002", "EXT03-CANON-004", "EXT03-CANON-006")},
	{"reads-repeated-keys", "EXT03-READ-027", canonical, "lets the last of two equal keys win", lax("EXT03-CANON-003")},
	{"reads-fractions", "EXT03-READ-028", canonical, "reads numbers with a fraction", lax("EXT03-CANON-008")},
	{"repairs-text", "EXT03-READ-029", canonical, "replaces what is no UTF-8", lax("EXT03-FRAME-007", "EXT03-CANON-007")},
	{"reads-any-envelope", "EXT03-ENV-019", canonical, "does not look at the outer object", lax("EXT03-ENV-001", "EXT03-ENV-002")},
	{"reads-any-error", "EXT03-ENV-020", canonical, "does not look errors up", lax("EXT03-ERR-001", "EXT03-ERR-002", "EXT03-CANCEL-003", "EXT03-CANCEL-004")},
}

// conduct are faults in what a host does.
var conduct = []Fault{
	{"skips-arguments", "EXT04-CALL-007", current, "sends arguments that do not fit", doing(skipsArguments)},
	{"repeats-calls", "EXT04-CALL-010", middle, "makes a call again that ended without an answer", doing(repeatsCalls)},
	{"hides-identity", "EXT04-ENVIRON-001", frozen, "does not tell an extension its name", hiding(func(told *launch.Wire) { told.Name, told.APIVersion = "", "" })},
	{"hides-place", "EXT04-ENVIRON-002", current, "does not tell an extension where it is", hiding(func(told *launch.Wire) { told.Dir, told.ManifestPath = "", "" })},
	{"hides-workspace", "EXT04-ENVIRON-003", middle, "does not tell an extension where it works", hiding(func(told *launch.Wire) { told.Workspace = "" })},
	{"gives-no-scratch", "EXT04-ENVIRON-004", current, "makes no scratch directory", hiding(func(told *launch.Wire) { told.Scratch = "" })},
	{"passes-everything-on", "EXT04-ENVIRON-006", current, "passes its own environment on", doing(passesAll)},
	{"never-cancels", "EXT04-CANCEL-015", current, "ends the extension when it is interrupted", doing(neverCancels)},
	{"never-cancels", "EXT03-CANCEL-013", canonical, "ends the extension when it is interrupted", doing(neverCancels)},
	{"waits-forever", "EXT04-CANCEL-012", middle, "waits for the answer to a cancelled call however long it takes", doing(waitsForever)},
	{"waits-forever", "EXT03-CANCEL-011", canonical, "waits for the answer to a cancelled call however long it takes", doing(waitsForever)},
	{"never-asks-to-end", "EXT04-SHUT-007", frozen, "closes the input of an extension that is to end", doing(neverAsks)},
	{"never-asks-to-end", "EXT03-SHUT-012", canonical, "closes the input of an extension that is to end", doing(neverAsks)},
	{"leaves-extensions", "EXT04-SHUT-008", current, "leaves an extension alone that does not end", doing(leavesAll)},
	{"leaves-extensions", "EXT03-SHUT-009", canonical, "leaves an extension alone that does not end", doing(leavesAll)},
	{"asks-after-transport-failure", "EXT04-FRAME-014", current, "asks for an orderly end behind what it cannot read", doing(endsUnasked)},
}
