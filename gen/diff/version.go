package diff

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/gen/model"
)

const wiresFile = "wires.json"

// versionPlace returns where a version of a wire is listed. The wires stand in the order of the file.
func versionPlace(side Side, w *model.Wire, version string) Place {
	pointer := "/wires"
	if i := slices.Index(w.Versions, version); i >= 0 {
		pointer += "/versions/" + strconv.Itoa(i)
	}
	return Place{side, wiresFile, pointer}
}

// wholeRow is the row of an API version, or of a wire.
func wholeRow(side Side, w *model.Wire, version, kind, reason string) row {
	subject := w.Name
	if kind == KindVersion {
		subject += " " + version
	}
	return row{place: versionPlace(side, w, version), subject: subject, kind: kind, reason: reason}
}

// addVersion reports an API version that only NEW has. Nothing that is released changes.
func addVersion(l *ledger, w *model.Wire, version, kind, reason string) {
	t := newTree(New, w, version)
	c := &comparison{ledger: l, old: t, new: t, grown: true}
	r := wholeRow(New, w, version, kind, reason)
	r.added = true
	c.all(r, Compatible, "")
}

// removeVersion reports an API version that only OLD has: everything its peers say is refused.
func removeVersion(l *ledger, w *model.Wire, version, kind, reason string) {
	t := newTree(Old, w, version)
	c := &comparison{ledger: l, old: t, new: t}
	r := wholeRow(Old, w, version, kind, reason)
	refusal := either(kind == KindWire, fmt.Sprintf("there is no wire %q", w.Name), fmt.Sprintf("%s has no version %q", w.Name, version))
	for _, way := range directions {
		c.judge(r, way.party, backward, Compatible, "", nil)
		of, text := t.anything(way.dir)
		if text == "" {
			c.judge(r, way.party, forward, Unknown, noteLost, nil)
			continue
		}
		c.judge(r, way.party, forward, Breaking, "", &Witness{Of: of, Text: text, Refusal: refusal})
	}
}

// anything returns some message of one direction: a frame, an answer, or a document. Text is empty where
// there is none.
func (t *tree) anything(dir model.Direction) (of, text string) {
	p := fromHost
	if dir == model.ExtensionToHost {
		p = fromExtension
	}
	for _, c := range t.calls(dir) {
		if text, st := t.frame(&c); st == found && t.refuseFrame(text, p, t.selection(c.method.Gate)) == "" {
			return aFrame, text
		}
	}
	for _, way := range directions {
		for _, c := range t.calls(way.dir) {
			if way.dir == dir || c.shape.Result == nil {
				continue
			}
			s := spot{tree: t, place: c.result}.within(c.shape.Result, "", "")
			if text, st := newMaker().value(s, spot{}); st == found && t.accepts(s, text) {
				return resultOf(c.method.Name), text
			}
		}
	}
	for _, m := range t.loose() {
		s := t.spotOf(m)
		if text, st := newMaker().value(s, spot{}); st == found && t.accepts(s, text) {
			return m.Name, text
		}
	}
	return "", ""
}
