package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Of makes a snapshot of tools. An error names two tools of the same name.
func Of(tools ...Tool) (Snapshot, error) {
	s := &listed{tools: slices.Clone(tools), byName: make(map[string]Tool, len(tools))}
	slices.SortStableFunc(s.tools, func(a, b Tool) int { return strings.Compare(a.Definition().Name, b.Definition().Name) })
	for _, t := range s.tools {
		d := t.Definition()
		if other, taken := s.byName[d.Name]; taken {
			return nil, fmt.Errorf("two tools are called %q: one of %s, one of %s", d.Name, behind(other), behind(t))
		}
		s.byName[d.Name] = t
	}
	return s, nil
}

func behind(t Tool) string {
	if provider := t.Definition().Provider; provider != "" {
		return fmt.Sprintf("extension %q", provider)
	}
	return "the host"
}

// Always is a source that yields the same snapshot every time.
func Always(s Snapshot) Source { return always{s} }

type listed struct {
	tools  []Tool
	byName map[string]Tool
}

func (s *listed) Tools() []Tool         { return s.tools }
func (s *listed) Find(name string) Tool { return s.byName[name] }

type always struct{ snapshot Snapshot }

func (a always) Snapshot(context.Context) (Snapshot, error) { return a.snapshot, nil }
