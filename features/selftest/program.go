package selftest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/subject"
)

// Program plays faulty peers: called with --list it writes a JSON object for every fault, a line each, with its
// name, the rule it breaks, the API version and a description; called with the name of one it is that peer, and
// called with "none" a sound one. Its peers have the tools of the referee's own.
type Program struct {
	Name    string
	Command subject.Command
}

// Sound is how a program is asked to play a peer without a fault.
const Sound = "none"

// row is a line of a list.
type row struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
	API  string `json:"api"`
	Doc  string `json:"doc"`
}

// Faults asks the program for its list.
func (p Program) Faults(ctx context.Context) ([]faultypeer.Fault, error) {
	cmd := exec.CommandContext(ctx, p.Command.Path, append(slices.Clone(p.Command.Args), "--list")...)
	cmd.Dir, cmd.Env = p.Command.Dir, p.Command.Env
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s --list: %w: %s", p.Name, err, strings.TrimSpace(complaint.String()))
	}
	var faults []faultypeer.Fault
	seen := map[string]bool{Sound: true}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var r row
		if err := lines.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s --list: %w", p.Name, err)
		}
		rule, known := rulebook.Find(r.Rule)
		switch {
		case seen[r.Name] || r.Name == "" || r.Doc == "":
			return nil, fmt.Errorf("%s --list: fault %q is there twice, or has no name or description", p.Name, r.Name)
		case !known || rule.Role != "extension" || !rulebook.Binds(rule, r.API):
			return nil, fmt.Errorf("%s --list: fault %q expects rule %s, which is none of an extension on API %s", p.Name, r.Name, r.Rule, r.API)
		}
		seen[r.Name] = true
		faults = append(faults, faultypeer.Fault{Name: r.Name, Rule: r.Rule, API: r.API, Doc: r.Doc})
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("%s --list: there is no fault in it", p.Name)
	}
	return faults, nil
}

// peers are the sound peer of the program on each of its versions, judged by the rules that its faults break, and
// the faults that were chosen.
func (p *Program) peers(ctx context.Context, opts Options) ([]suspect, error) {
	faults, err := p.Faults(ctx)
	if err != nil {
		return nil, err
	}
	var chosen []faultypeer.Fault
	for i, f := range faults {
		if (opts.Only == nil || opts.Only(f)) && i%max(opts.Sample, 1) == 0 {
			chosen = append(chosen, f)
		}
	}
	var peers []suspect
	for _, api := range dialect.Versions() {
		rules := []string{}
		for _, f := range chosen {
			if f.API == api {
				rules = append(rules, f.Rule)
			}
		}
		if len(rules) > 0 {
			peers = append(peers, suspect{Fault: faultypeer.Fault{API: api}, program: p, rules: rules})
		}
	}
	for _, f := range chosen {
		peers = append(peers, suspect{Fault: f, program: p})
	}
	return peers, nil
}

// plays is the program as one of its peers.
func (p *Program) plays(fault string) subject.Starter {
	c := p.Command
	if fault == "" {
		fault = Sound
	}
	c.Args = append(slices.Clone(c.Args), fault)
	return c
}
