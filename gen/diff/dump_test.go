package diff

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// dump prints the models of a random spec for the message of a failed test.
func dump(s *model.Spec) string {
	var b strings.Builder
	for _, m := range s.Wires[0].Models {
		fmt.Fprintf(&b, "%s %s closed %v open %v values %v forbidden %v exactly one %v at most one %v", m.Name, m.Kind, m.Closed, m.Open, values(m), m.Forbidden, m.ExactlyOne, m.AtMostOne)
		if m.Type != nil {
			b.WriteString(" " + dumpType(m.Type))
		}
		if m.Word != nil {
			b.WriteString(" " + m.Word.Name + " or " + m.Object.Name)
		}
		b.WriteByte('\n')
		for _, f := range m.Fields {
			fmt.Fprintf(&b, "  %s required %v nullable %v %s\n", f.Name, f.Required, f.Nullable, dumpType(f.Type))
		}
		for _, v := range m.Variants {
			fmt.Fprintf(&b, "  %s deferred %v %s\n", v.TagValue, v.Deferred, v.Record.Name)
		}
	}
	return b.String()
}

func dumpType(t *model.Type) string {
	switch {
	case t.Ref != nil:
		return t.Ref.Name
	case t.Elem != nil:
		flat := *t
		flat.Elem = nil
		return dumpType(&flat) + " of " + dumpType(t.Elem)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
