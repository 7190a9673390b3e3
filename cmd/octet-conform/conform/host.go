package conform

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/hostreferee"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/verdict"
)

// host judges a host: our peers are the extensions that it loads.
func (inv *invocation) host() int {
	var flags runFlags
	f := inv.flags()
	adapter := f.String("adapter", "", "how the host is told what to do: the name of a host that is known (octet), or a file; see docs/guide/hosts.md")
	registerHost(f, &flags)
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := flags.check(); err != nil {
		return inv.wrong("%v", err)
	}
	before, argv := split(f)
	told, err := chooseAdapter(*adapter, before, argv)
	if err != nil {
		return inv.refuse(err)
	}
	flags.hostWords = hostWords(*adapter, argv)
	versions := dialect.Versions()
	switch {
	case flags.api != "":
		if err := oneOf("api", flags.api, versions...); err != nil {
			return inv.wrong("%v", err)
		}
		versions = []string{flags.api}
	case flags.files != reportFiles{}, flags.output == "json":
		return inv.wrong("reports are of one API version; give --api as well")
	}
	if err := flags.readLists(); err != nil {
		return inv.refuse(err)
	}
	if _, err := flags.required(versions[0]); err != nil {
		return inv.refuse(err)
	}
	exit := report.ExitClean
	for _, api := range versions {
		code := inv.hostOn(api, told, &flags)
		if code != report.ExitClean && exit != report.ExitFindings {
			exit = code
		}
	}
	return exit
}

// hostWords name a host on a command line.
func hostWords(adapter string, argv []string) []string {
	if adapter == "" {
		return append([]string{"--"}, argv...)
	}
	if !slices.Contains(hostreferee.ReadyAdapters(), adapter) {
		adapter = absolute(adapter)
	}
	return []string{"--adapter", adapter}
}

func registerHost(f *pflag.FlagSet, flags *runFlags) {
	f.StringVar(&flags.api, "api", "", "only this API version: 0.1, 0.2, 0.3 or 0.4 (default: one run for each)")
	flags.registerVerdict(f)
	flags.registerFlaky(f)
	f.Float64Var(&flags.scale, "timeout-scale", 1, "multiply every deadline, on top of the calibration")
	f.IntVar(&flags.jobs, "jobs", 4, "hosts at a time")
	f.Int64Var(&flags.seed, "seed", 0, "order of the scenarios (default: random)")
}

// chooseAdapter settles how the host is told what to do.
func chooseAdapter(name string, before, argv []string) (*hostreferee.Adapter, error) {
	adapter := &hostreferee.Adapter{Call: argv}
	switch {
	case len(before) > 0:
		return nil, usageError(fmt.Sprintf("unexpected argument %q; the command of a host stands behind --", before[0]))
	case name != "" && argv != nil:
		return nil, usageError("--adapter and a command behind -- exclude each other; use one of them")
	case name == "" && len(argv) == 0:
		return nil, usageError("host wants the command of a host behind --, in which {extension}, {tool} and {arguments} stand for what it is to do")
	case name == "":
		if detail := hostreferee.CheckCall(argv); detail != "" {
			return nil, usageError(detail + "; see 'octet-conform host --help'")
		}
	case slices.Contains(hostreferee.ReadyAdapters(), name):
		known, err := hostreferee.ReadyAdapter(name)
		if err != nil {
			return nil, err
		}
		adapter = known
	default:
		read, err := hostreferee.LoadAdapter(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usageError(fmt.Sprintf("--adapter is %q, which is no file; name one, use %s, or put the command of the host behind --",
				name, strings.Join(hostreferee.ReadyAdapters(), ", ")))
		}
		if err != nil {
			return nil, err
		}
		adapter = read
	}
	commands := [][]string{adapter.Call}
	if adapter.Talk != nil {
		commands = append(commands, adapter.Talk.Command)
	}
	for _, argv := range commands {
		if err := findProgram(argv); err != nil {
			return nil, err
		}
	}
	return adapter, nil
}

// hostOn judges a host on one version.
func (inv *invocation) hostOn(api string, adapter *hostreferee.Adapter, flags *runFlags) int {
	d, err := dialect.For(api)
	if err != nil {
		return inv.unable(err)
	}
	self, err := os.Executable()
	if err != nil {
		return inv.unable(err)
	}
	scale := flags.scale * calibrate(inv.ctx)
	patience := steps.DefaultPatience.Scale(scale)
	seed := flags.seed
	if seed == 0 {
		seed = rand.Int64N(1<<31-1) + 1
	}
	run := func(chosen func(features.Scenario) bool) ([]verdict.Scenario, error) {
		bar := inv.bar("scenarios")
		defer bar.clear()
		return hostreferee.Run(inv.ctx, hostreferee.Options{
			Setup:  hostSetup(d, self, adapter, patience),
			Select: chosen, Jobs: flags.jobs, Seed: seed, Progress: bar.update,
		})
	}
	began := time.Now()
	scenarios, err := run(referee.Matches(flags.run))
	if errors.Is(err, referee.ErrNothing) {
		return inv.wrong("no scenario for hosts of API %s matches --run %s", api, quoted(flags.run))
	}
	if err == nil {
		err = interruption(scenarios)
	}
	if err != nil {
		return inv.unable(err)
	}
	subject := report.Subject{Role: report.RoleHost, Name: filepath.Base(adapter.Call[0]), API: api, Command: adapter.Call}
	if err := inv.keepTranscripts(flags, subject, seed, scenarios); err != nil {
		return inv.unable(err)
	}
	rep, err := flags.report(judgement{
		subject: subject, run: report.Run{Seed: seed, Scale: scale, Jobs: flags.jobs}, scenarios: scenarios, took: time.Since(began), again: run,
	})
	if err != nil {
		return inv.refuse(err)
	}
	return inv.conclude(rep, scenarios, flags)
}

// hostSetup says which host is judged, and how.
func hostSetup(d dialect.Dialect, self string, adapter *hostreferee.Adapter, p steps.Patience) *hostreferee.Setup {
	return &hostreferee.Setup{Dialect: d, Adapter: adapter.Call, Talk: adapter.Talk, Self: self, Wait: hostWaits * p.Initialize, Grace: p.Grace}
}

// hostWaits is how many times the wait for initialize a host gets for a whole scenario: it may wait for two
// stages of an end behind it.
const hostWaits = 3

// hostPeer is the extension that a host under judgement starts: a tap that reports to its referee.
func (inv *invocation) hostPeer() int {
	f := inv.flags()
	address := f.String("report-to", "", "")
	plot := f.String("plot", "", "")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	_, argv := split(f)
	if len(argv) == 0 && *plot == "" {
		return inv.wrong("host-peer needs the command of a peer behind --")
	}
	conn, err := hostreferee.Report(*address)
	if err != nil {
		return inv.unable(err)
	}
	defer func() { _ = conn.Close() }()
	if *plot != "" {
		// A player has to see a closed output as an error; the default is to die of it.
		signal.Ignore(syscall.SIGPIPE)
		code, err := hostreferee.Play(*plot, os.Stdin, os.Stdout, conn)
		if err != nil {
			return inv.unable(err)
		}
		return code
	}
	code, err := tap.Run(tap.Options{
		Command: exec.Command(argv[0], argv[1:]...), Inside: hostreferee.Inside(argv),
		Stdin: inv.stdin, Stdout: inv.stdout, Stderr: os.Stderr, Transcript: conn,
	})
	if err != nil {
		return inv.unable(err)
	}
	return code
}
