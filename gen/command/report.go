package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/octet-dev/octet/gen/diff"
)

// report shows the changes between two specs.
type report struct {
	old, new string // as they were named
	frozen   bool   // a change of a released version is breaking
	changes  []diff.Change
}

// verdict returns what a change counts as.
func (r *report) verdict(c *diff.Change) diff.Verdict {
	return diff.Overall([]diff.Change{*c}, r.frozen)
}

// subject is everything that is said about one place.
type subject struct {
	changes []*diff.Change
	verdict diff.Verdict // the worst of them
}

// subjects gathers the changes that say the same about different roles, in their order.
func (r *report) subjects() []*subject {
	var list []*subject
	for i := range r.changes {
		c := &r.changes[i]
		v := r.verdict(c)
		at := slices.IndexFunc(list, func(s *subject) bool {
			o := s.changes[0]
			return o.Wire == c.Wire && o.Place == c.Place && o.Kind == c.Kind && o.Reason == c.Reason && o.Subject == c.Subject
		})
		if at < 0 {
			at = len(list)
			list = append(list, &subject{verdict: v})
		}
		list[at].changes = append(list[at].changes, c)
		if rank(v) > rank(list[at].verdict) {
			list[at].verdict = v
		}
	}
	return list
}

// verdicts lists them as they are shown, bad ones first.
var verdicts = []diff.Verdict{diff.Breaking, diff.Unknown, diff.Compatible}

func rank(v diff.Verdict) int { return len(verdicts) - slices.Index(verdicts, v) }

// paint colours a text by verdict.
type paint func(v diff.Verdict, text string) string

// paintFor paints on a terminal only.
func paintFor(w io.Writer) paint {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return func(_ diff.Verdict, text string) string { return text }
	}
	return colours
}

func colours(v diff.Verdict, text string) string {
	code := map[diff.Verdict]string{diff.Breaking: "31", diff.Unknown: "33", diff.Compatible: "32"}[v]
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// text writes the report for people: per wire what breaks, then what is unknown, then what is compatible.
func (r *report) text(w io.Writer, colour paint) {
	list := r.subjects()
	counts := map[diff.Verdict]int{}
	wire := ""
	for _, name := range r.wires() {
		for _, v := range verdicts {
			for _, s := range list {
				if s.changes[0].Wire != name || s.verdict != v {
					continue
				}
				if wire != name {
					fmt.Fprintf(w, "%s\n", name)
					wire = name
				}
				counts[v]++
				r.subject(w, s, colour)
			}
		}
	}
	if len(list) == 0 {
		fmt.Fprintln(w, "no difference on the wire")
		return
	}
	var parts []string
	for _, v := range verdicts {
		if counts[v] > 0 {
			parts = append(parts, colour(v, fmt.Sprintf("%d %s", counts[v], v)))
		}
	}
	fmt.Fprintf(w, "%s\n", strings.Join(parts, ", "))
}

func (r *report) wires() []string {
	var names []string
	for _, c := range r.changes {
		if !slices.Contains(names, c.Wire) {
			names = append(names, c.Wire)
		}
	}
	return names
}

// subject writes one subject: what it breaks and what is unknown. What is compatible needs no more than
// the line that names it.
func (r *report) subject(w io.Writer, s *subject, colour paint) {
	c := s.changes[0]
	fmt.Fprintf(w, "  %s %s: %s%s\n", colour(s.verdict, fmt.Sprintf("%-10s", s.verdict)), c.Subject, c.Reason, r.versions(s))
	if s.verdict == diff.Compatible {
		return
	}
	fmt.Fprintf(w, "      %s#%s\n", c.Place.File, c.Place.Pointer)
	if s.verdict == diff.Breaking && !slices.ContainsFunc(s.changes, func(c *diff.Change) bool { return c.Verdict == diff.Breaking }) {
		fmt.Fprint(w, "      the version is released and exact; give the change a new one\n")
	}
	var shown []string
	for _, c := range s.changes {
		if c.Verdict == diff.Compatible {
			continue
		}
		lines := doubt(c, s.changes)
		if c.Verdict == diff.Breaking {
			lines = proof(c, roles(s.changes, c))
		}
		if !slices.Contains(shown, lines) {
			shown = append(shown, lines)
			fmt.Fprint(w, lines)
		}
	}
}

// versions words the API versions in which a subject has its verdict.
func (r *report) versions(s *subject) string {
	var names []string
	frozen := false
	for _, c := range s.changes {
		if r.verdict(c) != s.verdict {
			continue
		}
		for _, v := range c.Versions {
			if !slices.Contains(names, v) {
				names = append(names, v)
			}
		}
		frozen = frozen || c.Frozen
	}
	if len(names) == 0 {
		return ""
	}
	text := " (" + strings.Join(names, ", ")
	if frozen {
		text += ", frozen"
	}
	return text + ")"
}

// roles returns the roles about which the same is said as in c.
func roles(changes []*diff.Change, c *diff.Change) []string {
	var list []string
	for _, o := range changes {
		same := o.Direction == c.Direction && o.Verdict == c.Verdict && o.Note == c.Note && slices.Equal(o.Versions, c.Versions) &&
			(o.Witness == nil) == (c.Witness == nil) && (c.Witness == nil || o.Witness.Text == c.Witness.Text && o.Witness.Of == c.Witness.Of)
		if same && !slices.Contains(list, string(o.Role)) {
			list = append(list, string(o.Role))
		}
	}
	return list
}

// doubt says who is concerned by what is unknown, and why it is.
func doubt(c *diff.Change, changes []*diff.Change) string {
	var who []string
	for _, o := range changes {
		text := fmt.Sprintf("a new %s %ss", o.Role, o.Direction)
		if o.Verdict == diff.Unknown && o.Note == c.Note && !slices.Contains(who, text) {
			who = append(who, text)
		}
	}
	if len(who) == 4 {
		return "      " + c.Note + "\n"
	}
	return "      where " + strings.Join(who, ", ") + ": " + c.Note + "\n"
}

// proof shows the witness of a breaking change, which is the same for some roles.
func proof(c *diff.Change, roles []string) string {
	us, them := "peer", "peer"
	if len(roles) == 1 {
		us, them = roles[0], other(roles[0])
	}
	reader, writer := "a new "+us, "an old "+them
	if c.Direction == diff.Write {
		reader, writer = "an old "+them, "a new "+us
	}
	var b strings.Builder
	fmt.Fprintf(&b, "      %s refuses %s that %s may write:\n", reader, c.Witness.Of, writer)
	fmt.Fprintf(&b, "          %s\n", abridged(c.Witness.Text))
	for _, given := range c.Witness.Given {
		fmt.Fprintf(&b, "        while %s\n", given)
	}
	if c.Witness.Pointer != "" {
		fmt.Fprintf(&b, "        at %s: %s\n", c.Witness.Pointer, abridged(c.Witness.Refusal))
	} else {
		fmt.Fprintf(&b, "        %s\n", abridged(c.Witness.Refusal))
	}
	return b.String()
}

// other names the role on the other side.
func other(role string) string {
	return map[string]string{
		string(diff.Host): string(diff.Extension), string(diff.Extension): string(diff.Host),
		string(diff.Client): string(diff.Server), string(diff.Server): string(diff.Client),
	}[role]
}

// abridged shortens what is repeated, which is what long witnesses are made of.
func abridged(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		unit, times := repeated(text[i:])
		if times == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(strings.Repeat(unit, 2) + "...(" + strconv.Itoa(times) + " times)")
		i += times * len(unit)
	}
	const longest = 400
	if b.Len() <= longest {
		return b.String()
	}
	return strings.ToValidUTF8(b.String()[:longest], "") + "... (" + strconv.Itoa(len(text)) + " bytes)"
}

// repeated returns the shortest unit that a text begins with many times over; times is 0 if there is none.
func repeated(text string) (unit string, times int) {
	const longest, least = 80, 24
	for size := 1; size <= min(longest, len(text)/2); size++ {
		n := 1
		for strings.HasPrefix(text[n*size:], text[:size]) {
			n++
		}
		if n >= 4 && n*size >= least {
			return text[:size], n
		}
	}
	return "", 0
}

// The JSON form of a report. Member names are documented in gen/diff/diff.schema.json.
type (
	jsonReport struct {
		Format  string        `json:"format"`
		Old     string        `json:"old"`
		New     string        `json:"new"`
		Frozen  bool          `json:"frozen"`
		Verdict diff.Verdict  `json:"verdict"`
		Changes []*jsonChange `json:"changes"`
	}
	jsonChange struct {
		Wire      string         `json:"wire"`
		Versions  []string       `json:"versions"`
		Place     jsonPlace      `json:"place"`
		Subject   string         `json:"subject"`
		Kind      string         `json:"kind"`
		Reason    string         `json:"reason"`
		Role      diff.Role      `json:"role"`
		Direction diff.Direction `json:"direction"`
		Verdict   diff.Verdict   `json:"verdict"`
		Frozen    bool           `json:"frozen"`
		Note      string         `json:"note,omitempty"`
		Witness   *jsonWitness   `json:"witness,omitempty"`
	}
	jsonPlace struct {
		Side    diff.Side `json:"side"`
		File    string    `json:"file"`
		Pointer string    `json:"pointer"`
	}
	jsonWitness struct {
		Of      string    `json:"of"`
		Text    string    `json:"text"`
		Writer  diff.Side `json:"writer"`
		Given   []string  `json:"given"`
		Pointer string    `json:"pointer"`
		Refusal string    `json:"refusal"`
	}
)

const jsonFormat = "octet.diff/1"

// json writes the report for programs.
func (r *report) json(w io.Writer) error {
	out := jsonReport{Format: jsonFormat, Old: r.old, New: r.new, Frozen: r.frozen, Verdict: diff.Overall(r.changes, r.frozen), Changes: []*jsonChange{}}
	for _, c := range r.changes {
		j := &jsonChange{
			Wire: c.Wire, Versions: append([]string{}, c.Versions...), Place: jsonPlace(c.Place), Subject: c.Subject, Kind: c.Kind, Reason: c.Reason,
			Role: c.Role, Direction: c.Direction, Verdict: c.Verdict, Frozen: c.Frozen, Note: c.Note,
		}
		if c.Witness != nil {
			j.Witness = &jsonWitness{
				Of: c.Witness.Of, Text: c.Witness.Text, Writer: c.Witness.Writer, Given: append([]string{}, c.Witness.Given...),
				Pointer: c.Witness.Pointer, Refusal: c.Witness.Refusal,
			}
		}
		out.Changes = append(out.Changes, j)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
