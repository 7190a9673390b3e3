package hostreferee

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// sentWith holds the first message of a method that the host sent against a table of members, by JSON pointer, and what
// they have to be: a JSON value, or one of the words of memberIs.
func (w *world) sentWith(_ context.Context, method string, t *godog.Table) error {
	var frame json.RawMessage
	for _, p := range w.peers.list() {
		for _, f := range p.frames {
			if frame == nil && hostMethod(f) == method {
				frame = f.Bytes
			}
		}
	}
	if frame == nil {
		return failed("the host never sent %q; it ended with code %d: %s", method, w.host.code, w.complaint())
	}
	var o outcome
	for _, cells := range cellsOf(t) {
		member := pointed(frame, cells["member"])
		fault := w.memberIs(frame, member, cells["value"])
		if fault == "" {
			continue
		}
		text := fmt.Sprintf("%s of %q is %s, want %s", cells["member"], method, orNothing(member), fault)
		if o.text == "" {
			o.class, o.text = verdict.Fail, text
		}
		if cells["rule"] != "" {
			o.blamed = append(o.blamed, verdict.Finding{Rule: cells["rule"], Message: text, Frame: -1, Offset: -1})
		}
	}
	if o.text == "" {
		return nil
	}
	return &o
}

// cellsOf are the rows of a table behind its first, by column.
func cellsOf(t *godog.Table) []map[string]string {
	var rows []map[string]string
	for _, row := range t.Rows[1:] {
		cells := map[string]string{}
		for c, cell := range row.Cells {
			cells[t.Rows[0].Cells[c].Value] = cell.Value
		}
		rows = append(rows, cells)
	}
	return rows
}

func orNothing(v json.RawMessage) string {
	if v == nil {
		return "absent"
	}
	return wire.Printable(v, 200)
}

// memberIs returns what a member should have been; empty where it is that.
func (w *world) memberIs(frame, member json.RawMessage, want string) string {
	var list []string
	var object map[string]json.RawMessage
	names := json.Unmarshal(member, &list) == nil && list != nil
	offered := func(what string) []string {
		var out []string
		for _, necessity := range []string{"required", "optional"} {
			var part []string
			_ = json.Unmarshal(pointed(frame, "/params/contract/"+necessity+"_"+what), &part)
			out = append(out, part...)
		}
		return out
	}
	same := func(rows []string) bool {
		return names && slices.Equal(slices.Sorted(slices.Values(list)), slices.Sorted(slices.Values(rows)))
	}
	var capabilities, methods []string // that are required
	for _, c := range cw.Capabilities {
		if c.Offer == "required" {
			capabilities = append(capabilities, c.Name)
		}
	}
	for _, m := range cw.Methods {
		if m.Offer == "required" {
			methods = append(methods, m.Name)
		}
	}
	right := false
	switch want {
	case "an object":
		right = json.Unmarshal(member, &object) == nil && object != nil
	case "the working directory":
		right = string(member) == string(dialect.Encode(w.peers.list()[0].facts.Directory))
	case "the required capabilities":
		right = same(capabilities)
	case "the required methods":
		right = same(methods)
	case "open capabilities only":
		right = names && !slices.ContainsFunc(list, func(name string) bool {
			i := slices.IndexFunc(cw.Capabilities, func(c wirejson.Capability) bool { return c.Name == name })
			return i >= 0 && cw.Capabilities[i].Offer == "unavailable"
		})
	case "open methods only":
		right = names && !slices.ContainsFunc(list, func(name string) bool {
			m := cw.LookupMethod(name)
			return m != nil && m.Offer == "unavailable"
		})
	case "methods of this wire only":
		right = names && !slices.ContainsFunc(list, func(name string) bool { return cw.LookupMethod(name) == nil })
	case "methods of what is offered only":
		right = names && !slices.ContainsFunc(list, func(name string) bool {
			m := cw.LookupMethod(name)
			return m != nil && !slices.Contains(offered("capabilities"), m.Gate)
		}) && !slices.ContainsFunc(offered("capabilities"), func(name string) bool {
			return !slices.ContainsFunc(offered("methods"), func(method string) bool {
				m := cw.LookupMethod(method)
				return m != nil && m.Gate == name || slices.Contains(capabilities, name)
			})
		})
	default:
		low, high, isRange := strings.Cut(strings.TrimPrefix(want, "from "), " to ")
		if n, err := strconv.ParseInt(string(member), 10, 64); isRange && err == nil {
			least, _ := strconv.ParseInt(low, 10, 64)
			most, _ := strconv.ParseInt(high, 10, 64)
			right = n >= least && n <= most
		} else {
			right = string(member) == want
		}
	}
	if right {
		return ""
	}
	return want
}

// startedAsWritten holds the arguments of the extension against those of its manifest.
func (w *world) startedAsWritten() error {
	if err := w.started(); err != nil {
		return err
	}
	want, _ := w.plotted()
	if got := w.peers.list()[0].facts.Args; len(got) < 1 || !slices.Equal(got[1:], want) {
		return failed("the extension was started with the arguments %q, want those of its manifest, %q", got, want)
	}
	return nil
}
