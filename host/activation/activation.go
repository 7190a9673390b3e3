// Package activation changes which extensions a user has enabled, and refuses where a change would mean
// something else than it seems to. It writes names into the list of the user's configuration and nothing
// else: never a grant, never another layer.
//
// Rules: MAN-SURFACE-001 to MAN-SURFACE-005. Sheet: manifest 12.2.
package activation

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Editor changes the user's list. Every method looks at the machine anew.
type Editor struct {
	Machine    selection.Machine
	Invocation selection.Invocation
	// Tools are the names of tools that are taken, each with who has it: "octet", or an extension. Nil:
	// those that manifests declare count alone.
	Tools func() map[string]string
	// Required are the tools that somebody explicitly asked for.
	Required []string
}

// Menu is what can be chosen from.
type Menu struct {
	// File is the configuration that is changed.
	File string
	// ReadOnly says which source decides instead of the user's list; empty: the list can be changed.
	ReadOnly string
	Items    []Item // ascending by name
	selected *selection.Selection
}

// Item is one extension of the user, or a name in the list that stands for none.
type Item struct {
	Name        string
	Version     string
	Description string
	// Bundle says that the extension was installed as one.
	Bundle  bool
	Enabled bool
	// Unavailable says why there is nothing to start under this name; empty: there is.
	Unavailable string
	// Source is the selected manifest, empty where there is none.
	Source string
	Scope  discovery.Scope
}

// Refusal says why a change is not made. Nothing was written.
type Refusal struct{ Name, Reason, Remedy string }

// Error names the extension, the reason and the remedy.
func (r *Refusal) Error() string {
	return fmt.Sprintf("extension %q stays as it is: %s; %s", r.Name, r.Reason, r.Remedy)
}

// Menu looks what there is. The error is that of a selection.
//
// Rules: MAN-SURFACE-002, MAN-SURFACE-004.
func (e *Editor) Menu() (*Menu, error) {
	s, err := selection.Resolve(e.Machine, e.Invocation, policy.Session)
	if err != nil {
		return nil, err
	}
	m := &Menu{File: config.UserFile(e.Machine.Home), selected: s}
	setting := s.Config.Setting(config.EnabledExtensions)
	switch {
	case !filepath.IsAbs(e.Machine.Home):
		m.ReadOnly = "the home directory is unknown, so there is no configuration to change"
	case len(e.Invocation.Enable) > 0:
		m.ReadOnly = "--enable-extension of the command line takes part; start without it to change the list"
	case setting.Place.Origin == config.Project:
		m.ReadOnly = fmt.Sprintf("the project decides, in %s; change it there", setting.Place)
	case setting.Place.Origin == config.Environment:
		m.ReadOnly = fmt.Sprintf("the variable %s decides; unset it to change the list", setting.Place)
	}
	enabled := setting.Value.List
	for i := range s.Extensions {
		x := &s.Extensions[i]
		if x.Scope != discovery.Global && !x.Enabled && !e.installed(x.Name) {
			continue // it is not the user's, and nobody has switched it on
		}
		m.Items = append(m.Items, Item{
			Name: x.Name, Version: x.Manifest.Version, Description: x.Manifest.Description, Bundle: e.installed(x.Name),
			Enabled: x.Enabled, Source: x.ManifestPath, Scope: x.Scope,
		})
	}
	for _, name := range enabled {
		if !slices.ContainsFunc(m.Items, func(i Item) bool { return i.Name == name }) {
			m.Items = append(m.Items, Item{Name: name, Enabled: true, Unavailable: e.missing(s, name)})
		}
	}
	slices.SortFunc(m.Items, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

// installed reports whether the user has a bundle of that name. Only its record is looked for.
func (e *Editor) installed(name string) bool {
	info, err := os.Lstat(filepath.Join(e.Machine.Home, ".octet", "extensions", name, "install.json"))
	return err == nil && info.Mode().IsRegular()
}

// missing says why there is no extension of an enabled name.
func (e *Editor) missing(s *selection.Selection, name string) string {
	for _, d := range s.Diagnostics {
		if filepath.Base(d.Path) == manifest.FileName() && filepath.Base(filepath.Dir(d.Path)) == name {
			return d.Message
		}
	}
	return "it is not installed"
}

// find returns an item of the menu, nil if there is none of that name.
func (m *Menu) find(name string) *Item {
	for i := range m.Items {
		if m.Items[i].Name == name {
			return &m.Items[i]
		}
	}
	return nil
}

// Toggle switches an extension on or off in the user's list, for the next time that extensions are
// selected. Shown is the menu that the person saw: whatever is no longer as it was shown, or would mean
// more than the switch says, is a *Refusal.
//
// Rules: MAN-SURFACE-001, MAN-SURFACE-003, MAN-SURFACE-004, MAN-SURFACE-005.
func (e *Editor) Toggle(ctx context.Context, shown *Menu, name string) (enabled bool, err error) {
	seen := shown.find(name)
	if seen == nil {
		return false, &Refusal{name, "it is not in the menu", "octet extension list shows what there is"}
	}
	now, err := e.Menu()
	if err != nil {
		return seen.Enabled, err
	}
	if now.ReadOnly != "" {
		return seen.Enabled, &Refusal{name, "the list cannot be changed here", now.ReadOnly}
	}
	item := now.find(name)
	if item == nil || *item != *seen {
		return seen.Enabled, &Refusal{name, "it is no longer what the menu showed", "look at /extensions again"}
	}
	if item.Enabled {
		err = e.mayDisable(now, item)
	} else {
		err = e.mayEnable(now, item)
	}
	if err != nil {
		return item.Enabled, err
	}
	change := config.Change{Key: config.EnabledExtensions, Name: name, Present: !item.Enabled}
	if _, err := config.Save(ctx, now.File, change); err != nil {
		return item.Enabled, err
	}
	return !item.Enabled, nil
}

// mayEnable refuses what could start something else than what was looked at, and what would not get its
// tools.
func (e *Editor) mayEnable(m *Menu, item *Item) error {
	switch {
	case item.Unavailable != "":
		return &Refusal{item.Name, item.Unavailable, "install it first"}
	case item.Scope != discovery.Global:
		return &Refusal{
			item.Name, fmt.Sprintf("its name belongs to %s here, and the entry would enable that", item.Source),
			"rename one of them, or start without the other",
		}
	}
	if copied := filepath.Join(m.selected.Workspace, ".octet", "extensions", item.Name, manifest.FileName()); !m.selected.WorkspaceTrusted && exists(copied) {
		return &Refusal{
			item.Name, fmt.Sprintf("if this workspace were trusted the entry would enable %s instead", copied),
			"remove that copy, or enable the extension elsewhere",
		}
	}
	entry := m.entry(item.Name)
	taken := m.declared(item.Name)
	if e.Tools != nil {
		maps.Copy(taken, e.Tools())
	}
	for _, tool := range entry.Manifest.Contributes.Tools {
		if owner, found := taken[tool]; found && owner != item.Name {
			return &Refusal{item.Name, fmt.Sprintf("its tool %q has the name of a tool of %s", tool, owner), "disable the other, or rename the tool"}
		}
	}
	return nil
}

// mayDisable refuses to take a tool away that somebody asked for.
func (e *Editor) mayDisable(m *Menu, item *Item) error {
	entry := m.entry(item.Name)
	if entry == nil {
		return nil
	}
	offered := slices.Clone(entry.Manifest.Contributes.Tools)
	if e.Tools != nil {
		for tool, owner := range e.Tools() {
			if owner == item.Name {
				offered = append(offered, tool)
			}
		}
	}
	for _, tool := range e.Required {
		if slices.Contains(offered, tool) {
			return &Refusal{item.Name, fmt.Sprintf("its tool %q is required by --require-tool", tool), "start without the option"}
		}
	}
	return nil
}

func (m *Menu) entry(name string) *selection.Extension {
	for i := range m.selected.Extensions {
		if m.selected.Extensions[i].Name == name {
			return &m.selected.Extensions[i]
		}
	}
	return nil
}

// declared are the tools that the manifests of other enabled extensions declare.
func (m *Menu) declared(besides string) map[string]string {
	taken := map[string]string{}
	for i := range m.selected.Extensions {
		x := &m.selected.Extensions[i]
		if !x.Enabled || x.Name == besides {
			continue
		}
		for _, tool := range x.Manifest.Contributes.Tools {
			taken[tool] = x.Name
		}
	}
	return taken
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
