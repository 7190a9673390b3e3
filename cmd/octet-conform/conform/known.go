package conform

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/baseline"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/verdict"
)

// known reads the list of known failures that a run was given; nil if it was given none.
func (r *runFlags) known() (*baseline.List, error) {
	switch {
	case r.fix && r.knownFailing == "":
		return nil, usageError("--fix rewrites the list of --known-failing; give that as well")
	case r.fix && len(r.run) > 0:
		return nil, usageError("--fix after --run would drop what was not judged; run everything")
	case r.knownFailing == "":
		return nil, nil
	}
	if _, err := os.Stat(r.knownFailing); r.fix && errors.Is(err, os.ErrNotExist) {
		return &baseline.List{Path: r.knownFailing}, nil
	}
	return baseline.Read(r.knownFailing, ruleIDs())
}

func ruleIDs() []string {
	var ids []string
	for _, k := range referee.Known() {
		ids = append(ids, k.ID)
	}
	return ids
}

// fix writes a list of everything that a run has found, and says what it did.
func (inv *invocation) fix(path string, rep *report.Report) error {
	var lines []string
	for _, row := range rep.Rules {
		if row.Class != verdict.Fail && row.Class != verdict.NoAnswer {
			continue
		}
		messages := []string{row.Reason}
		for _, f := range row.Findings {
			messages = append(messages, f.Message)
		}
		for _, message := range messages {
			if line := row.ID + " " + baseline.Pin(message); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	text := fmt.Sprintf("# Known failures of %s on API %s. A rule, and what was found; * stands for any text.\n%s", rep.Subject.Name, rep.Subject.API, strings.Join(append(lines, ""), "\n"))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(inv.stderr, "octet-conform: %s lists %d known failures now\n", path, len(lines))
	return nil
}
