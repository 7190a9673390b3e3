package faultyhost

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// What a host of the canonical wire does otherwise.
const (
	wantsRoom       = "wants room"
	waitsForLines   = "waits for lines"
	readsOn         = "reads on"
	dropsNumbers    = "drops numbers"
	writesAnyLength = "writes any length"
	wantsSorted     = "wants sorted"
	wantsMethods    = "wants methods"
	fallsBack       = "falls back"
	usesShell       = "uses shell"
	endsAtResults   = "ends at results"
	endsAtErrors    = "ends at errors"
	leavesStderr    = "leaves stderr"
	boundsTexts     = "bounds texts"
)

// canonicalReading are faults in what a host makes of the frames of the canonical wire.
var canonicalReading = []Fault{
	{"wants-room", "EXT03-FRAME-010", canonical, "ends at a frame of exactly the bound", doing(wantsRoom)},
	{"waits-for-line-feeds", "EXT03-FRAME-011", canonical, "waits for a line feed however much has come", doing(waitsForLines)},
	{"passes-empty-lines", "EXT03-FRAME-013", canonical, "passes over empty lines", lax("EXT03-FRAME-003", "EXT03-CANON-011")},
	{"keeps-the-offered-bound", "EXT03-FRAME-017", canonical, "reads under the offered bound for good", lax("EXT03-FRAME-005")},
	{"drops-numbers", "EXT03-CANON-014", canonical, "leaves out arguments that it cannot spell", doing(dropsNumbers)},
	{"reads-any-depth", "EXT03-READ-030", canonical, "reads values of any depth", lax("EXT03-CANON-010")},
	{"reads-on", "EXT03-READ-031", canonical, "looks at what stands behind a frame that it refused", doing(readsOn)},
	{"takes-any-response", "EXT03-ENV-021", canonical, "passes over answers to what it never asked", lax("EXT03-ORDER-006", "EXT03-ORDER-007")},
	{"takes-any-kind", "EXT03-ENV-027", canonical, "takes a notification with an id and a request without one", quirk{does: takesAnyKind, lax: []string{"EXT03-ENV-026"}}},
	{"passes-notices", "EXT03-METHOD-007", canonical, "passes over notifications that it does not know", doing(passesNotices)},
	{"writes-any-length", "EXT03-LIMIT-006", canonical, "writes calls of any length", doing(writesAnyLength)},
	{"has-one-id-space", "EXT03-ORDER-014", canonical, "refuses a request under an id that it has used itself", instead(unknownMethod, "", func(h *host, q question, sound [][]byte) [][]byte {
		if h.desk.issued[q.id] == nil {
			return sound
		}
		return [][]byte{h.refuse(q.id, badRequest, q.method)}
	})},
}

// canonicalStart are faults in the offer of a host, and in what it makes of a selection.
var canonicalStart = []Fault{
	{"leaves-out-flags", "EXT03-INIT-030", canonical, "leaves out an empty list of flags", bend(dialect.Initialize, `"flag_values":[],`, ``)},
	{"says-null", "EXT03-INIT-040", canonical, "writes null for what the extension may do", bend(dialect.Initialize, `"capabilities":{"filesystem":"none","network":false,"process":false}`, `"capabilities":null`)},
	{"names-another-place", "EXT03-INIT-041", canonical, "names another directory than that of the work", bend(dialect.Initialize, `"workspace":"`, `"workspace":"/nowhere`)},
	{"counts-no-tools", "EXT03-INIT-035", canonical, "does not count the tools of a catalog", lax("EXT03-INIT-004")},
	{"falls-back", "EXT03-INIT-039", canonical, "tries again when its version is refused", doing(fallsBack)},
	{"requires-less", "EXT03-CONTRACT-015", canonical, "offers a required capability as an optional one", quirk{frame: func(m string, b []byte) []byte {
		if m != dialect.Initialize {
			return b
		}
		b = bytes.Replace(b, []byte(`"required_capabilities":["content_parts",`), []byte(`"required_capabilities":[`), 1)
		return bytes.Replace(b, []byte(`"optional_capabilities":[`), []byte(`"optional_capabilities":["content_parts",`), 1)
	}}},
	{"offers-few-tools", "EXT03-CONTRACT-016", canonical, "offers room for fewer tools than the wire has", bend(dialect.Initialize, `"max_tools":256`, `"max_tools":255`)},
	{"offers-halves", "EXT03-CONTRACT-017", canonical, "offers a method whose capability it does not offer", bend(dialect.Initialize, `,"theme_selection"`, ``)},
	{"offers-deferred", "EXT03-CONTRACT-028", canonical, "offers a method that is put off", bend(dialect.Initialize, `"optional_methods":[`, `"optional_methods":["`+cw.MethodToolsRegister+`",`)},
	{"offers-the-other-wire", "EXT03-CONTRACT-029", canonical, "offers a method of the other wire", bend(dialect.Initialize, `"optional_methods":[`, `"optional_methods":["`+featurewire.MethodArtifactPublish+`",`)},
	{"takes-any-name", "EXT03-CONTRACT-018", canonical, "does not compare the names of a selection with its offer", lax("EXT03-CONTRACT-003", "EXT03-CONTRACT-004", "EXT03-CONTRACT-005", "EXT03-CONTRACT-006", "EXT03-CONTRACT-007", "EXT03-CONTRACT-008")},
	{"takes-any-limits", "EXT03-CONTRACT-019", canonical, "does not compare the limits of a selection with its offer", lax("EXT03-CONTRACT-013")},
	{"takes-halves", "EXT03-CONTRACT-020", canonical, "takes session hooks without their method", lax("EXT03-CONTRACT-009", "EXT03-CONTRACT-010")},
	{"takes-any-hooks", "EXT03-CONTRACT-021", canonical, "takes session hooks that the manifest does not declare", lax("EXT03-CONTRACT-011")},
	{"takes-zero", "EXT03-CONTRACT-022", canonical, "takes zero for no limit", lax("EXT03-CONTRACT-012")},
	{"wants-sorted-names", "EXT03-CONTRACT-024", canonical, "wants the names of a selection in its own order", doing(wantsSorted)},
	{"wants-methods", "EXT03-CONTRACT-025", canonical, "wants a method for every capability", doing(wantsMethods)},
	{"passes-everything-on", "EXT03-PROC-012", canonical, "passes its own environment on", doing(passesAll)},
	{"uses-a-shell", "EXT03-PROC-013", canonical, "starts extensions by a shell", doing(usesShell)},
}

// canonicalCalls are faults in calls, and in the answers to requests.
var canonicalCalls = []Fault{
	{"ends-at-results", "EXT03-TOOL-015", canonical, "ends the extension when a result breaks its model", doing(endsAtResults)},
	{"calls-nameless", "EXT03-TOOL-016", canonical, "writes null for the context of a call", quirk{frame: func(m string, b []byte) []byte {
		if m != dialect.ToolCall {
			return b
		}
		return bytes.Replace(b, b[bytes.Index(b, []byte(`"context":`)):bytes.Index(b, []byte(`,"name"`))], []byte(`"context":null`), 1)
	}}},
	{"ends-at-errors", "EXT03-TOOL-017", canonical, "takes the failure of a tool for a broken protocol", doing(endsAtErrors)},
	{"takes-any-part", "EXT03-MODEL-002", canonical, "takes parts of any type", lax("EXT03-TOOL-005", "EXT03-TOOL-006")},
	{"takes-unlisted", "EXT03-MODEL-003", canonical, "takes members that no model lists", lax("EXT03-TOOL-001", "EXT03-TOOL-006")},
	{"takes-null", "EXT03-MODEL-006", canonical, "takes null for any member", lax("EXT03-TOOL-003", "EXT03-TOOL-006")},
	{"wants-cancel-data", "EXT03-ERR-010", canonical, "ends at a cancelled call whose error says nothing more", quirk{strict: []string{"EXT03-ERR-008"}}},
	{"names-no-method", "EXT03-ERR-011", canonical, "does not say which method it does not know", miswrites(unknownMethod, "", `"data":{"method":"peer/unknown"},`, ``)},
	{"bounds-texts", "EXT03-MODEL-009", canonical, "takes short texts only", doing(boundsTexts)},
	{"words-its-own", "EXT03-ERR-012", canonical, "puts what it refuses into the message of an error", miswrites(unknownMethod, "", `unnegotiated method"`, `unnegotiated method peer/unknown"`)},
	{"serves-deferred", "EXT03-METHOD-012", canonical, "serves a method that is put off", grants(cw.MethodToolsRegister, "", `{}`)},
	{"serves-without-a-bus", "EXT03-BUS-011", canonical, "looks into a request for a bus that is not there", refuses(cw.MethodBusDeclare, "", invalid, "")},
	{"leaves-extensions", "EXT03-PROC-010", canonical, "leaves what an extension leaves alone", doing(leavesAll)},
	{"leaves-stderr", "EXT03-PROC-011", canonical, "does not read standard error", doing(leavesStderr)},
}

// command is how an extension is started.
func (h *host) command(path string, args []string) (string, []string) {
	const shell = "/bin/sh"
	switch h.quirk.does {
	case usesShell:
		return shell, []string{"-c", strings.Join(append([]string{path}, args...), " ")}
	case leavesStderr:
		// What sleeps reads nothing.
		return shell, append([]string{"-c", `{ "$0" "$@" 2>&1 >&3 3>&- | sleep 60; } 3>&1`, path}, args...)
	}
	return path, args
}

// overBound reports whether more has come than a frame may have, and no line feed.
func (h *host) overBound(piece []byte, ended bool) bool {
	return h.d.Canonical() && !ended && len(piece) > h.d.FrameBound() && h.quirk.does != waitsForLines
}

// line reads up to a line feed, or until more has come than a frame may have.
func (h *host) line(r *bufio.Reader) ([]byte, error) {
	var payload []byte
	for {
		if _, err := r.Peek(1); err != nil {
			return payload, err
		}
		come, _ := r.Peek(r.Buffered())
		at := bytes.IndexByte(come, '\n') + 1
		if at > 0 {
			come = come[:at]
		}
		payload = append(payload, come...)
		_, _ = r.Discard(len(come))
		if at > 0 || h.overBound(payload, false) {
			return payload, nil
		}
	}
}

// readOn looks at one more frame behind a refused one, as no host may.
func (h *host) readOn() {
	if h.quirk.does != readsOn {
		return
	}
	select {
	case l, open := <-h.lines:
		var m map[string]json.RawMessage
		if open && json.Unmarshal(l.payload, &m) == nil && m["method"] != nil {
			_ = h.petition(m)
		}
	case <-time.After(grace / 4):
	}
}

// suits judges a selection by what only some hosts want of one.
func (h *host) suits(capabilities, methods []string) error {
	switch {
	case h.quirk.does == wantsSorted && !slices.IsSorted(capabilities[:min(len(capabilities), 4)]):
		return fmt.Errorf("the capabilities %q are not sorted", capabilities)
	case h.quirk.does == wantsMethods && slices.ContainsFunc(capabilities, func(name string) bool {
		return !slices.ContainsFunc(methods, func(method string) bool {
			m := cw.LookupMethod(method)
			return m != nil && (m.Gate == name || m.Offer == "required")
		}) || name == cw.CapabilityProviderCatalog && !slices.Contains(methods, cw.MethodProvidersRegister)
	}):
		return fmt.Errorf("one of the capabilities %q has no method", capabilities)
	}
	return nil
}

// prepared makes the arguments of a call what can be written, or says why they cannot.
func (h *host) prepared() error {
	if !h.d.Canonical() {
		return nil
	}
	if !h.d.Spellable(h.Arguments) {
		if h.quirk.does != dropsNumbers {
			return fmt.Errorf("the arguments have no canonical spelling")
		}
		h.Arguments = "{}"
	}
	if n := len(h.d.Request("2", dialect.ToolCall, h.call())); n > h.desk.bound && h.quirk.does != writesAnyLength {
		return fmt.Errorf("the call has %d bytes, and the bound is %d", n, h.desk.bound)
	}
	return nil
}
