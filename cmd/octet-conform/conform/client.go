package conform

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

// clientWaits is how many times the wait for one answer a client gets for a whole turn: it may start an interpreter,
// and connect again.
const clientWaits = 3

// client judges an OUP client: we are its server.
func (inv *invocation) client() int {
	var flags runFlags
	f := inv.flags()
	registerOUP(f, &flags)
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := flags.checkOUP(); err != nil {
		return inv.wrong("%v", err)
	}
	before, argv := split(f)
	switch {
	case len(before) > 0:
		return inv.wrong("unexpected argument %q; the command of a client stands behind --", before[0])
	case len(argv) == 0:
		return inv.wrong("client wants the command of a client behind --, in which %s stand for what it is to do", strings.Join(clientPlaces, ", "))
	}
	if !slices.ContainsFunc(argv, func(w string) bool { return strings.Contains(w, oupreferee.PlacePrompt) }) {
		return inv.wrong("the command does not say where %s goes; see 'octet-conform client --help'", oupreferee.PlacePrompt)
	}
	if err := findProgram(argv); err != nil {
		return inv.refuse(err)
	}
	if err := flags.readLists(); err != nil {
		return inv.refuse(err)
	}
	if _, err := flags.required(oupreferee.API); err != nil {
		return inv.refuse(err)
	}
	flags.hostWords = append([]string{"--"}, argv...)
	return inv.clientOn(argv, &flags)
}

// clientPlaces are the places of a client's command.
var clientPlaces = []string{
	oupreferee.PlaceURL, oupreferee.PlaceToken, oupreferee.PlaceServer, oupreferee.PlaceSession, oupreferee.PlacePrompt, oupreferee.PlaceDecision,
}

func (inv *invocation) clientOn(argv []string, flags *runFlags) int {
	self, err := os.Executable()
	if err != nil {
		return inv.unable(err)
	}
	scale := flags.scale * calibrate(inv.ctx)
	setup := &oupreferee.ClientSetup{
		Command: argv, Env: subject.Environment(os.Environ(), nil), Self: self, Wait: clientWaits * steps.DefaultPatience.Scale(scale).Initialize,
	}
	seed := flags.seed
	if seed == 0 {
		seed = rand.Int64N(1<<31-1) + 1
	}
	run := func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error) {
		bar := inv.bar("scenarios")
		defer bar.clear()
		return oupreferee.RunClient(inv.ctx, oupreferee.ClientOptions{Setup: setup, Select: chosen, Jobs: flags.jobs, Seed: seed, Knock: true, Progress: bar.update})
	}
	return inv.concludeOUP(oupRun{
		subject: report.Subject{Role: report.RoleClient, Name: fmt.Sprintf("%s over %s", filepath.Base(argv[0]), setup.Transport()), API: oupreferee.API, Command: argv},
		run:     report.Run{Seed: seed, Scale: scale, Jobs: flags.jobs}, again: run, what: "clients",
	}, flags)
}

// oupRelay carries a connection between a client that starts its server and the referee.
func (inv *invocation) oupRelay() int {
	f := inv.flags()
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 1 {
		return inv.wrong("%s needs the address of its referee", oupreferee.RelayWord)
	}
	if err := oupreferee.Relay(f.Arg(0), inv.stdin, inv.stdout); err != nil {
		return inv.unable(err)
	}
	return report.ExitClean
}
