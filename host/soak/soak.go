// Package soak keeps one host busy for a long time, with many extensions, calls of every size and faults all the time, and
// looks whether it grows: in memory, in goroutines, in descriptors, or in processes.
//
// The extensions are the word counters of the three SDKs on both wires, and one that speaks the wire by hand and breaks
// whatever there is to break. The host runs in a process of its own. Now and then the load pauses, everything that runs
// comes to its end, every extension is brought back into service, and the host is measured: such settled samples are what
// the bands are about, since what is in use under load differs from moment to moment.
//
// A soak needs Linux: it reads what the system knows of the host.
package soak

import (
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/manifestdoc"
)

// The words that make the program play a part of the soak.
const (
	hostWord      = "soak-host"
	extensionWord = "soak-extension"
)

// markVariable is in the environment of everything that the host starts, and in its own.
const markVariable = "SOAK"

// patience bounds every wait; nothing takes nearly as long unless it hangs.
const patience = 120 * time.Second

// languages are what extensions are written in. The last one uses nothing of ours.
var languages = []string{"go", "python", "typescript", raw}

const raw = "raw"

// extensionName is the name of one of several extensions of a language.
func extensionName(language string, n int) string { return fmt.Sprintf("%s-%d", language, n+1) }

// apiOf spreads the versions: those of the SDKs alternate between the two current ones, the others take turns.
func apiOf(language string, n int) string {
	if language == raw {
		return manifestdoc.TableAPIWires[n%len(manifestdoc.TableAPIWires)].Version
	}
	return []string{manifestdoc.Version04, manifestdoc.Version03}[n%2]
}

// Sample is a host at one moment.
type Sample struct {
	At      time.Duration `json:"at"` // since the beginning
	Settled bool          `json:"settled"`
	// Heap is what is alive, in bytes, behind a collection if the sample is settled; Resident is what the system counts.
	Heap        int64 `json:"heap"`
	Resident    int64 `json:"resident"`
	Goroutines  int64 `json:"goroutines"`
	Descriptors int64 `json:"descriptors"`
	// Processes are the host and all that it has started and that still live. Strays are those of them that belong to no
	// extension in service; what an extension in service has started is its own business.
	Processes int64 `json:"processes"`
	Strays    int64 `json:"strays"`
	// Load is that of the machine in the minute before.
	Load   float64 `json:"load"`
	Counts Counts  `json:"counts"`
}

// Counts are what was done up to a sample.
type Counts struct {
	Calls     int64 `json:"calls"`
	Answered  int64 `json:"answered"`
	Cancelled int64 `json:"cancelled"`
	Failed    int64 `json:"failed"` // their extension was broken or away
	// Wrong are answers that are not those of their question, which must not be.
	Wrong    int64            `json:"wrong"`
	Records  int64            `json:"records"` // of sessions
	Faults   map[string]int64 `json:"faults"`
	Answers  map[string]int64 `json:"answers"` // by extension
	Restarts int64            `json:"restarts"`
}

// order is what a host is asked for, and answer what it says: one line of JSON each.
type order struct {
	Op string `json:"op"` // one of the op constants
}

const (
	opLook   = "look"   // answered at once
	opSettle = "settle" // answered when everything has come to rest, which lasts until opResume
	opResume = "resume" // puts the host under load again; not answered
	opClose  = "close"  // shuts everything down; then the host exits
)

type answer struct {
	Sample Sample `json:"sample"`
	Error  string `json:"error,omitempty"`
	// Living are the scratch directories of the extensions that run: what is in the environment of all that belongs to them.
	Living []string `json:"living,omitempty"`
}
