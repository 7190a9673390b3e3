package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/flags"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/scaffold"
)

const helpCompletion = `octet completion prints a script that completes commands, options and their values in a shell.

Usage:
  octet completion bash|zsh|fish

Examples:
  source <(octet completion bash)                                      for this shell
  octet completion bash > ~/.local/share/bash-completion/completions/octet
  octet completion zsh > "${fpath[1]}/_octet"
  octet completion fish > ~/.config/fish/completions/octet.fish

` + exitCodes

func completion() *command {
	return &command{
		name: "completion", short: "Print a script that completes in a shell.", help: helpCompletion,
		flags: func(*pflag.FlagSet) {},
		run: func(_ context.Context, c *console, args []string) (int, error) {
			switch {
			case len(args) == 0:
				return exitUsage, usagef("octet completion needs a shell: %s", strings.Join(shellNames(), ", "))
			case len(args) > 1:
				return exitUsage, usagef("unexpected argument %q; octet completion takes one shell", args[1])
			}
			for _, s := range shells {
				if s.name == args[0] {
					c.print(s.script(places()))
					return exitOK, nil
				}
			}
			return exitUsage, usagef("unknown shell %q; there are: %s", args[0], strings.Join(shellNames(), ", "))
		},
	}
}

var shells = []struct {
	name   string
	script func([]place) string
}{{"bash", bash}, {"zsh", zsh}, {"fish", fish}}

func shellNames() []string {
	names := make([]string, len(shells))
	for i, s := range shells {
		names[i] = s.name
	}
	return names
}

// place is where a command line can stand: behind the names of a command.
type place struct {
	path     string // the names, with spaces between
	commands []*command
	options  []option
}

// option is one option of a command.
type option struct {
	name   string // without hyphens
	short  string
	value  bool     // it takes one
	values []string // that are known; none: it may be a file
}

// values are the values of options that are words of a list, by the option's name.
func values() map[string][]string {
	return map[string][]string{
		"output":                 {outputText, outputJSON},
		"lang":                   scaffold.Languages,
		"api":                    scaffold.APIs,
		flags.OptionEffectPolicy: policy.Effects,
	}
}

// places lists every command with its options, as the parsers know them.
func places() []place {
	var list []place
	var walk func(cmd *command, path string)
	walk = func(cmd *command, path string) {
		p := place{path: strings.TrimSpace(path + " " + cmd.name), commands: cmd.group}
		set := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
		set.SortFlags = false
		switch {
		case path == "":
			new(ordinary).options(set)
			p.commands = append(slices.Clone(p.commands), &command{name: "help", short: "Show the help of a command."})
		case cmd.flags != nil:
			cmd.flags(set)
		}
		set.VisitAll(func(f *pflag.Flag) {
			if f.Name == optionYolo {
				return // it is refused
			}
			known := values()[f.Name]
			if own := f.Annotations[annotationValues]; own != nil {
				known = own
			}
			p.options = append(p.options, option{name: f.Name, short: f.Shorthand, value: f.NoOptDefVal == "", values: known})
		})
		if set.Lookup("help") == nil {
			p.options = append(p.options, option{name: "help", short: "h"})
		}
		list = append(list, p)
		for _, inner := range cmd.group {
			walk(inner, p.path)
		}
	}
	walk(root(), "")
	return list
}

// annotationValues holds the legal words of an option whose name has others elsewhere.
const annotationValues = "values"

// words are what may stand at a place: commands, then options.
func (p place) words() []string {
	var words []string
	for _, cmd := range p.commands {
		words = append(words, cmd.name)
	}
	for _, o := range p.options {
		words = append(words, "--"+o.name)
	}
	return words
}

// paths lists the places below octet, as patterns of a shell's case.
func paths(list []place) string {
	var quoted []string
	for _, p := range list[1:] {
		quoted = append(quoted, `"`+p.path+`"`)
	}
	return strings.Join(quoted, "|")
}

// cases writes the arms of a shell's case for the values of options and for the words of places. The
// function offer wraps words.
func cases(b *strings.Builder, list []place, offer func(words []string) string, file string) {
	b.WriteString("  case \"$at $before\" in\n")
	for _, p := range list {
		for _, o := range p.options {
			switch {
			case o.values != nil:
				fmt.Fprintf(b, "    %q) %s; return ;;\n", p.path+" --"+o.name, offer(o.values))
			case o.value:
				fmt.Fprintf(b, "    %q) %s; return ;;\n", p.path+" --"+o.name, file)
			}
		}
	}
	b.WriteString("  esac\n  case \"$at\" in\n")
	for _, p := range list {
		fmt.Fprintf(b, "    %q) %s ;;\n", p.path, offer(p.words()))
	}
	b.WriteString("  esac\n")
}

func bash(list []place) string {
	var b strings.Builder
	b.WriteString(`# Completion of octet for bash, made by octet completion bash.
_octet() {
  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" at=octet i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${COMP_WORDS[i]}" in
      ` + paths(list) + `) at="$at ${COMP_WORDS[i]}" ;;
    esac
  done
`)
	cases(&b, list, func(words []string) string {
		return `mapfile -t COMPREPLY < <(compgen -W "` + strings.Join(words, " ") + `" -- "$current")`
	}, `mapfile -t COMPREPLY < <(compgen -f -- "$current")`)
	b.WriteString(`  if [ "${#COMPREPLY[@]}" = 0 ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _octet octet
`)
	return b.String()
}

func zsh(list []place) string {
	var b strings.Builder
	b.WriteString(`#compdef octet
# Completion of octet for zsh, made by octet completion zsh.
_octet() {
  local at=octet before="${words[CURRENT-1]}" i
  for ((i = 2; i < CURRENT; i++)); do
    case "$at ${words[i]}" in
      (` + paths(list) + `) at="$at ${words[i]}" ;;
    esac
  done
`)
	cases(&b, list, func(words []string) string { return "compadd -- " + strings.Join(words, " ") }, "_files")
	b.WriteString(`  _files
}
if [ "${funcstack[1]}" = _octet ]; then
  _octet "$@"
else
  compdef _octet octet
fi
`)
	return b.String()
}

func fish(list []place) string {
	var b strings.Builder
	b.WriteString(`# Completion of octet for fish, made by octet completion fish.
function __octet_at
    set -l at octet
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ` + strings.ReplaceAll(paths(list), "|", " ") + `
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
`)
	for _, p := range list {
		condition := "'__octet_at " + p.path + "'"
		for _, cmd := range p.commands {
			fmt.Fprintf(&b, "complete -c octet -n %s -a %s -d %s\n", condition, cmd.name, fishQuote(cmd.short))
		}
		for _, o := range p.options {
			fmt.Fprintf(&b, "complete -c octet -n %s -l %s", condition, o.name)
			if o.short != "" {
				fmt.Fprintf(&b, " -s %s", o.short)
			}
			switch {
			case o.values != nil:
				fmt.Fprintf(&b, " -x -a %s", fishQuote(strings.Join(o.values, " ")))
			case o.value:
				b.WriteString(" -r")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func fishQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" }
