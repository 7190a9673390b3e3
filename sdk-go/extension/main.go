package extension

import (
	"os"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Exit statuses of Main.
const (
	ExitEnded    = 0 // shutdown, or the end of stdin
	ExitFault    = 1 // a refused initialize, a broken stream, a lost stdout
	ExitMismatch = 2 // the host has started the program for another API version
)

// Main serves the extension on stdin and stdout and exits the process; it does not return. Stdout belongs to
// the protocol: from here on os.Stdout is stderr, and so is descriptor 1 for C code and for children. Read
// nothing from os.Stdin. See the Exit constants for the status.
//
// Main panics if ext is nil.
func Main(ext *Extension) {
	if ext == nil {
		panic("extension: the extension is nil: make one with New")
	}
	os.Exit(ext.main())
}

func (e *Extension) main() int {
	variable := featurewire.TableWireEnvironment[0].Variable
	if version := os.Getenv(variable); version != "" && version != string(e.api) {
		e.log.printf("%s is %q, but this program speaks %q: make api_version of the manifest agree with extension.Options.API", variable, version, e.api)
		return ExitMismatch
	}
	in, out, err := takeStdio()
	if err != nil {
		e.log.printf("%v", err)
		return ExitFault
	}
	s := e.start(e.streams(in, out))
	// Not Wait: a read of stdin may be blocked for good, and a handler may ignore its context. The process
	// ends them both.
	<-s.conn.Done()
	if err := s.verdict(s.conn.Err()); err != nil {
		e.log.printf("%v", err)
		return ExitFault
	}
	return ExitEnded
}
