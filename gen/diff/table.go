package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

const noteTable = "what a row of this table means is prose"

func (t *tree) table(name string) *model.Table {
	for _, table := range t.wire.Tables {
		if table.Name == name {
			return table
		}
	}
	return nil
}

// tables compares the fixed tables row by row.
func (c *comparison) tables() {
	for _, b := range c.new.wire.Tables {
		r := row{place: rowPlace(New, b.At), subject: "table " + b.Name, kind: KindTable}
		a := c.old.table(b.Name)
		if a == nil {
			r.reason, r.added = "the table is new", true
			c.all(r, Unknown, noteTable)
			continue
		}
		c.table(r, a, b)
	}
	for _, a := range c.old.wire.Tables {
		if c.new.table(a.Name) == nil {
			r := row{place: rowPlace(Old, a.At), subject: "table " + a.Name, kind: KindTable, reason: "the table is gone"}
			c.all(r, Unknown, noteTable)
		}
	}
}

func (c *comparison) table(r row, a, b *model.Table) {
	if !slices.Equal(a.Columns, b.Columns) {
		r.reason = fmt.Sprintf("the columns were %s, are %s", strings.Join(a.Columns, ", "), strings.Join(b.Columns, ", "))
		c.all(r, Unknown, noteTable)
		return
	}
	without := func(rows, other [][]string) [][]string {
		return slices.DeleteFunc(slices.Clone(rows), func(row []string) bool {
			return slices.ContainsFunc(other, func(o []string) bool { return slices.Equal(row, o) })
		})
	}
	for _, cells := range without(b.Rows, a.Rows) {
		r.reason, r.added = "the row "+strings.Join(cells, " | ")+" is new", true
		c.all(r, Unknown, noteTable)
	}
	for _, cells := range without(a.Rows, b.Rows) {
		r.reason, r.added = "the row "+strings.Join(cells, " | ")+" is gone", false
		c.all(r, Unknown, noteTable)
	}
}
