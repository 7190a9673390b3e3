package builtin

import (
	"runtime"
	"slices"
	"strings"
)

// Names of variables that commands do not get: those of this program, among them the token of its server, and those that
// hold what it pays model providers with. A profile may name a provider of its own, so it is the ending that counts.
var (
	ourPrefixes = []string{"OCTET_", "OCTOS_"}
	keySuffixes = []string{"_API_KEY", "_AUTH_TOKEN"}
)

// Environment is what commands get of ours.
func Environment(ours []string) []string {
	return slices.DeleteFunc(slices.Clone(ours), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return IsOurs(name) || IsKey(name)
	})
}

// IsOurs reports whether a variable is one of this program.
func IsOurs(name string) bool {
	name = strings.ToUpper(name) // Windows knows no case
	return slices.ContainsFunc(ourPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// IsKey reports whether a variable is called like one with the key of a provider of models.
func IsKey(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(keySuffixes, func(s string) bool { return strings.HasSuffix(name, s) })
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
