package subject

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestReplies_stayOutOfALineThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var written []string
		gate := make(chan struct{})
		r := replies{write: func(frame []byte) {
			<-gate
			mu.Lock()
			defer mu.Unlock()
			written = append(written, string(frame))
		}}
		seen := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(written)
		}

		r.send([]byte("first"))
		synctest.Wait()
		held := make(chan struct{})
		go func() {
			r.hold()
			close(held)
		}()
		synctest.Wait()
		select {
		case <-held:
			t.Fatal("hold returned while an answer was being written")
		default:
		}
		gate <- struct{}{}
		<-held

		r.send([]byte("second"))
		r.send([]byte("third"))
		synctest.Wait()
		if got := seen(); !slices.Equal(got, []string{"first"}) {
			t.Errorf("written while held: %q, want the first only", got)
		}

		r.release()
		close(gate)
		r.wait()
		if got := seen(); !slices.Equal(got, []string{"first", "second", "third"}) {
			t.Errorf("written in the end: %q, want all three", got)
		}
		r.send([]byte("fourth"))
		r.wait()
		if got := seen(); len(got) != 4 {
			t.Errorf("written behind the release: %q, want four", got)
		}
	})
}
