package near

import "testing"

func TestFind(t *testing.T) {
	keys := []string{"tools", "commands", "hooks", "tool_renderers", "ui"}
	for word, want := range map[string]string{
		"tool":      "tools",
		"toosl":     "tools",
		"Tools":     "tools",
		"comands":   "commands",
		"hook":      "hooks",
		"themes":    "",
		"u":         "ui",
		"xy":        "",
		"":          "",
		"tools":     "tools",
		"renderers": "",
	} {
		if got := Find(word, keys); got != want {
			t.Errorf("Find(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestFind_closestWins(t *testing.T) {
	if got := Find("abcdefg", []string{"abcdexx", "abcdefx"}); got != "abcdefx" {
		t.Errorf("got %q, want the closer one", got)
	}
}
