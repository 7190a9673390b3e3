package presentation

import (
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// FuzzJudge holds that whatever an extension sends is refused, or a forest of bounded depth.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		`{"revision":0}`, chain(3), chain(featurewire.MaxPresentationLevels + 1), referring("https://example.com"), referring("http://[::ffff:7f00:1]"), referring("http://%5b::1%5d"),
		`{"revision":1,"collection":{"kind":"tree","title":"t","nodes":[{"id":"a","state":"active","label":"x","parent_id":"b"},{"id":"b","state":"active","label":"x","parent_id":"a"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := featurewire.DecodePresentationSnapshot(data)
		if err != nil || Judge(s, []string{"do"}) != nil {
			return
		}
		collection, has := s.Collection.Get()
		if !has {
			return
		}
		parents := map[string]featurewire.PresentationNode{}
		for _, node := range collection.Nodes {
			parents[node.ID] = node
		}
		for _, node := range collection.Nodes {
			levels := 1
			for at, more := node.ParentID.Get(); more; at, more = parents[at].ParentID.Get() {
				if _, known := parents[at]; !known {
					t.Fatalf("node %q hangs below nothing", node.ID)
				}
				if levels++; levels > featurewire.MaxPresentationLevels {
					t.Fatalf("node %q is %d levels deep", node.ID, levels)
				}
			}
		}
	})
}
