package conform

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/octet-dev/octet/features/ledger"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/spec"
)

// list prints one rule a line.
func (inv *invocation) list() int {
	f := inv.flags()
	api := f.String("api", "", "only rules that bind this API version")
	level := f.String("level", "", "only rules of this level: must, should or may")
	role := f.String("role", "", "only rules that bind this role: extension, host, manifest, server or client")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	proofs, err := ledger.Proofs()
	if err != nil {
		return inv.unable(err)
	}
	w := tabwriter.NewWriter(inv.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RULE\tLEVEL\tROLE\tAPI\tSCENARIOS\tFAULTY\tTEXT")
	n := 0
	for _, r := range rulebook.All() {
		if *api != "" && !rulebook.Binds(r, *api) || *level != "" && string(r.Level) != *level || *role != "" && r.Role != *role || !chosen(r, f.Args()) {
			continue
		}
		n++
		p := proofs[r.ID]
		if p == nil {
			p = &ledger.Proof{}
		}
		scenarios := strconv.Itoa(len(p.Scenarios))
		if p.Heard {
			scenarios = "all" // every frame of every scenario is judged by it
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.ID, r.Level, r.Role, strings.Join(r.Versions, ","), scenarios, len(p.Faulty), r.Text)
	}
	if n == 0 {
		return inv.wrong("no rule matches; 'octet-conform list' shows all")
	}
	if err := w.Flush(); err != nil {
		return inv.unable(err)
	}
	return report.ExitClean
}

// chosen reports whether a rule matches one of the patterns, each a part of its id or text.
func chosen(r rulebook.Rule, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		p = strings.ToLower(strings.Trim(p, "*"))
		return strings.Contains(strings.ToLower(r.ID), p) || strings.Contains(strings.ToLower(r.Text), p)
	})
}

// explain tells everything about one rule.
func (inv *invocation) explain() int {
	f := inv.flags()
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 1 {
		return inv.wrong("explain needs the id of one rule; 'octet-conform list' shows them")
	}
	id := strings.ToUpper(f.Arg(0))
	r, ok := rulebook.Find(id)
	if !ok {
		hint := "'octet-conform list' shows them all"
		if near := rulebook.Near(id); len(near) > 0 {
			hint = "near it are " + strings.Join(near, ", ")
		}
		return inv.wrong("rule %q does not exist; %s", f.Arg(0), hint)
	}
	proofs, err := ledger.Proofs()
	if err != nil {
		return inv.unable(err)
	}
	fmt.Fprintf(inv.stdout, "%s  %s, binds the %s on API %s\n\n%s\n\nSource: %s\n", r.ID, r.Level, r.Role, strings.Join(r.Versions, ", "), r.Text, r.Source)
	inv.proofs(r, proofs[r.ID])
	return report.ExitClean
}

// proofs prints what proves a rule and what shows that the proof can fail.
func (inv *invocation) proofs(r rulebook.Rule, p *ledger.Proof) {
	w := inv.stdout
	if r.NoPeer != "" {
		fmt.Fprintf(w, "\nNo faulty peer can break it: %s.\n", r.NoPeer)
	}
	if r.ProvenBy != "" {
		fmt.Fprintf(w, "\nProven by: %s\n", r.ProvenBy)
	}
	if r.Unproven != "" {
		fmt.Fprintf(w, "\nNothing proves it yet: %s.\n", r.Unproven)
	}
	if p != nil {
		if p.Heard {
			fmt.Fprint(w, "\nEvery frame of every scenario is judged by it.\n")
		}
		title(w, "Scenarios", len(p.Scenarios))
		for _, s := range p.Scenarios {
			fmt.Fprintf(w, "  %s (%s)\n", s.Name, s.File)
		}
		title(w, "What breaks it", len(p.Faulty))
		for _, f := range p.Faulty {
			fmt.Fprintf(w, "  %s: a %s that %s\n", f.Name, f.Kind, f.Doc)
		}
	}
	inv.vectorsOf(r)
}

func title(w io.Writer, text string, n int) {
	if n > 0 {
		fmt.Fprintf(w, "\n%s:\n", text)
	}
}

// maxIDs bounds the ids of vectors in one line.
const maxIDs = 5

// vectorsOf prints which vectors show a rule.
func (inv *invocation) vectorsOf(r rulebook.Rule) {
	all, err := vectors.Load(spec.Files)
	if err != nil {
		fmt.Fprintf(inv.stderr, "octet-conform: %v\n", err)
		return
	}
	var ids []string
	for _, v := range vectors.Select(all, []string{r.ID}) {
		ids = append(ids, v.ID)
	}
	if len(ids) == 0 {
		return
	}
	text := strings.Join(ids[:min(len(ids), maxIDs)], ", ")
	if len(ids) > maxIDs {
		text += fmt.Sprintf(" and %d more", len(ids)-maxIDs)
	}
	fmt.Fprintf(inv.stdout, "\nVectors: %s\n", text)
}
