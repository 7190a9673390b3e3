// Package wirejson reads and writes the JSON of the octet wires: a strict reader, a validator that
// interprets the generated model descriptors, and the canonical writer.
//
// Generated packages sit on top of it and give every model a struct. Reading goes in three steps over
// one flat array of nodes: [Parse] accepts or refuses the text, [Schema.Validate] accepts or refuses the
// shape, and the generated decode method copies the values out. Nothing decoded points into the bytes
// that were read.
//
// Input never panics and never allocates more than a fixed multiple of its length.
package wirejson
