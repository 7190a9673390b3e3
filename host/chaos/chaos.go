// Package chaos breaks a host on purpose, many times, and looks at what is left: a seeded campaign of faults
// against real host processes with real extensions. Hosts and extensions are killed, hang, close their pipes,
// flood standard error, leave processes behind, write half a frame, and are reloaded and cancelled in the
// middle of calls.
//
// After every fault it holds that each call has exactly one outcome and ran at most once, that every
// extension is in service again, and that no process is there that should not be. After every end of a host
// nothing of it is left, and every record that the session store has acknowledged is still there.
//
// A campaign needs Linux: it finds processes by their environment.
package chaos

import (
	"time"

	"github.com/octet-dev/octet/generated/manifestdoc"
)

// The words that make the program play a part of the campaign.
const (
	hostWord      = "chaos-host"
	extensionWord = "chaos-extension"
)

// Names in the directory of one host.
const (
	extensionsName = "extensions"
	workspaceName  = "workspace"
	storeName      = "sessions.db"
	ledgerName     = "acknowledged"
	recordName     = "record"
	faultsName     = "faults"
)

// markVariable is in the environment of everything that one host starts, and in its own.
const markVariable = "CHAOS"

// apis are the API versions, each with an extension of its own, named by extensionName.
var apis = func() (list []string) {
	for _, row := range manifestdoc.TableAPIWires {
		list = append(list, row.Version)
	}
	return list
}()

func extensionName(api string) string { return "api-" + api[:1] + "-" + api[2:] }

// order is what the campaign asks a host for: one line of JSON.
type order struct {
	Op        string `json:"op"` // one of the op constants
	ID        int    `json:"id"`
	Extension string `json:"extension,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Text      string `json:"text,omitempty"`
	Signal    bool   `json:"signal,omitempty"` // opClose: within the bound of a signal
}

// What a host is asked for.
const (
	opCall   = "call"   // one tool call; answered by its outcome
	opCancel = "cancel" // ends the context of the call ID; not answered
	opReload = "reload" // answered by the outcome
	opSettle = "settle" // answered when nothing runs and every extension is ready
	opClose  = "close"  // shuts everything down; answered, then the host exits
)

// answer is what a host says: one line of JSON.
type answer struct {
	ID int `json:"id"`
	// Error of a call, a reload or a settlement; empty if it went well.
	Error string `json:"error,omitempty"`
	// Runs is how often the operation of a call was begun.
	Runs int `json:"runs,omitempty"`
	// Processes are the living extensions, by the scratch directory of their generation.
	Processes map[string]int `json:"processes,omitempty"` // scratch, then process id
	// Leaders are the same by name.
	Leaders map[string]int `json:"leaders,omitempty"`
}

// The id of what a host says unasked once everything has started.
const helloID = -1

// patience bounds every wait of the campaign; nothing takes nearly as long unless it hangs.
const patience = 60 * time.Second
