package conform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/octet-dev/octet/features/ledger"
	"github.com/octet-dev/octet/features/report"
)

// ledger makes the page that tells of each rule what proves it and what was found about it.
func (inv *invocation) ledger() int {
	f := inv.flags()
	reports := f.StringArray("report", nil, "JSON report of a run, as FILE or LABEL=FILE; runs of one subject have one label")
	out := f.StringArray("out", nil, "write the ledger to this file: FILE.md or FILE.html")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() > 0 || len(*out) == 0 {
		return inv.wrong("ledger takes no arguments, and wants a file with --out")
	}
	for _, path := range *out {
		if err := oneOf("out", filepath.Ext(path), ".md", ".html"); err != nil {
			return inv.wrong("--out is %q; use a name that ends with .md or .html", path)
		}
	}
	var runs []ledger.Run
	for _, value := range *reports {
		label, path, labelled := strings.Cut(value, "=")
		if !labelled {
			label, path = "", value
		}
		r, err := report.Read(path)
		if err != nil {
			return inv.unable(err)
		}
		if !labelled {
			label = r.Subject.Name
		}
		runs = append(runs, ledger.Run{Label: label, Report: r})
	}
	l, err := ledger.New(runs)
	if err != nil {
		return inv.unable(err)
	}
	for _, path := range *out {
		write := l.Markdown
		if filepath.Ext(path) == ".html" {
			write = l.HTML
		}
		if err := writeFile(path, os.O_TRUNC, write); err != nil {
			return inv.unable(err)
		}
	}
	for _, cell := range l.Empty {
		fmt.Fprintf(inv.stdout, "EMPTY %s\n", cell)
	}
	fmt.Fprintln(inv.stdout, l.Count().Sentence())
	if len(l.Empty) > 0 {
		return report.ExitFindings
	}
	return report.ExitClean
}
