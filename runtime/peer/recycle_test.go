package peer

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/runtime/frame"
)

func TestRecycle_givesMemoryToLaterResultsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, frame.Host, "0.4", Options{})
		asked := 0
		ask := func(text string) []byte {
			t.Helper()
			asked++
			k := r.call(t.Context(), toolCall)
			r.want(strings.Replace(firstCall, "1", fmt.Sprint(asked), 1))
			result := `{"a":"` + text + `"}`
			r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, asked, result))
			k.gives(result)
			return k.result
		}
		long := strings.Repeat("x", 200)
		given := ask(long)
		r.conn.Recycle(given)
		kept := ask("kept")
		for range 20 {
			r.conn.Recycle(ask("short"))
			r.conn.Recycle(ask(long + long))
		}
		r.conn.Recycle(nil)
		if want := `{"a":"kept"}`; string(kept) != want {
			t.Errorf("a result that was kept became %s", kept)
		}
	})
}
