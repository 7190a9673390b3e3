// Package refs finds the references to what a host keeps in the structured content of results.
package refs

import (
	"encoding/json"

	"github.com/octet-dev/octet/generated/wirejson"
)

// In returns the references anywhere in a value, in their order. Decode reads one; nothing is looked for inside
// of it.
func In[R any](value json.RawMessage, decode func(wirejson.Value) (R, error)) []R {
	doc, err := wirejson.Parse(value, wirejson.DefaultMaxDepth)
	if err != nil {
		return nil
	}
	defer doc.Release()
	var found []R
	var walk func(v wirejson.Value)
	walk = func(v wirejson.Value) {
		if ref, err := decode(v); err == nil {
			found = append(found, ref)
			return
		}
		for m := v.Members(); m.Next(); {
			walk(m.Value())
		}
		for e := v.Elements(); e.Next(); {
			walk(e.Value())
		}
	}
	walk(doc.Root())
	return found
}
