package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/diagnostic"
)

// SkillFile is the name of the file that makes a directory a skill.
const SkillFile = "SKILL.md"

// SkillScope says where a skill comes from.
type SkillScope string

// The scopes, the weakest first.
const (
	SkillAgents   SkillScope = "agents"   // ~/.agents/skills
	SkillPi       SkillScope = "pi"       // ~/.pi/agent/skills
	SkillBundle   SkillScope = "bundle"   // of a managed, compatible bundle
	SkillUser     SkillScope = "user"     // ~/.octet/skills
	SkillProject  SkillScope = "project"  // of a trusted workspace
	SkillExplicit SkillScope = "explicit" // --skill-dir
)

// Skill is a candidate: nothing has read or activated it.
type Skill struct {
	Name   string // of its directory
	Path   string // of its SKILL.md
	Scope  SkillScope
	Bundle string // id, for SkillBundle
}

// SkillPlaces says where skills may be.
type SkillPlaces struct {
	Home             string // absolute, or unknown
	Workspace        string // absolute; empty: there is none
	WorkspaceTrusted bool
	Directories      []string // of --skill-dir, in the order of the command line
}

// Skills lists the candidates by ascending name. Of several with one name the strongest counts: agents, pi,
// bundles by ascending id, the user's own, the project's, then those of the command line, the last first.
// The bundles are those that List returned; one that is not compatible has no skills here.
//
// Sheet: manifest 11.4.
func Skills(places SkillPlaces, bundles []Installed) ([]Skill, []diagnostic.Diagnostic) {
	found := map[string]Skill{}
	var told []diagnostic.Diagnostic
	add := func(directory string, template Skill) {
		names, problem := skillNames(directory)
		if problem != nil {
			told = append(told, *problem)
		}
		for _, name := range names {
			skill := template
			skill.Name, skill.Path = name, filepath.Join(directory, name, SkillFile)
			if weaker, shadowed := found[name]; shadowed {
				told = append(told, diagnostic.Diagnostic{
					Level: diagnostic.Info, Path: weaker.Path, Rule: "MAN-INSTALL-017",
					Message: fmt.Sprintf("skill %q is shadowed by %s", name, skill.Path),
					Remedy:  "give one of them another name if both are wanted",
				})
			}
			found[name] = skill
		}
	}
	home := filepath.IsAbs(places.Home)
	if home {
		add(filepath.Join(places.Home, ".agents", "skills"), Skill{Scope: SkillAgents})
		add(filepath.Join(places.Home, ".pi", "agent", "skills"), Skill{Scope: SkillPi})
	}
	for _, bundle := range bundles {
		if bundle.Compatible() {
			add(filepath.Join(bundle.Directory, "skills"), Skill{Scope: SkillBundle, Bundle: bundle.ID})
		}
	}
	if home {
		add(filepath.Join(places.Home, ".octet", "skills"), Skill{Scope: SkillUser})
	}
	if places.Workspace != "" && places.WorkspaceTrusted {
		add(filepath.Join(places.Workspace, ".octet", "skills"), Skill{Scope: SkillProject})
	}
	for _, directory := range places.Directories {
		add(directory, Skill{Scope: SkillExplicit})
	}
	list := make([]Skill, 0, len(found))
	for _, skill := range found {
		list = append(list, skill)
	}
	slices.SortFunc(list, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return list, told
}

// skillNames lists the directories of a directory that hold a SKILL.md, without following a link.
func skillNames(directory string) ([]string, *diagnostic.Diagnostic) {
	problem := func(err error) *diagnostic.Diagnostic {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return &diagnostic.Diagnostic{
			Level: diagnostic.Warning, Path: directory, Message: "skills cannot be looked for here: " + bare(err).Error(),
			Remedy: "make it a directory that can be read, or remove it",
		}
	}
	if info, err := os.Lstat(directory); err != nil {
		return nil, problem(err)
	} else if !info.IsDir() {
		return nil, problem(errors.New("it is a link or no directory"))
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, problem(err)
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, problem(err)
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if info, err := root.Lstat(entry.Name() + "/" + SkillFile); err == nil && info.Mode().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
