package remoteui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// checkLines judges what the model of a frame leaves open: how much it is in all, and whether its styles are
// ones. The model lets nothing through but printable text and sequences that look like styles.
func checkLines(lines []string) error {
	total := 0
	for i, line := range lines {
		if total += len(line); total > featurewire.MaxUIFrameBytes {
			return fmt.Errorf("its lines have more than %d bytes", featurewire.MaxUIFrameBytes)
		}
		for rest := line; ; {
			_, after, styled := strings.Cut(rest, "\x1b[")
			if !styled {
				break
			}
			style, after, _ := strings.Cut(after, "m")
			if !isStyle(style) {
				return fmt.Errorf("line %d has the style %q, which is none of a terminal", i, style)
			}
			rest = after
		}
	}
	return nil
}

// isStyle reports whether the numbers of a sequence are basic styles and colours of a palette of 16 or 256, or
// of red, green and blue.
func isStyle(numbers string) bool {
	if numbers == "" {
		return true
	}
	list := strings.FieldsFunc(numbers, func(r rune) bool { return r == ';' || r == ':' })
	for len(list) > 0 {
		n, err := strconv.Atoi(list[0])
		list = list[1:]
		switch {
		case err != nil:
			return false
		case n == 38 || n == 48:
			used := colour(list)
			if used == 0 {
				return false
			}
			list = list[used:]
		case n >= 0 && n <= 9, n >= 21 && n <= 29, n >= 30 && n <= 49, n >= 90 && n <= 107:
		default:
			return false
		}
	}
	return true
}

// colour returns how many numbers a colour takes, 0 if they are none.
func colour(list []string) int {
	count := 0
	switch {
	case len(list) >= 2 && list[0] == "5":
		count = 2
	case len(list) >= 4 && list[0] == "2":
		count = 4
	}
	for i := 1; i < count; i++ {
		if n, err := strconv.Atoi(list[i]); err != nil || n < 0 || n > 255 {
			return 0
		}
	}
	return count
}
