package peer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/runtime/frame"
)

// An answer that the pipe does not hold is late once its time is over, and neither one that was read in time
// nor one that the end of the connection took along.
func TestWrittenWithin(t *testing.T) {
	const bound = time.Second
	big := `"` + strings.Repeat("x", 3*streamMost) + `"`
	for name, c := range map[string]struct {
		wait time.Duration // before the answer is read
		end  bool          // the connection ends instead
		late int
	}{
		"read in time":  {bound - 1, false, 0},
		"not read":      {bound, false, 1},
		"ended in time": {bound - 1, true, 0},
	} {
		for _, queued := range []bool{false, true} { // behind another answer that is stuck
			synctest.Test(t, func(t *testing.T) {
				late := 0
				r := newRig(t, frame.Extension, "0.4", Options{Handle: func(_ context.Context, q *Request) (Value, error) {
					if !queued || q.ID.String() == "8" {
						q.WrittenWithin(bound, func() { late++ })
					}
					return Raw(big), nil
				}})
				answers := []string{`{"id":7,"jsonrpc":"2.0","result":` + big + `}`}
				r.send(callSeven)
				synctest.Wait()
				if queued {
					r.send(strings.Replace(callSeven, `"id":7`, `"id":8`, 1))
					answers = append(answers, strings.Replace(answers[0], `"id":7`, `"id":8`, 1))
				}
				time.Sleep(c.wait)
				synctest.Wait()
				if c.end {
					r.conn.Close()
				} else {
					r.want(answers...)
				}
				time.Sleep(2 * bound)
				synctest.Wait()
				if late != c.late {
					t.Errorf("%s, queued %t: late %d times, want %d", name, queued, late, c.late)
				}
			})
		}
	}
}
