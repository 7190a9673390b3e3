package cli

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var exitCodeLine = regexp.MustCompile(`(?m)^  (\d+) +\S`)

// TestHelp_exitCodes stand in their order, and end with those of signals and pipes, whatever the command.
func TestHelp_exitCodes(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, words := range []string{
		"", "tool call", "extension list", "extension inspect", "extension new", "extension install", "extension update", "extension remove",
		"sessions list", "sessions show", "sessions export", "sessions delete", "config", "doctor", "serve", "host", "completion",
		"auth issue-work-secret", "auth revoke-work-secret",
	} {
		var out, complaints bytes.Buffer
		if code := Main(t.Context(), append(strings.Fields(words), "--help"), strings.NewReader(""), &out, &complaints); code != exitOK {
			t.Fatalf("octet %s --help: exit code %d: %s", words, code, complaints.String())
		}
		_, listed, found := strings.Cut(out.String(), "\nExit codes:\n")
		var codes []int
		for _, line := range exitCodeLine.FindAllStringSubmatch(listed, -1) {
			code, err := strconv.Atoi(line[1])
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code)
		}
		if !found || !slices.IsSorted(codes) || len(codes) < 2 || !slices.Equal(codes[len(codes)-2:], []int{130, exitPipe}) {
			t.Errorf("octet %s --help lists the exit codes %v", words, codes)
		}
		if slices.Contains(codes, exitLocked) != (words == "serve") {
			t.Errorf("octet %s --help lists the exit codes %v, and %d is of serve", words, codes, exitLocked)
		}
	}
}
