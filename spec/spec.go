// Package spec carries the truth of every wire as data.
//
// Files holds the JSON documents below this folder; README.md describes them. Nothing but this file is
// code, and it only makes the data part of our binaries.
package spec

import "embed"

// Files is the spec tree, rooted at this folder.
//
//go:embed wires.json extension-feature extension-canonical manifest oup meta rules vectors requirements
var Files embed.FS
