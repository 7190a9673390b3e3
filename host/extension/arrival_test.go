package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// A request in front of the answer of its parent is judged in front of it, however soon the answer is read.
//
// EXT04-ORDER-010.
func TestRequest_inFrontOfTheAnswerOfItsParent(t *testing.T) {
	s := &seen{}
	r := s.rig(t, "0.4", "")
	for n := range 1000 {
		asked := make(chan *extensiontest.Pending, 1)
		r.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			result, err := json.Marshal(r.ToolText("done"))
			asked <- r.SendWith(required, tie(id, ""), fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","result":%s}`, id, result))
			if err != nil {
				return nil, err
			}
			return nil, extensiontest.Silence
		})
		if _, err := r.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front}); err != nil {
			t.Fatal(err)
		}
		if answer := (<-asked).Wait(); answer.Refusal != nil {
			t.Fatalf("request %d was refused with %q, as if it had come behind the answer", n+1, answer.Refusal.Message)
		}
	}
}

// value is a result that is spelled once the test wants it.
type value struct{ spelling, spell chan struct{} }

func (v value) AppendJSON(dst []byte) []byte {
	close(v.spelling)
	<-v.spell
	return append(dst, "{}"...)
}

// A call returns once everything that belonged to it has its outcome, so that what is sent next, shutdown among it,
// comes behind that.
//
// EXT04-ORDER-014, EXT04-PARENT-005.
func TestRequest_hasItsOutcomeWhenTheCallReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := value{make(chan struct{}), make(chan struct{})}
		s := &seen{}
		r := s.rig(t, "0.4", "")
		s.serve = func(context.Context, *extension.Incoming) (peer.Value, error) { return v, nil }
		var asked *extensiontest.Pending
		returned := make(chan error, 1)
		go func() {
			r.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
				asked = r.Send(required, tie(id, ""))
				<-v.spelling
				return r.ToolText("done"), nil
			})
			_, err := r.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front})
			returned <- err
		}()
		synctest.Wait()
		select {
		case err := <-returned:
			t.Errorf("the call returned in front of the answer to what belonged to it: %v", err)
			returned <- err
		default:
		}
		close(v.spell)
		asked.Wait().OK(t, "{}")
		if err := <-returned; err != nil {
			t.Error(err)
		}
	})
}
