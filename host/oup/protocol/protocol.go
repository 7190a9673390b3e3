// Package protocol looks up the fixed texts of OUP: paths, header and parameter names, words.
package protocol

import (
	"strconv"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Text returns a fixed text of the protocol by its name in the table. It panics on a name that the table does
// not have, so ask once, while a program starts.
func Text(name string) string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == name {
			return row.Value
		}
	}
	panic("oup protocol: the table has no text " + strconv.Quote(name))
}

// CloseReason returns the text that goes with a WebSocket close code. It panics on a code that the table does
// not have.
func CloseReason(code int) string {
	for _, row := range oupwire.TableCloseCodes {
		if row.Code == strconv.Itoa(code) {
			return row.Reason
		}
	}
	panic("oup protocol: the table has no close code " + strconv.Itoa(code))
}
