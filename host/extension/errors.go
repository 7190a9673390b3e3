package extension

import (
	"fmt"
	"strings"

	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// ManifestError says that a manifest cannot be used. Its Verdict holds every problem.
type ManifestError struct {
	Path    string
	Verdict manifest.Verdict
}

// Error is the one line about the problem that comes first in the fixed order of checks.
func (e *ManifestError) Error() string { return e.Path + ": " + e.Verdict.Summary() }

// Kind says what went wrong with a started extension, or why it did not start.
type Kind int

// The kinds of Failure.
const (
	Launch     Kind = iota + 1 // there is nothing to run, or the system refused to run it
	Initialize                 // it refused to initialize, or answered with what cannot be accepted
	Protocol                   // it broke a rule of its wire
	Closed                     // it ended, or closed its output, although nobody asked it to
	Refused                    // it answered the call with an error
	Result                     // its result of the call breaks the rules; the connection lives on
	Timeout                    // it did not answer initialize or the call in time
	Cancelled                  // the caller cancelled
	Unsent                     // the request cannot be written, or is not open; the connection lives on
)

var kindNames = [...]string{"", "launch", "initialize", "protocol", "closed", "refused", "result", "timeout", "cancelled", "unsent"}

// String is the word for reports.
func (k Kind) String() string { return kindNames[k] }

// Failure is what everything that goes wrong with an extension is reported as.
type Failure struct {
	Kind Kind
	// Message is one line for people.
	Message string
	// Unsettled: it was cancelled and did not answer within the grace, so its process had to be ended.
	Unsettled bool
	// Ended says how the process came down, if it did.
	Ended *process.Report
	// Stderr is what the extension has said lately.
	Stderr process.Tail
	// Ignored sums up what the extension sent in vain.
	Ignored Ignored
	// Cause is the error underneath; it may be nil.
	Cause error
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// UnknownToolError says that the extension has no tool of that name.
type UnknownToolError struct {
	Extension, Tool string
	Known           []string // in the order of the catalog
}

// Error names the tool and, if there is one, the one that was probably meant.
func (e *UnknownToolError) Error() string {
	text := fmt.Sprintf("extension %q has no tool %q", e.Extension, e.Tool)
	switch guess := near.Find(e.Tool, e.Known); {
	case guess != "":
		return fmt.Sprintf("%s; did you mean %q?", text, guess)
	case len(e.Known) == 0:
		return text + "; it has none"
	default:
		return text + "; it has " + strings.Join(e.Known, ", ")
	}
}

// ArgumentError says that arguments do not fit the tool's parameters. Nothing was sent.
type ArgumentError struct {
	Tool string
	Err  error
}

// Error names the tool and every mismatch.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("arguments of tool %q: %v", e.Tool, e.Err)
}

// Unwrap returns the mismatch.
func (e *ArgumentError) Unwrap() error { return e.Err }
