//go:build unix

package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every extension of every language and version is built, tested by its own tests and judged by the
// referee, as it was written. It needs what make build prepares: the SDK for TypeScript with its modules.
func TestWrite_passesTheRefereeUnedited(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	run(t, repository, nil, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/octet-conform")
	environment := append(os.Environ(),
		"GOFLAGS=-mod=mod", "GOWORK=off", // go mod tidy asks for the modules that only tests of dependencies use, once
		"PYTHONPATH="+filepath.Join(repository, "sdk-py"), "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+strings.Join([]string{bin, filepath.Join(repository, ".venv", "bin"), os.Getenv("PATH")}, string(filepath.ListSeparator)))
	for _, language := range Languages {
		for _, api := range APIs {
			t.Run(language+" "+api, func(t *testing.T) {
				t.Parallel()
				name := "hello-" + language
				w, err := Write(Options{Parent: t.TempDir(), Name: name, Language: language, API: api, SDK: repository, Release: "0.1.0"})
				if err != nil {
					t.Fatal(err)
				}
				switch language {
				case "go":
					for _, step := range w.Steps[:3] {
						run(t, w.Dir, environment, "sh", "-c", step)
					}
					run(t, w.Dir, environment, "go", "vet", ".")
					if unformatted := run(t, w.Dir, environment, "gofmt", "-l", "."); unformatted != "" {
						t.Errorf("not formatted: %s", unformatted)
					}
				case "python":
					run(t, w.Dir, environment, "sh", "-c", w.Steps[1])
					run(t, w.Dir, environment, "mypy", "--strict", "--cache-dir=/dev/null", "extension.py")
				case "typescript":
					modules(t, repository, w.Dir)
					run(t, w.Dir, environment, "sh", "-c", w.Steps[1])
				}
				// The older version is held to the shorter check: it is the same program with another manifest.
				check := []string{"extension", "."}
				if api != APIs[0] {
					check[0] = "smoke"
				}
				if report := run(t, w.Dir, environment, "octet-conform", check...); strings.Contains(report, "fail") {
					t.Errorf("the referee says:\n%s", report)
				}
			})
		}
	}
}

// modules stands for npm install without the network.
func modules(t *testing.T, repository, dir string) {
	t.Helper()
	installed := filepath.Join(repository, "sdk-ts", "node_modules")
	for link, target := range map[string]string{
		"typescript": filepath.Join(installed, "typescript"), "@types": filepath.Join(installed, "@types"),
		".bin": filepath.Join(installed, ".bin"), "undici-types": filepath.Join(installed, "undici-types"),
		"octet-extension": filepath.Join(repository, "sdk-ts"),
	} {
		path := filepath.Join(dir, "node_modules", link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	// The command is looked up where the environment says.
	command := exec.Command("env", append([]string{name}, args...)...)
	command.Dir, command.Env = dir, environment
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}
