package menu

import (
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Judge holds a menu to the rules that its model cannot tell. The error names the first fault; a menu with
// one is refused whole.
//
// Rules: EXT04-MENU-001, EXT04-MENU-002.
func Judge(m featurewire.MenuCollectResult, commands []string) error {
	if n := len(m.AppendJSON(nil)); n > featurewire.MaxMenuBytes {
		return fmt.Errorf("the menu has %d bytes, more than %d; offer less", n, featurewire.MaxMenuBytes)
	}
	count := 0
	return judgeLevel(m.Items, 1, &count, commands)
}

func judgeLevel(items []featurewire.MenuItem, level int, count *int, commands []string) error {
	if len(items) > 0 && level > featurewire.MaxMenuLevels {
		return fmt.Errorf("the menu has more than %d levels", featurewire.MaxMenuLevels)
	}
	if *count += len(items); *count > featurewire.MaxMenuItems {
		return fmt.Errorf("the menu has more than %d items in all", featurewire.MaxMenuItems)
	}
	recommended := ""
	for i, item := range items {
		if item.Recommended.Or(false) {
			if recommended != "" {
				return fmt.Errorf("items %q and %q of one level are both recommended", recommended, item.ID)
			}
			recommended = items[i].ID
		}
		if err := judgeItem(item, level, count, commands); err != nil {
			return err
		}
	}
	return nil
}

func judgeItem(item featurewire.MenuItem, level int, count *int, commands []string) error {
	below, isMenu := item.Items.Get()
	command, isAction := item.Command.Get()
	switch {
	case isMenu && !item.Arguments.IsAbsent():
		return fmt.Errorf("submenu %q has arguments", item.ID)
	case isMenu && !item.Destructive.IsAbsent():
		return fmt.Errorf("submenu %q says whether it is destructive", item.ID)
	case isMenu:
		return judgeLevel(below, level+1, count, commands)
	case isAction && !slices.Contains(commands, command):
		return fmt.Errorf("item %q runs the command %q, which is not declared", item.ID, command)
	}
	return nil
}
