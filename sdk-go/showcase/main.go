// Command showcase is one extension that uses all of the SDK, in each version of the API. Its twins in the other
// SDKs offer the same, so that one scripted host can talk with all of them.
package main

import (
	"os"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() {
	api := extension.API(os.Getenv(featurewire.TableWireEnvironment[0].Variable))
	switch {
	case api != "":
	case len(os.Args) > 1: // the manifest says what it speaks under a host that does not
		api = extension.API(os.Args[1])
	default:
		api = extension.API04
	}
	extension.Main(build(api))
}

// build returns the showcase in an API version.
func build(api extension.API) *extension.Extension {
	options := &extension.Options{API: api, UsesAll: true}
	if api == extension.API02 || api == extension.API04 {
		options.DynamicTools, options.RuntimeCommands = true, true
	}
	s := &showcase{api: api, ext: extension.New(options)}
	s.addTools()
	if api == extension.API03 {
		s.addCanonical()
		return s.ext
	}
	s.addFeatureTools()
	s.addCommands()
	s.addHooks()
	s.addCollectors()
	if api != extension.API01 {
		s.addEvents()
		s.addEditor()
	}
	return s.ext
}

// showcase is what the handlers share.
type showcase struct {
	api     extension.API
	ext     *extension.Extension
	session handle
	record  record
}
