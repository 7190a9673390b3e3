package conform

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/minimise"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// unsafeName is what a file name for a scenario does not keep.
var unsafeName = regexp.MustCompile(`[^a-z0-9]+`)

// keepTranscripts writes the frames of every scenario that is red, if that is asked for, and notes how each is had
// again.
func (inv *invocation) keepTranscripts(flags *runFlags, of report.Subject, seed int64, scenarios []verdict.Scenario) error {
	dir := flags.files.transcripts
	taken := map[string]bool{}
	for i := range scenarios {
		s := &scenarios[i]
		found, red := minimise.Primary(*s)
		if !red || len(s.Frames) == 0 {
			continue
		}
		key := fmt.Sprintf("%s:%d", s.File, s.Line)
		if dir == "" {
			words := []string{"extension", "--run", key, "--seed", fmt.Sprint(seed)}
			if of.Role == report.RoleServer || of.Role == report.RoleClient {
				words[0] = of.Role
				s.Again = again(of, words, flags.hostWords)
				continue
			}
			s.Again = again(of, append(words, flags.subjectWords()...), flags.hostWords)
			if flags.hostWords != nil {
				words[0] = "host"
				s.Again = again(of, append(words, "--api", of.API), flags.hostWords)
			}
			continue
		}
		name := strings.Trim(unsafeName.ReplaceAllString(strings.ToLower(s.Name), "-"), "-")
		if taken[name] {
			name = fmt.Sprintf("%s-%d", name, s.Line)
		}
		taken[name] = true
		path := filepath.Join(dir, name+".jsonl")
		if err := keep(path, transcript.Header{API: of.API, Command: of.Command, Failure: failure(*s, found, seed)}, s.Frames); err != nil {
			return err
		}
		s.Again = again(of, append([]string{"replay", absolute(path)}, flags.subjectWords()...), flags.hostWords)
		fmt.Fprintln(inv.stderr, s.Again)
	}
	return nil
}

// failure is what a transcript says of a scenario that is red.
func failure(s verdict.Scenario, found verdict.Finding, seed int64) *transcript.Failure {
	f := &transcript.Failure{
		Rule: found.Rule, Message: found.Message, Step: found.Step, Missing: found.Missing,
		Scenario: s.Name, File: s.File, Line: s.Line, Steps: s.Steps, Seed: seed, Sent: transcript.Kept(s.Frames),
	}
	if m := s.Minimal; m != nil && m.Sent != nil {
		f.Sent, f.Steps = m.Sent, m.Steps
	}
	if found.Frame >= 0 {
		f.Frame = &found.Frame
	}
	return f
}

func keep(path string, h transcript.Header, frames []wire.Frame) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := transcript.NewWriter(file, h)
	for _, f := range frames {
		w.Add(f)
	}
	return errors.Join(w.Err(), file.Close())
}

// subjectWords are the flags that say more of an extension than where it is, as they are given again.
func (r *runFlags) subjectWords() []string {
	var out []string
	if r.profile != "" {
		out = append(out, "--profile", absolute(r.profile))
	}
	if r.allowCalls {
		out = append(out, "--allow-calls")
	}
	for _, tool := range r.tools {
		out = append(out, "--contributes-tools", tool)
	}
	return out
}

// again is a command line that works wherever it is given: paths are absolute, and a command that may have relative
// ones is run where it was.
func again(of report.Subject, words, hostWords []string) string {
	words = append([]string{program()}, words...)
	switch {
	case hostWords != nil:
		if words[1] == "replay" {
			words = append(words, "--host")
		}
		words = append(words, hostWords...)
	case of.Directory != "":
		return shell(append(words, absolute(of.Directory)))
	default:
		if words[1] != "replay" {
			words = append(words, "--api", of.API)
		}
		words = append(append(words, "--"), of.Command...)
	}
	dir, err := os.Getwd()
	if err != nil || !slices.ContainsFunc(words[1:], func(w string) bool { return w != "--" && !filepath.IsAbs(w) && isFile(w) }) {
		return shell(words)
	}
	return fmt.Sprintf("(cd %s && %s)", shell([]string{dir}), shell(words))
}

func isFile(word string) bool {
	_, err := os.Stat(word)
	return err == nil
}

// program is how this program is called: by its name, if that finds it.
func program() string {
	const name = "octet-conform"
	self, err := os.Executable()
	if err != nil {
		return name
	}
	if found, err := exec.LookPath(name); err == nil {
		if found, err = filepath.Abs(found); err == nil && sameFile(found, self) {
			return name
		}
	}
	return self
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// plain is a word that a shell reads as it stands.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shell spells words so that a shell reads them as they are.
func shell(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !plain.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
