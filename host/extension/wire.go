package extension

import (
	"context"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/peer"
)

// wire is what differs between the API versions. All messages pass through one.
type wire interface {
	// profile is that of the host's side.
	profile() *peer.Profile
	// offer makes the params of initialize. It is asked once.
	offer(x *Extension) peer.Value
	// accept judges the answer to initialize: what was settled, and what the connection has to know.
	accept(answer []byte) (*Agreement, *peer.Session, error)
	// offers reports whether the offer holds what opens a method.
	offers(m *wirejson.Method) bool
	// call makes the params of a tool call.
	call(x *Extension, tool string, r Request) peer.Value
	// result judges the answer to a tool call.
	result(ctx context.Context, tool *Tool, answer []byte) (*ToolResult, error)
	// maxDepth is the deepest legal level of a value in a frame.
	maxDepth() int
	// farewell judges the answer to shutdown.
	farewell(answer []byte) error
	// strict says that the wire demands that schemas are schemas.
	strict() bool
}

// identity is what an initialize request says about extension and host.
type identity struct {
	source *Source
	flags  []manifest.FlagValue
	// workspace is the absolute path of the workspace.
	workspace string
	host      HostState
	bound     []*Binding
}

func (i identity) manifest() *manifest.Manifest { return i.source.Manifest }

// text turns a list of any string type into plain strings, never nil: an empty list is written as such.
func text[T ~string](list []T) []string {
	plain := make([]string, len(list))
	for n, s := range list {
		plain[n] = string(s)
	}
	return plain
}

// present makes an optional member of a value that counts as absent when it is zero.
func present[T comparable](value T) wirejson.Opt[T] {
	var zero T
	if value == zero {
		return wirejson.Opt[T]{}
	}
	return wirejson.Some(value)
}
