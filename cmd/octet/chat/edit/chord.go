package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// chords are the control characters that the editor has no use for. The one that stops programs is left out.
var chords = map[byte]string{
	0x07: "ctrl+g", 0x0f: "ctrl+o", 0x11: "ctrl+q", 0x13: "ctrl+s", 0x14: "ctrl+t", 0x16: "ctrl+v", 0x18: "ctrl+x", 0x19: "ctrl+y",
}

// functionKeys are what terminals send for them behind an escape.
var functionKeys = map[string]string{
	"OP": "f1", "OQ": "f2", "OR": "f3", "OS": "f4", "[11~": "f1", "[12~": "f2", "[13~": "f3", "[14~": "f4", "[15~": "f5",
	"[17~": "f6", "[18~": "f7", "[19~": "f8", "[20~": "f9", "[21~": "f10", "[23~": "f11", "[24~": "f12",
}

// chordOf is the name of a key that the editor has no use for, behind an escape; empty if it is none.
func chordOf(sequence string) string {
	if name, known := functionKeys[sequence]; known {
		return name
	}
	if c := sequence[0]; len(sequence) == 1 && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
		return "alt+" + sequence
	}
	return ""
}

// Bindable reports whether a key can be given away: the editor sees it and has no use for it. Keys are
// written like ctrl+g, alt+x and f5. The error says why not.
func Bindable(name string) error {
	for _, known := range chords {
		if name == known {
			return nil
		}
	}
	for _, known := range functionKeys {
		if name == known {
			return nil
		}
	}
	modifier, letter, _ := strings.Cut(name, "+")
	switch {
	case modifier == "alt" && len(letter) == 1 && chordOf(letter) != "":
		if _, used := sequences[letter]; !used {
			return nil
		}
		return errors.New("the line editor moves by words with it")
	case modifier == "ctrl" && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z':
		return errors.New("the line editor or the terminal uses it")
	case strings.HasPrefix(name, "ctrl+shift+"):
		return errors.New("a terminal does not tell it from the key without shift")
	}
	var free []string
	for _, known := range chords {
		free = append(free, known)
	}
	slices.Sort(free)
	return fmt.Errorf("it is none that a line editor sees; there are %s, alt+ with a letter or digit, and f1 to f12", strings.Join(free, ", "))
}

// SetPress says who is told of keys that the editor has no use for, while the person composes. It must not
// block. Nothing may be read.
func (e *Editor) SetPress(press func(key string)) { e.press = press }
