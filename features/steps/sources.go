package steps

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Directories that a migration adapter is shown.
const (
	sourceSetup  = ""       // a setup, made up or copied from where the profile says
	sourceBroken = "broken" // the same, but no configuration is a JSON object
	sourceEmpty  = "empty"  // nothing
	sourceFile   = "file"   // a file
	sourceLink   = "link"   // a symbolic link to a setup
	sourceGone   = "gone"   // nothing there
)

// configEnding is how the name of a configuration ends.
const configEnding = ".json"

// sources are the directories of one scenario, made when they are first asked for.
type sources struct {
	from string // the directory of a setup; empty: one is made up
	root string
	seen map[string]string // digests of files by path, as they were made
}

// dir returns the path of a directory by its word.
func (s *sources) dir(word string) (string, error) {
	if s.root == "" {
		root, err := os.MkdirTemp("", "octet-conform-*")
		if err != nil {
			return "", err
		}
		s.root = root
		if err := s.make(); err != nil {
			return "", err
		}
		s.seen = digests(root)
	}
	if word == sourceSetup {
		word = "setup"
	}
	return filepath.Join(s.root, word), nil
}

// make fills the directories.
func (s *sources) make() error {
	setup, broken := filepath.Join(s.root, "setup"), filepath.Join(s.root, sourceBroken)
	for _, dir := range []string{setup, broken, filepath.Join(s.root, sourceEmpty)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.root, sourceFile), []byte("{}"), 0o600); err != nil {
		return err
	}
	if err := os.Symlink(setup, filepath.Join(s.root, sourceLink)); err != nil {
		return err
	}
	if s.from == "" {
		content := `{"model":"conform-model","provider":"conform"}`
		if err := os.WriteFile(filepath.Join(setup, "settings"+configEnding), []byte(content), 0o600); err != nil {
			return err
		}
	} else if err := os.CopyFS(setup, os.DirFS(s.from)); err != nil {
		return err
	}
	return spoil(setup, broken)
}

// spoil copies a setup and puts a list in the place of every configuration.
func spoil(setup, broken string) error {
	if err := os.CopyFS(broken, os.DirFS(setup)); err != nil {
		return err
	}
	return filepath.WalkDir(broken, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != configEnding {
			return err
		}
		return os.WriteFile(path, []byte("[]"), 0o600)
	})
}

// changed are the paths that are no longer as they were made.
func (s *sources) changed() []string {
	if s.root == "" {
		return nil
	}
	var out []string
	now := digests(s.root)
	for path, digest := range now {
		if s.seen[path] != digest {
			out = append(out, path)
		}
	}
	for path := range s.seen {
		if _, kept := now[path]; !kept {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// remove takes the directories away.
func (s *sources) remove() {
	if s.root != "" {
		// What cannot be removed stays where the system puts such things.
		_ = os.RemoveAll(s.root)
	}
}

// digests describes everything below a directory. What cannot be read is described by the reason.
func digests(root string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			out[rel] = err.Error()
		case d.Type().IsRegular():
			content, err := os.ReadFile(path)
			sum := sha256.Sum256(content)
			out[rel] = fmt.Sprint(hex.EncodeToString(sum[:]), err)
		default:
			out[rel] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		maps.Copy(out, map[string]string{".": err.Error()})
	}
	return out
}
