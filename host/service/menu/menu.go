// Package menu asks an extension for the menu that a person opens on it, and runs what is chosen there.
//
// A menu is pulled: when the person selects the extension, and after each action. One that is late, broken
// or beyond its bounds is replaced by one entry for each declared command, so there is always something to
// choose from.
//
// Rules: EXT04-MENU, EXT04-CMD. Sheet: feature 8.2, 8.5.
package menu

import (
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Menu is what a person is shown. All texts are plain and come from the extension.
type Menu struct {
	Title    string
	Subtitle string // the first line of Detail
	Detail   string
	// State and Label of the extension, empty for none.
	State, Label, Explanation string
	Items                     []Item
	// Generated: the host made it, because the extension gave none. Why is empty where it need not give one.
	Generated bool
	Why       string
}

// Item is one entry: an action if it has a Command, else a submenu.
type Item struct {
	ID, Label, Description string
	Command                string
	Arguments              []string
	Destructive            bool
	Recommended            bool
	Items                  []Item
	Detail                 string
}

// Generated is the menu of the host's own making: one entry for each command.
func Generated(title string, commands []Command, why string) Menu {
	m := Menu{Title: title, Generated: true, Why: why}
	for _, c := range commands {
		m.Items = append(m.Items, Item{ID: c.Name, Label: c.Name, Description: c.Description, Command: c.Name})
	}
	return m
}

// Command is a command as the generated menu shows it.
type Command struct{ Name, Description string }

// shown turns a judged menu into what is shown.
func shown(name string, m featurewire.MenuCollectResult) Menu {
	detail := m.Detail.Or("")
	subtitle, _, _ := strings.Cut(detail, "\n")
	menu := Menu{Title: m.Title.Or(name), Subtitle: subtitle, Detail: detail, Items: items(m.Items)}
	if status, has := m.Status.Get(); has {
		menu.State, menu.Label, menu.Explanation = string(status.State), status.Label, status.Detail.Or("")
	}
	return menu
}

func items(list []featurewire.MenuItem) []Item {
	out := make([]Item, len(list))
	for i, m := range list {
		out[i] = Item{
			ID: m.ID, Label: m.Label, Description: m.Description.Or(""), Command: m.Command.Or(""),
			Arguments: m.Arguments.Or(nil), Destructive: m.Destructive.Or(false), Recommended: m.Recommended.Or(false),
			Items: items(m.Items.Or(nil)), Detail: m.Detail.Or(""),
		}
	}
	return out
}
