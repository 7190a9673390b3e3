// Package resultbounds holds the structured parts of a tool result on the feature wire to their bounds:
// encoded bytes, levels, values and keys. The side that writes a result and the side that reads it use it alike.
package resultbounds

import (
	"encoding/json"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Bounds limit one JSON value of a tool result.
type Bounds struct {
	what                 string
	bytes, levels, nodes int
	keyBytes             int // 0: no bound
}

// The bounds of the two structured members of a result.
//
// Rules: EXT04-RESULT-007, EXT04-RESULT-008.
var (
	Structured = Bounds{
		what: "structured content", bytes: featurewire.MaxStructuredContentBytes, levels: featurewire.MaxStructuredDepth,
		nodes: featurewire.MaxStructuredNodes,
	}
	Metadata = Bounds{
		what: "metadata", bytes: featurewire.MaxMetadataBytes, levels: featurewire.MaxStructuredDepth,
		nodes: featurewire.MaxStructuredNodes, keyBytes: featurewire.MaxMetadataKeyBytes,
	}
)

// Check reports whether a value stays within the bounds; its error says which one it passes. No value
// (nil) passes none.
func (b Bounds) Check(value json.RawMessage) error {
	if value == nil {
		return nil
	}
	document, err := wirejson.Parse(value, b.levels)
	if err != nil {
		return fmt.Errorf("the %s is not JSON of at most %d levels: %w", b.what, b.levels, err)
	}
	defer document.Release()
	if len(value) > b.bytes { // the canonical spelling is never the longer one
		if size := len(document.Root().AppendCanonical(nil)); size > b.bytes {
			return fmt.Errorf("the %s has %d bytes, more than %d: return less of it", b.what, size, b.bytes)
		}
	}
	nodes, longest := measure(document.Root())
	if nodes > b.nodes {
		return fmt.Errorf("the %s has %d values, more than %d: return less of it", b.what, nodes, b.nodes)
	}
	if b.keyBytes > 0 && len(longest) > b.keyBytes {
		return fmt.Errorf("the key %.40q... of the %s has %d bytes, more than %d: shorten it", longest, b.what, len(longest), b.keyBytes)
	}
	return nil
}

// measure counts the values in a value, itself included, and returns its longest key.
func measure(v wirejson.Value) (nodes int, longest string) {
	nodes = 1
	note := func(count int, key string) {
		nodes += count
		if len(key) > len(longest) {
			longest = key
		}
	}
	for walk := v.Members(); walk.Next(); {
		note(0, string(walk.Key()))
		note(measure(walk.Value()))
	}
	for walk := v.Elements(); walk.Next(); {
		note(measure(walk.Value()))
	}
	return nodes, longest
}
