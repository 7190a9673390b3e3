package diff

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/gen/model"
)

func (t *tree) errorRow(name string) *model.ErrorCode {
	for _, e := range t.wire.Errors {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// complete reports whether the error table is the whole vocabulary: every row fixes its text, so that a
// reader can hold an answer against it. Elsewhere an unlisted code is a failure like any other.
func (t *tree) complete() bool {
	return len(t.wire.Errors) > 0 && !slices.ContainsFunc(t.wire.Errors, func(e *model.ErrorCode) bool { return !e.Fixed })
}

// readError says what is wrong about an answer that is meant as a named error; "" if nothing is.
func (t *tree) readError(name string, code int64, message string) string {
	var meanings []string
	for _, e := range t.wire.Errors {
		if e.Code != code {
			continue
		}
		if e.Name == name {
			if e.Fixed && e.Message != message {
				return fmt.Sprintf("code %d says %q", code, e.Message)
			}
			return ""
		}
		meanings = append(meanings, e.Name)
	}
	switch {
	case len(meanings) > 0:
		return fmt.Sprintf("code %d is %q", code, meanings[0])
	case t.errorRow(name) != nil:
		return fmt.Sprintf("%q has the code %d", name, t.errorRow(name).Code)
	case t.complete():
		return fmt.Sprintf("code %d is no row of the error table", code)
	default:
		return ""
	}
}

// errors compares the error tables. Either side answers with errors.
func (c *comparison) errors() {
	row := func(side Side, e *model.ErrorCode, reason string) row {
		return row{place: rowPlace(side, e.At), subject: "error " + e.Name, kind: KindError, reason: reason}
	}
	for _, b := range c.new.wire.Errors {
		a := c.old.errorRow(b.Name)
		switch {
		case a == nil:
			r := row(New, b, "the error is new")
			r.added = true
			c.errorLoss(r, b.Name)
		case a.Code != b.Code:
			c.errorLoss(row(New, b, fmt.Sprintf("the code was %d, is %d", a.Code, b.Code)), b.Name)
		case a.Fixed != b.Fixed:
			c.errorLoss(row(New, b, either(b.Fixed, "the text is fixed now", "the text is free now")), b.Name)
		case a.Message != b.Message:
			c.errorLoss(row(New, b, fmt.Sprintf("the text was %q, is %q", a.Message, b.Message)), b.Name)
		}
	}
	for _, a := range c.old.wire.Errors {
		if c.new.errorRow(a.Name) == nil {
			c.errorLoss(row(Old, a, "the error is gone"), a.Name)
		}
	}
}

// errorLoss judges an answer that the reader may take for something else.
func (c *comparison) errorLoss(r row, name string) {
	for _, d := range ways {
		from, to := c.sides(d)
		verdict, witness := Compatible, (*Witness)(nil)
		if e := from.errorRow(name); e != nil {
			texts := []string{e.Message}
			if !e.Fixed {
				texts = append(texts, "another text")
			}
			for _, text := range texts {
				if refusal := to.readError(name, e.Code, text); refusal != "" && witness == nil {
					verdict = Breaking
					answer := object(map[string]string{"code": strconv.FormatInt(e.Code, 10), "message": quote(text)})
					witness = &Witness{Of: "an error meant as " + name, Text: answer, Refusal: refusal}
				}
			}
		}
		for _, p := range everyone {
			c.judge(r, p, d, verdict, "", witness)
		}
	}
}

// violations compares which error a broken shape is reported as.
func (c *comparison) violations() {
	const note = "which error answers a broken shape is prose"
	file := c.new.wire.Files.Errors.String()
	report := func(pointer, what, before, after string) {
		if before == after {
			return
		}
		r := row{place: Place{New, file, pointer}, subject: "violation " + what, kind: KindViolation, reason: fmt.Sprintf("was reported as %q, is as %q", before, after)}
		c.all(r, Unknown, note)
	}
	before := map[model.Violation]string{}
	for _, v := range c.old.wire.Violations {
		before[v.Violation] = v.Error
	}
	for _, v := range c.new.wire.Violations {
		report("/violations/"+string(v.Violation), string(v.Violation), before[v.Violation], v.Error)
	}
	report("/envelope_violation", "of an envelope", c.old.wire.EnvelopeError, c.new.wire.EnvelopeError)
	report("/version_violation", "of "+model.VersionMember, c.old.wire.VersionError, c.new.wire.VersionError)
}
