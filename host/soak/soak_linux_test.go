package soak

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/octet-dev/octet/process/guard"
)

var (
	length = flag.Duration("time", 4*time.Second, "how long the host is soaked")
	each   = flag.Int("each", 2, "how many extensions of each language")
	seed   = flag.Uint64("seed", 0, "chooses what is drawn; 0: anew")
	out    = flag.String("out", "", "the directory for soak.md, soak.svg and soak.json; empty: none")
)

func TestMain(m *testing.M) {
	guard.Main()
	Main()
	os.Exit(m.Run())
}

// begin is a soak of this program. It needs what make build prepares.
func soakOf(t *testing.T) Soak {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	return Soak{Program: program, Dir: t.TempDir(), Repository: repository, Length: *length, Each: *each, Seed: *seed, Told: progress()}
}

func TestSoak(t *testing.T) {
	report, err := soakOf(t).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", report.Markdown(""))
	for _, finding := range report.Findings {
		t.Error(finding)
	}
	if *out == "" {
		return
	}
	samples, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"soak.md": report.Markdown("soak.svg"), "soak.svg": report.SVG(), "soak.json": string(samples)} {
		if err := os.WriteFile(filepath.Join(*out, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A host that leaks is found out, whatever it leaks.
func TestSoak_findsLeaks(t *testing.T) {
	for leak, want := range map[Leak]string{LeakMemory: "live heap", LeakGoroutines: "goroutines", LeakDescriptors: "descriptors"} {
		t.Run(string(leak), func(t *testing.T) {
			t.Parallel()
			s := soakOf(t)
			s.Languages, s.Each, s.Length, s.Leak, s.Told = []string{raw}, 2, 4*time.Second, leak, nil
			report, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if found := strings.Join(report.Findings, "\n"); !strings.Contains(found, want+" grew from") {
				t.Errorf("found %q, want that %s grew:\n%s", found, want, report.Markdown(""))
			}
		})
	}
}

// progress shows on a terminal how far the soak is.
func progress() func(Sample) {
	const width = 40
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	return func(s Sample) {
		done := min(int(s.At*width / *length), width)
		fmt.Fprintf(os.Stderr, "\r[%s%s] %s, %d calls, %d restarts, %d MiB, %d goroutines ", strings.Repeat("#", done), strings.Repeat(".", width-done),
			s.At.Round(time.Second), s.Counts.Calls, s.Counts.Restarts, s.Resident>>20, s.Goroutines)
	}
}
