package ledger

import "testing"

// TestFeed_isNotAskedForWhatOnlyTheFileHas has a reader stand between what is shown of a commit and its end.
func TestFeed_isNotAskedForWhatOnlyTheFileHas(t *testing.T) {
	f := &feed{moved: make(chan struct{})}
	for seq := range int64(3) {
		f.add(Stored{Seq: seq + 1})
	}
	f.head = 100 // another reader has found that many in the file
	for after, want := range map[int64]bool{0: true, 2: true, 3: false, 50: false, 99: false, 100: true} {
		page, complete, _ := f.behind(after)
		if complete != want || (len(page) > 0) != (after < 3) {
			t.Errorf("behind %d: %d events, complete %v, want %v", after, len(page), complete, want)
		}
	}
}
