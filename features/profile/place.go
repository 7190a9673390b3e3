package profile

import (
	"fmt"
	"strings"

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

// foreign is a value of a profile that JSON does not have.
type foreign struct {
	where string // the table, such as "call 2"
	line  int
	text  string
	kind  unstable.Kind
}

// detail says what is wrong with the value, and what to write.
func (f foreign) detail() string {
	if f.kind == unstable.Float {
		return fmt.Sprintf("%s: %s: JSON has neither inf nor nan; write a number, or a string", f.where, f.text)
	}
	return fmt.Sprintf("%s: %s is a date or a time, which JSON has not; write a string: %q", f.where, f.text, f.text)
}

// foreigners finds the values of a sound document that JSON does not have.
func foreigners(data []byte) []foreign {
	var found []foreign
	counts, where := map[string]int{}, ""
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		keys := e.Key()
		if !keys.Next() {
			continue
		}
		name := string(keys.Node().Data)
		switch e.Kind {
		case unstable.ArrayTable:
			counts[name]++
			where = fmt.Sprintf("%s %d", name, counts[name])
		case unstable.Table:
			where = name
			if n := counts[name]; n > 0 { // a table inside the newest of an array
				where = fmt.Sprintf("%s %d", name, n)
			}
		case unstable.KeyValue:
			visit(e.Value(), func(v *unstable.Node) {
				table := where
				if table == "" {
					table = name
				}
				found = append(found, foreign{where: table, line: p.Shape(p.Range(v.Data)).Start.Line, text: string(v.Data), kind: v.Kind})
			})
		}
	}
	return found
}

// visit calls a function for every value below a node that JSON does not have.
func visit(n *unstable.Node, each func(*unstable.Node)) {
	switch n.Kind {
	case unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
		each(n)
	case unstable.Float:
		if text := string(n.Data); strings.HasSuffix(text, "inf") || strings.HasSuffix(text, "nan") {
			each(n)
		}
	case unstable.Array, unstable.InlineTable:
		for children := n.Children(); children.Next(); {
			visit(children.Node(), each)
		}
	case unstable.KeyValue:
		visit(n.Value(), each)
	}
}
