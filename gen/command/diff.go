package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/diff"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
	specfiles "github.com/octet-dev/octet/spec"
)

// Exit code of diff where nothing is breaking and something unknown.
const exitUnknown = 3

const (
	formatText = "text"
	formatJSON = "json"
	embedded   = "embedded"
)

// diff compares two specs.
func (c *command) diff(args []string) int {
	if len(args) < 2 {
		return c.misuse("diff needs two specs; write octet-gen diff OLD NEW")
	}
	for _, choice := range []struct {
		flag, value string
		legal       []string
	}{
		{"role", c.role, []string{"", string(diff.Extension), string(diff.Host), string(diff.Client), string(diff.Server)}},
		{"direction", c.direction, []string{"", string(diff.Read), string(diff.Write)}},
		{"format", c.format, []string{formatText, formatJSON}},
	} {
		if !slices.Contains(choice.legal, choice.value) {
			legal := slices.DeleteFunc(choice.legal, func(s string) bool { return s == "" })
			return c.misuse("--%s is %q; use %s", choice.flag, choice.value, strings.Join(legal, " or "))
		}
	}
	var specs [2]*model.Spec
	for i, arg := range args {
		var err error
		if specs[i], err = readSide(arg); err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				fmt.Fprintf(c.stderr, "octet-gen: %s: %s\n", arg, line)
			}
			return exitUsage
		}
	}
	if names := wireNames(specs[:]...); c.wire != "" && !slices.Contains(names, c.wire) {
		return c.misuse("unknown wire %q; want one of %s", c.wire, strings.Join(names, ", "))
	}
	r := report{old: args[0], new: args[1], frozen: c.frozen, changes: c.selected(diff.Compare(specs[0], specs[1]))}
	if c.format == formatJSON {
		if err := r.json(c.stdout); err != nil {
			return c.fail(err)
		}
	} else {
		r.text(c.stdout, c.paint)
	}
	switch diff.Overall(r.changes, c.frozen) {
	case diff.Breaking:
		return exitFound
	case diff.Unknown:
		return exitUnknown
	default:
		return exitOK
	}
}

// selected keeps the changes that the flags ask for.
func (c *command) selected(changes []diff.Change) []diff.Change {
	return slices.DeleteFunc(changes, func(change diff.Change) bool {
		return c.role != "" && string(change.Role) != c.role ||
			c.direction != "" && string(change.Direction) != c.direction ||
			c.wire != "" && change.Wire != c.wire
	})
}

// readSide loads the spec that an argument names. Rules, vectors and requirements are left out: they say nothing about
// the wires that the models and tables do not say.
func readSide(arg string) (*model.Spec, error) {
	if arg == embedded {
		return load.Load(wiresOnly{specfiles.Files})
	}
	for _, dir := range []string{arg, filepath.Join(arg, "spec")} {
		if _, err := os.Stat(filepath.Join(dir, "wires.json")); err != nil {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return load.Load(wiresOnly{root.FS()})
	}
	return nil, fmt.Errorf("holds neither wires.json nor spec/wires.json; name a folder that does, or write %q", embedded)
}

// wiresOnly hides the folders of a spec that do not describe wires.
type wiresOnly struct{ fs.FS }

func hidden(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return top == "rules" || top == "vectors" || top == "requirements"
}

// Stat must not open the file: it may be a pipe.
func (w wiresOnly) Stat(name string) (fs.FileInfo, error) { return fs.Stat(w.FS, name) }

// ReadDir leaves the hidden folders out.
func (w wiresOnly) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, name)
	if name == "." {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return hidden(e.Name()) })
	}
	return entries, err
}
