package oupreferee

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// What names a file is a handle, and neither a path of a host nor a way out of a folder.
func TestIsHandle(t *testing.T) {
	for name, want := range map[string]bool{
		"artifacts/list.txt": true, "list.txt": true, "a..b": true, "": false, "/etc/passwd": false, "../list.txt": false,
		"a/../b": false, `C:\list.txt`: false, "C:/list.txt": false, `\\host\list.txt`: false,
	} {
		if got := isHandle(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// A text that was cut has room in an activity and ends with something that says so.
func TestIsCut(t *testing.T) {
	full := strings.Repeat("x", oupwire.MaxBackgroundTextBytes)
	for text, want := range map[string]bool{
		full[3:] + "…": true, full[3:] + "...": true, "x [more]": true, full: false, full + "…": false, "": false, "y…": false,
	} {
		if got := isCut(text); got != want {
			t.Errorf("%.10q of %d bytes: %v, want %v", text, len(text), got, want)
		}
	}
}
