package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/flags"
)

// MAN-FLAG-021: every long option of every command is reserved, aliases and refused ones too.
func TestReserved(t *testing.T) {
	names := reserved(root())
	for _, want := range []string{
		"help", "version", "workspace", "workspace-trusted", "trust-workspace", "safe-mode", "safe", "yolo", "effect-policy",
		"extension-dir", "enable-extension", "trust-extension", "no-process", "no-shell", "allow-shell", "strict-config",
		"arg", "json", "timeout", "flag", "output", "verbose", "no-start",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("--%s is not reserved", want)
		}
	}
}

// What the pre-scan knows, the ordinary parser knows as well.
func TestOrdinary_hasTheOptionsOfThePrescan(t *testing.T) {
	set := pflag.NewFlagSet("octet", pflag.ContinueOnError)
	new(ordinary).options(set)
	for _, name := range []string{
		flags.OptionSafeMode, flags.OptionSafe, flags.OptionEffectPolicy, flags.OptionWorkspaceTrusted, flags.OptionTrustWorkspace,
		flags.OptionWorkspace, flags.OptionExtensionDir, flags.OptionEnableExtension, flags.OptionTrustExtension,
	} {
		if set.Lookup(name) == nil {
			t.Errorf("--%s is not an option", name)
		}
	}
}

// Every option that decides about extensions is described, the other spellings and the refused one aside.
func TestHelpGlobals_isComplete(t *testing.T) {
	var g globals
	set := pflag.NewFlagSet("octet", pflag.ContinueOnError)
	g.register(set)
	set.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(helpGlobals, "--"+f.Name) && f.Name != flags.OptionSafe && f.Name != optionYolo {
			t.Errorf("--%s is not in the help", f.Name)
		}
	})
}

// A description of an extension cannot steer a terminal.
func TestHelp_isPlain(t *testing.T) {
	text := help([]flags.Line{{Extension: "demo", Spelling: "--x", Text: "\u202ereversed"}})
	if strings.Contains(text, "\u202e") || !strings.Contains(text, `\u202ereversed`) {
		t.Errorf("help shows %q", text[len(helpRoot):])
	}
}

func TestNameList(t *testing.T) {
	var list nameList
	for _, word := range []string{"a", " b ,c,,", "d"} {
		if err := list.Set(word); err != nil {
			t.Errorf("%q: %v", word, err)
		}
	}
	for _, word := range []string{"", ",", "-x", "--safe-mode"} {
		if err := list.Set(word); err == nil {
			t.Errorf("%q is taken for a name", word)
		}
	}
	if list.String() != "a,b,c,d" {
		t.Errorf("read %s", list.String())
	}
}

func TestTell_isPlain(t *testing.T) {
	var out bytes.Buffer
	tell(newConsole(&bytes.Buffer{}, &out), []diagnostic.Diagnostic{{
		Level: diagnostic.Error, Path: "/a\x1b[2J", Message: "m", Remedy: "r\a",
	}})
	if want := "error: /a\\x1b[2J: m\n    r\\x07\n"; out.String() != want {
		t.Errorf("told as %q, want %q", &out, want)
	}
}
