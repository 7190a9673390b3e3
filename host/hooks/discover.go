package hooks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
)

// Resources are the paths that extensions contribute, in the order of their names. They replace whatever
// was contributed before.
type Resources struct {
	By []Contributed
	// DefaultTheme is the first theme that a contributor prefers; empty for none. It is one of the paths, and
	// a file.
	DefaultTheme string
}

// Contributed is what one extension contributes. All paths are absolute; whether anything is there is for
// the loader to see.
type Contributed struct {
	Extension string
	// Owner is the process, and the session it was asked for: what is loaded is good for this owner alone.
	Owner                   extension.Owner
	Skills, Prompts, Themes []string
}

func (c Contributed) count() int { return len(c.Skills) + len(c.Prompts) + len(c.Themes) }

func (c Contributed) bytes() int {
	sum := 0
	for _, path := range slices.Concat(c.Skills, c.Prompts, c.Themes) {
		sum += len(path)
	}
	return sum
}

// DiscoverResources asks extensions for paths of skills, prompts and themes, all at once, 5 s each. Call it
// once the session is active, never while extensions initialize. At most 16 are asked, by name. An answer
// that breaks a bound, alone or together with those before it, is dropped whole with a diagnostic about its
// contributor.
//
// Sheet: feature 9.2.
func (s *Set) DiscoverResources(ctx context.Context, a agent.Scope, workspace string, reason featurewire.ResourcesDiscoverReason) Resources {
	list := s.declaring(featurewire.HookResourcesDiscover)
	slices.SortStableFunc(list, func(x, y *extension.Extension) int { return strings.Compare(x.Name(), y.Name()) })
	for _, x := range list[min(len(list), featurewire.MaxResourceContributors):] {
		s.options.Diagnose(x, fmt.Sprintf("it is not asked for paths: %d extensions before it are", featurewire.MaxResourceContributors))
	}
	list = list[:min(len(list), featurewire.MaxResourceContributors)]
	payload := featurewire.ResourcesDiscoverPayload{Cwd: workspace, Reason: reason}
	answers := make([]*featurewire.HookRunResult, len(list))
	together(list, func(n int, x *extension.Extension) {
		answers[n] = s.ask(ctx, x, a, extension.HookRun{Hook: featurewire.HookResourcesDiscover, Payload: payload})
	})
	var all Resources
	paths, size := 0, 0
	for n, x := range list {
		if answers[n] == nil {
			continue
		}
		given, _ := answers[n].ResourcePaths.Get()
		c := Contributed{
			Extension: x.Name(), Owner: x.OwnerOf(a.Owner),
			Skills: given.SkillPaths.Or(nil), Prompts: given.PromptPaths.Or(nil), Themes: given.ThemePaths.Or(nil),
		}
		if err := fits(c, paths, size); err != nil {
			s.options.Diagnose(x, "its paths are dropped: "+err.Error())
			continue
		}
		paths, size = paths+c.count(), size+c.bytes()
		all.By = append(all.By, c)
		if theme := given.DefaultTheme.Or(""); theme != "" && !slices.Contains(c.Themes, theme) {
			s.options.Diagnose(x, bounded(fmt.Sprintf("the default theme %q is ignored: it is none of the theme paths", theme)))
		} else if theme != "" && !isFile(theme) {
			s.options.Diagnose(x, bounded(fmt.Sprintf("the default theme %q is ignored: it is no file", theme)))
		} else if all.DefaultTheme == "" {
			all.DefaultTheme = theme
		}
	}
	return all
}

// fits judges a contribution by itself, and behind as many paths and bytes as are kept already.
func fits(c Contributed, paths, size int) error {
	switch {
	case c.count() > featurewire.MaxResourcePaths:
		return fmt.Errorf("%d paths, at most %d", c.count(), featurewire.MaxResourcePaths)
	case c.bytes() > featurewire.MaxResourcePathsBytes:
		return fmt.Errorf("%d bytes of paths, at most %d", c.bytes(), featurewire.MaxResourcePathsBytes)
	case paths+c.count() > featurewire.MaxRetainedResourcePaths:
		return fmt.Errorf("together with others there are more than %d paths", featurewire.MaxRetainedResourcePaths)
	case size+c.bytes() > featurewire.MaxRetainedResourcePathBytes:
		return fmt.Errorf("together with others there are more than %d bytes of paths", featurewire.MaxRetainedResourcePathBytes)
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
