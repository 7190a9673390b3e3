package promptcontext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

func start(t *testing.T, p *Pool, name, contributes string) *extensiontest.Rig {
	t.Helper()
	return extensiontest.Start(t, extensiontest.Setup{
		Name: name, Contributes: "tools = [\"work\"]\n" + contributes, Options: extension.Options{Bindings: []extension.Binding{p.Binding()}},
	})
}

func contribute(rig *extensiontest.Rig, label, content string) {
	rig.Tell(featurewire.MethodContextContribution, fmt.Sprintf(`{"label":%q,"content":%q}`, label, content))
}

func labels(list []Contribution) string {
	var all []string
	for _, c := range list {
		all = append(all, c.Extension+"/"+c.Label)
	}
	return strings.Join(all, " ")
}

// EXT04-CTX-006, EXT04-CTX-007.
func TestPool(t *testing.T) {
	p := &Pool{}
	zoo, ant := start(t, p, "zoo", "context = true"), start(t, p, "ant", "context = true")
	quiet := start(t, p, "quiet", "")
	contribute(zoo, "1", "a")
	zoo.Flush()
	contribute(ant, "1", "b")
	ant.Tell(featurewire.MethodContextContribution, `{"label":"2","content":"c","placement":"system_prefix"}`)
	for _, bad := range []string{
		`{"label":"3"}`, `{"label":"3","content":"x","placement":"footer"}`, `{"label":7,"content":"x"}`, `[]`, `null`,
		`{"label":"` + strings.Repeat("x", featurewire.MaxContextLabelBytes+1) + `","content":"x"}`,
	} {
		ant.Tell(featurewire.MethodContextContribution, bad)
	}
	ant.Flush()
	contribute(zoo, strings.Repeat("x", featurewire.MaxContextLabelBytes), "")
	contribute(quiet, "1", "x")
	zoo.Flush()
	quiet.Flush()
	got := p.Take()
	if want := "ant/1 ant/2 zoo/1 zoo/" + strings.Repeat("x", featurewire.MaxContextLabelBytes); labels(got) != want {
		t.Errorf("taken: %s", labels(got))
	}
	if got[0].Placement != featurewire.ContextPlacementPromptSuffix || got[0].Content != "b" || got[1].Placement != featurewire.ContextPlacementSystemPrefix {
		t.Errorf("%+v", got)
	}
	if again := p.Take(); again != nil {
		t.Errorf("taken twice: %s", labels(again))
	}
	quiet.X.Close()
	if !quiet.Diagnosed("context = true") {
		t.Errorf("diagnostics: %q", quiet.Diagnostics())
	}
	// What a generation contributed goes with it.
	contribute(zoo, "late", "x")
	zoo.Flush()
	contribute(ant, "stays", "x")
	ant.Flush()
	zoo.X.Close()
	if p.bytes != len("stays")+len("x") {
		t.Errorf("%d bytes wait", p.bytes)
	}
	if got := labels(p.Take()); got != "ant/stays" {
		t.Errorf("taken: %s", got)
	}
	if p.bytes != 0 {
		t.Errorf("an empty pool has %d bytes", p.bytes)
	}
}

// MAN-SUPER-007.
func TestPool_bounds(t *testing.T) {
	p := &Pool{}
	rig := start(t, p, "demo", "context = true")
	for i := range featurewire.MaxPendingContexts {
		contribute(rig, fmt.Sprint(i), "")
	}
	contribute(rig, "over", "")
	rig.Flush()
	if got := p.Take(); len(got) != featurewire.MaxPendingContexts || got[len(got)-1].Label != "255" {
		t.Errorf("%d wait, the last is %q", len(got), got[len(got)-1].Label)
	}
	contribute(rig, "half", strings.Repeat("x", featurewire.MaxContextBytes/2-4))
	contribute(rig, "rest", strings.Repeat("x", featurewire.MaxContextBytes/2-4))
	contribute(rig, "x", "")
	rig.Flush()
	if got := labels(p.Take()); got != "demo/half demo/rest" {
		t.Errorf("taken: %s", got)
	}
	p.Put(rig.X, []featurewire.ContextContribution{{Label: "of a command", Content: "x"}, {Label: "large", Content: strings.Repeat("x", featurewire.MaxContextBytes)}})
	if got := labels(p.Take()); got != "demo/of a command" {
		t.Errorf("taken: %s", got)
	}
	rig.X.Close()
	for _, want := range []string{"256 contributions wait", `with "x" the context would exceed 262144 bytes`, `with "large"`} {
		if !rig.Diagnosed(want) {
			t.Errorf("no diagnostic tells %q: %q", want, rig.Diagnostics())
		}
	}
}

// MAN-SUPER-007.
func TestTurn(t *testing.T) {
	var turn Turn
	answer := func(count, bytes int) (list []featurewire.ContextContribution) {
		for i := range count {
			label := fmt.Sprint(i)
			list = append(list, featurewire.ContextContribution{Label: label, Content: strings.Repeat("x", bytes-len(label))})
		}
		return list
	}
	if err := turn.Collected("a", answer(200, 1024)); err != nil {
		t.Error(err)
	}
	if err := turn.Collected("b", answer(56, 1024)); err != nil {
		t.Error(err)
	}
	// Both bounds are reached exactly.
	if err := turn.Collected("c", answer(2, 1)); err == nil || !strings.Contains(err.Error(), "2 contributions are dropped; the first: a turn has at most 256") {
		t.Errorf("%v", err)
	}
	if got := turn.Contributions(); len(got) != featurewire.MaxPendingContexts || got[255].Extension != "b" {
		t.Errorf("%d contributions", len(got))
	}
	var large Turn
	if err := large.Add(Contribution{Label: "x", Content: strings.Repeat("x", featurewire.MaxContextBytes)}, Contribution{Label: "y", Content: "fits"}); err == nil || labels(large.Contributions()) != "/y" {
		t.Errorf("%v, %s", err, labels(large.Contributions()))
	}
	if err := large.Add(Contribution{Label: strings.Repeat("x", featurewire.MaxContextLabelBytes+1)}); err == nil || !strings.Contains(err.Error(), "a label of 1025 bytes") {
		t.Errorf("%v", err)
	}
}
