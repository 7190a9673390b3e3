package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/octet-dev/octet/features/verdict"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *junitDetail `xml:"failure,omitempty"`
	Error   *junitDetail `xml:"error,omitempty"`
	Skipped *junitDetail `xml:"skipped,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML: one test case per rule, one suite per level. A should-rule that
// is broken is a skipped case unless the run was strict. What kept scenarios from judging many rules is a failed case
// of a suite in front, and those rules are skipped cases: their class is the type.
func (r *Report) JUnit(w io.Writer) error {
	doc := junitSuites{Name: "octet-conform " + r.Subject.Name}
	first := r.first(r.counts)
	if len(first) > 0 {
		suite := junitSuite{Name: "to mend first", Time: "0.000"}
		for _, c := range first {
			name := c.message // one fault has one name, however many rules it blocks
			if c.unrun {
				name = "every scenario is run"
			}
			suite.add(junitCase{Class: "api-" + r.Subject.API, Name: clean(name), Failure: &junitDetail{
				Message: clean(c.text()), Type: string(c.class), Text: strings.Join(c.rules, "\n"),
			}})
		}
		doc.Suites = append(doc.Suites, suite)
	}
	for _, level := range []string{"must", "should"} {
		suite := junitSuite{Name: level, Time: fmt.Sprintf("%.3f", float64(r.Run.DurationMS)/1000)}
		for _, row := range r.Rules {
			if row.Level == level {
				suite.add(r.junitCase(row, first))
			}
		}
		if suite.Tests > 0 {
			doc.Suites = append(doc.Suites, suite)
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func (r *Report) junitCase(row Rule, first causes) junitCase {
	c := junitCase{Class: "api-" + r.Subject.API, Name: row.ID + " " + row.Text}
	if first.keeps(row) {
		c.Skipped = &junitDetail{Message: notJudged, Type: string(row.Class)}
		return c
	}
	detail := &junitDetail{Message: clean(r.reason(row)), Type: string(row.Class)}
	for _, f := range row.Findings {
		detail.Text += clean(f.Scenario+": "+r.where(f)+f.Message) + "\n"
	}
	switch row.Class {
	case verdict.Fail, verdict.NoAnswer:
		if r.counts(row) {
			c.Failure = detail
		} else {
			c.Skipped = detail
		}
	case verdict.Errored:
		c.Error = detail
	case verdict.NotApplicable:
		c.Skipped = detail
	}
	return c
}

// clean replaces what XML cannot carry.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == '\ufffe' || r == '\uffff' {
			return '\ufffd'
		}
		return r
	}, s)
}
