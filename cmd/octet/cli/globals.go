package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/flags"
	"github.com/octet-dev/octet/host/selection"
)

// globals are the options that decide which extensions there are and whether they may start.
type globals struct {
	selection.Invocation
	given *pflag.FlagSet
	// The other spellings, and the option that is refused.
	safe, trustWorkspace, yolo bool
}

const optionYolo = "yolo"

func (g *globals) register(set *pflag.FlagSet) {
	g.given = set
	set.StringVar(&g.Workspace, flags.OptionWorkspace, "", "")
	set.BoolVar(&g.Invocation.WorkspaceTrusted, flags.OptionWorkspaceTrusted, false, "")
	set.BoolVar(&g.trustWorkspace, flags.OptionTrustWorkspace, false, "")
	set.StringArrayVar(&g.Directories, flags.OptionExtensionDir, nil, "")
	set.Var((*nameList)(&g.Enable), flags.OptionEnableExtension, "")
	set.Var((*nameList)(&g.Trust), flags.OptionTrustExtension, "")
	set.StringVar(&g.EffectPolicy, flags.OptionEffectPolicy, "", "")
	set.BoolVar(&g.SafeMode, flags.OptionSafeMode, false, "")
	set.BoolVar(&g.safe, flags.OptionSafe, false, "")
	set.BoolVar(&g.NoProcess, "no-process", false, "")
	set.BoolVar(&g.NoShell, "no-shell", false, "")
	set.BoolVar(&g.AllowShell, "allow-shell", false, "")
	set.BoolVar(&g.StrictConfig, "strict-config", false, "")
	set.BoolVar(&g.yolo, optionYolo, false, "")
}

// invocation settles the spellings. The error is a usage error.
func (g *globals) invocation() (selection.Invocation, error) {
	if g.given.Changed(optionYolo) {
		return selection.Invocation{}, usagef("--%s is rejected: full access is the default, and --effect-policy says what asks first; drop it (MAN-POLICY-004)", optionYolo)
	}
	for _, option := range []string{flags.OptionWorkspace, flags.OptionEffectPolicy, flags.OptionExtensionDir} {
		if f := g.given.Lookup(option); f.Changed && (f.Value.String() == "" || f.Value.String() == "[]") {
			return selection.Invocation{}, usagef("--%s has an empty value; give one, or drop it", option)
		}
	}
	i := g.Invocation
	i.SafeMode = i.SafeMode || g.safe
	i.WorkspaceTrusted = i.WorkspaceTrusted || g.trustWorkspace
	return i, nil
}

// nameList is the value of an option that takes names, separated by commas.
type nameList []string

// Set adds the names of one word.
func (n *nameList) Set(text string) error {
	if strings.HasPrefix(text, "-") {
		return errors.New("it needs a name")
	}
	before := len(*n)
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*n = append(*n, name)
		}
	}
	if len(*n) == before {
		return errors.New("it needs a name")
	}
	return nil
}

// String is the list as it could be given.
func (n *nameList) String() string { return strings.Join(*n, ",") }

// Type names the value.
func (n *nameList) Type() string { return "names" }

// machine is the one we run on.
func machine() selection.Machine {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return selection.Machine{Home: home, Lookup: os.LookupEnv, Discoverer: &discovery.Discoverer{}}
}

// refused shows why a selection could not be made, and returns the error that ends the command.
func refused(c *console, err error) (int, error) {
	var configuration *selection.ConfigurationError
	var invocation *selection.InvocationError
	switch {
	case errors.As(err, &configuration):
		tell(c, configuration.Diagnostics)
		return exitUsage, err
	case errors.As(err, &invocation):
		return exitUsage, &usageError{invocation.Error()}
	}
	return exitExtension, err
}

// tell shows diagnostics on standard error, each with its remedy.
func tell(c *console, list []diagnostic.Diagnostic) {
	kept, dropped := boundedDiagnostics(list)
	if dropped > 0 {
		c.note("%d older diagnostics are not shown", dropped)
	}
	for _, d := range kept {
		c.line(plain(d.String()))
		c.line(plain("    " + d.Remedy))
	}
}

// boundedDiagnostics keeps as many diagnostics as a host does.
func boundedDiagnostics(list []diagnostic.Diagnostic) (kept []diagnostic.Diagnostic, dropped int) {
	var log diagnostic.Log
	log.Add(list...)
	return log.Entries()
}

// diagnosticDescription is the JSON form of a diagnostic.
type diagnosticDescription struct {
	Level   diagnostic.Level `json:"level"`
	Path    string           `json:"path,omitempty"`
	Line    int              `json:"line,omitempty"`
	Column  int              `json:"column,omitempty"`
	Rule    string           `json:"rule,omitempty"`
	Message string           `json:"message"`
	Remedy  string           `json:"remedy"`
}

func describeDiagnostics(list []diagnostic.Diagnostic) []diagnosticDescription {
	described := make([]diagnosticDescription, len(list))
	for i, d := range list {
		described[i] = diagnosticDescription(d)
	}
	return described
}

// format is the choice between text and JSON of commands that show something.
type format struct {
	output string
	json   bool
}

func (f *format) register(set *pflag.FlagSet) {
	set.StringVar(&f.output, "output", outputText, "")
	set.BoolVar(&f.json, "json", false, "")
}

func (f *format) check() error {
	if f.output != outputText && f.output != outputJSON {
		return usagef("--output is %q, want %s or %s", f.output, outputText, outputJSON)
	}
	f.json = f.json || f.output == outputJSON
	return nil
}
