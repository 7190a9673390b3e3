package profile

import (
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places are the lines of a profile's tables and of their keys, from 1: "call 2" and "call 2.tool", "slow".
type places map[string]int

// placesOf reads a document that is known to be sound. What it cannot place has no line.
func placesOf(data []byte) places {
	found, counts, table := places{}, map[string]int{}, ""
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		keys := e.Key()
		if !keys.Next() {
			continue
		}
		name := keys.Node().Data
		line := p.Shape(p.Range(name)).Start.Line
		switch e.Kind {
		case unstable.Table:
			table = string(name)
			found[table] = line
		case unstable.ArrayTable:
			counts[string(name)]++
			table = fmt.Sprintf("%s %d", name, counts[string(name)])
			found[table] = line
		case unstable.KeyValue:
			if table == "" {
				found[string(name)] = line
				continue
			}
			found[table+"."+string(name)] = line
		}
	}
	return found
}

// of is the line of a key of a table, or that of the table.
func (p places) of(table, key string) int {
	if line := p[table+"."+key]; line > 0 {
		return line
	}
	return p[table]
}
