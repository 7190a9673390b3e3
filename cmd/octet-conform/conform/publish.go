package conform

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

// reportFiles are the files that a run writes beside its text.
type reportFiles struct {
	junit, json, html, sarif, markdown, badge string
	transcripts                               string // a directory
}

func (r *reportFiles) register(f *pflag.FlagSet) {
	f.StringVar(&r.junit, "report-junit", "", "write JUnit XML to this file")
	f.StringVar(&r.json, "report-json", "", "write the JSON report to this file")
	f.StringVar(&r.html, "report-html", "", "write one page with verdicts and wire timelines to this file")
	f.StringVar(&r.sarif, "report-sarif", "", "write SARIF 2.1.0 to this file")
	f.StringVar(&r.markdown, "report-markdown", "", "append a Markdown summary to this file, as GITHUB_STEP_SUMMARY wants it")
	f.StringVar(&r.badge, "report-badge", "", "write the JSON of an endpoint badge to this file")
	f.StringVar(&r.transcripts, "transcripts", "", "write the frames of every red scenario into this directory, for octet-conform replay")
}

// write writes every file that can be written; the error has what is the matter with the others.
func (r *reportFiles) write(rep *report.Report) error {
	var faults []error
	for _, each := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{r.junit, rep.JUnit}, {r.json, rep.JSON}, {r.html, rep.HTML}, {r.sarif, rep.SARIF}, {r.badge, rep.Badge},
	} {
		faults = append(faults, writeFile(each.path, os.O_TRUNC, each.write))
	}
	return errors.Join(append(faults, writeFile(r.markdown, os.O_APPEND, rep.Markdown))...)
}

// publish writes the report wherever it was asked for. The verdict is told whatever becomes of a file.
func (inv *invocation) publish(rep *report.Report, scenarios []verdict.Scenario, flags *runFlags) error {
	lost := flags.files.write(rep)
	return errors.Join(inv.tellVerdict(rep, scenarios, flags), lost)
}

func (inv *invocation) tellVerdict(rep *report.Report, scenarios []verdict.Scenario, flags *runFlags) error {
	switch flags.output {
	case "json":
		return rep.JSON(inv.stdout)
	case "github":
		if err := rep.GitHub(inv.stdout); err != nil {
			return err
		}
	}
	return rep.Text(inv.stdout, scenarios, report.TextOptions{Color: colored(inv.stdout), Verbose: flags.verbose})
}

// writeFile writes a file that a run was asked for; an empty path is none.
func writeFile(path string, mode int, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o666)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// report compares two runs.
func (inv *invocation) report() int {
	f := inv.flags()
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 2 {
		return inv.wrong("report wants two JSON reports, and %d are given; use 'octet-conform report BEFORE.json AFTER.json'", f.NArg())
	}
	before, err := report.Read(f.Arg(0))
	if err != nil {
		return inv.unable(err)
	}
	after, err := report.Read(f.Arg(1))
	if err != nil {
		return inv.unable(err)
	}
	if before.Subject.API != after.Subject.API {
		return inv.unable(fmt.Errorf("%s is of API %s and %s of API %s; compare runs of one version", f.Arg(0), before.Subject.API, f.Arg(1), after.Subject.API))
	}
	worse, err := report.Differences(inv.stdout, before, after)
	switch {
	case err != nil:
		return inv.unable(err)
	case worse:
		return report.ExitFindings
	}
	return report.ExitClean
}
