package selftest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/subject"
)

// TestMain makes this program play one that lists faults when it is asked to.
func TestMain(m *testing.M) {
	if list, plays := os.LookupEnv("SELFTEST_LIST"); plays {
		fmt.Print(list)
		return
	}
	os.Exit(m.Run())
}

func TestProgram_listsItsFaults(t *testing.T) {
	const good = `{"name":"a","rule":"EXT04-ENV-005","api":"0.4","doc":"drops a request"}` + "\n"
	for _, c := range []struct{ list, want string }{
		{good, ""},
		{"", "there is no fault in it"},
		{"hello\n", "invalid character"},
		{good + good, `fault "a" is there twice`},
		{strings.Replace(good, `"a"`, `"none"`, 1), `fault "none" is there twice`},
		{strings.Replace(good, "drops a request", "", 1), "has no name or description"},
		{strings.Replace(good, "EXT04-ENV-005", "EXT04-ENV-999", 1), "rule EXT04-ENV-999, which is none"},
		{strings.Replace(good, "0.4", "0.3", 1), "none of an extension on API 0.3"},
	} {
		p := selftest.Program{Name: "peers", Command: subject.Command{Path: os.Args[0], Env: append(os.Environ(), "SELFTEST_LIST="+c.list)}}
		faults, err := p.Faults(t.Context())
		switch {
		case c.want == "" && (err != nil || len(faults) != 1 || faults[0].Rule != "EXT04-ENV-005"):
			t.Errorf("%q: %v, %v", c.list, faults, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.list, err, c.want)
		}
	}
}
