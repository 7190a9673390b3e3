package oupreferee_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/oupreferee"
)

// starts is a shell command that starts a child in a session of its own. It goes on once the child is there and has
// written its id to a file.
func starts(file string) string {
	return "mkfifo " + file + ".there; setsid sh -c 'echo $$ >" + file + "; echo >" + file + ".there; exec sleep 600' </dev/null >/dev/null 2>&1 & read -r line <" + file + ".there"
}

// mustBeOver fails where the process in a file still runs.
func mustBeOver(t *testing.T, file string) {
	t.Helper()
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the child still runs: %s", stat)
	}
}

// A child that left the session of a server is ended with the scenario, whether the server waits for its end or not.
func TestRun_endsWhatLeftTheGroup(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, then := range map[string]string{"server is killed": "; exec >&-; while read -r line; do :; done", "server ends": "; read -r line"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			setup := &oupreferee.Setup{Target: oupreferee.Target{
				Transport: oupreferee.Stdio, Wait: time.Hour, Env: os.Environ(), Command: []string{shell, "-c", starts(file) + then},
			}, Wait: time.Hour}
			if _, err := oupreferee.Run(t.Context(), oupreferee.Options{Setup: setup, Select: one()}); err != nil {
				t.Fatal(err)
			}
			mustBeOver(t, file)
		})
	}
}

// The same of a client.
func TestRunClient_endsWhatLeftTheGroup(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	setup := &oupreferee.ClientSetup{Command: []string{shell, "-c", starts(file)}, Env: os.Environ(), Wait: time.Hour}
	if _, err := oupreferee.RunClient(t.Context(), oupreferee.ClientOptions{Setup: setup, Select: one()}); err != nil {
		t.Fatal(err)
	}
	mustBeOver(t, file)
}
