package tool

import (
	"context"
	"strings"
	"testing"
)

type named Definition

func (n named) Definition() Definition                  { return Definition(n) }
func (named) Run(context.Context, Call) (Result, error) { return Result{}, nil }

func TestOf(t *testing.T) {
	s, err := Of(named{Name: "b"}, named{Name: "a"}, named{Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range s.Tools() {
		names = append(names, tool.Definition().Name)
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("tools in the order %s", got)
	}
	if s.Find("b") == nil || s.Find("d") != nil {
		t.Errorf("found: %v, %v", s.Find("b"), s.Find("d"))
	}
	if again, err := Always(s).Snapshot(context.Background()); err != nil || again != s {
		t.Errorf("%v %v", again, err)
	}
	_, err = Of(named{Name: "a"}, named{Name: "b"}, named{Name: "a", Provider: "demo"})
	if err == nil || err.Error() != `two tools are called "a": one of the host, one of extension "demo"` {
		t.Errorf("two of a name: %v", err)
	}
}
