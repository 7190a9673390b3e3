// Package toolname spells the names of tools for providers that allow fewer characters, or shorter names,
// than extensions do.
package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/octet-dev/octet/host/model"
)

// Names translates between the names of one request and those on a wire.
type Names struct {
	most int
	ours map[string]string // by name on the wire
}

// For prepares the names of tools for a wire that takes letters, digits, _ and -, at most so many bytes.
func For(tools []model.Tool, most int) *Names {
	n := &Names{most: most, ours: make(map[string]string, len(tools))}
	for _, t := range tools {
		n.ours[n.Wire(t.Name)] = t.Name
	}
	return n
}

// Wire is how a name is spelt on the wire: always the same for the same name, and never the same for two.
func (n *Names) Wire(name string) string {
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if legal == name && len(name) <= n.most && name != "" {
		return name
	}
	const digits = 12
	sum := sha256.Sum256([]byte(name))
	legal = legal[:min(len(legal), n.most-digits-1)]
	return legal + "-" + hex.EncodeToString(sum[:])[:digits]
}

// Ours is the name behind one on the wire. What was not offered stays as it is: the model made it up.
func (n *Names) Ours(wire string) string {
	if name, ok := n.ours[wire]; ok {
		return name
	}
	return wire
}
