package builtin

import (
	"runtime"
	"slices"
	"strings"
)

// keys are variables that hold what this program pays model providers with. Commands do not need them.
var keys = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"}

// Environment is what commands get of ours.
func Environment(ours []string) []string {
	return slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(keys, name) || strings.HasPrefix(name, "OCTET_")
	})
}

// DefaultShell is the shell that every system of its kind has.
func DefaultShell() string {
	if runtime.GOOS == "windows" {
		return `C:\Windows\System32\cmd.exe`
	}
	return "/bin/sh"
}

// ShellWords are the arguments with which a shell runs a command, standard error joined to standard output.
func ShellWords(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"/d", "/s", "/c", "(" + command + ") 2>&1"}
	}
	return []string{"-c", "exec 2>&1\n" + command}
}
