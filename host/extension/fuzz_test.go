package extension_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// FuzzExtension lets an extension write lines while it is called, in place of its answer; ID in a line is the id of the
// call. Whatever they are, the call comes to its end, and the host closes the extension.
func FuzzExtension(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", "\xff", `{"id":ID,"jsonrpc":"2.0","result":{"content":[{"text":"a","type":"text"}]}}`, `{"id":ID,"jsonrpc":"2.0","result":null}`,
		`{"id":ID,"jsonrpc":"2.0","result":{}}` + "\n" + `{"id":ID,"jsonrpc":"2.0","result":{}}`, `{"error":{"code":-32603,"message":"internal error"},"id":ID,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"$/progress","params":{"event":{"message":"m","type":"status"},"request_id":ID}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":ID}}`,
		`{"id":"c-1","jsonrpc":"2.0","method":"input/request","params":{"parent_request_id":ID,"prompt":"p"}}`, `{"id":"c-1","jsonrpc":"2.0","method":"bus/publish","params":{"topic":"t"}}`,
		`{"id":"c-1","jsonrpc":"2.0","method":"agent/list","params":{}}` + "\n" + `{"id":"c-1","jsonrpc":"2.0","method":"agent/list","params":{}}`, `{"jsonrpc":"2.0","method":"notification","params":{"message":"m","level":"info"}}`,
		`{"id":1,"jsonrpc":"2.0","method":"session/create","params":{}}`, `{"id":"c","jsonrpc":"2.0","method":"tools/register","params":{"tools":[{"name":"x","description":"","parameters":{}}]}}`,
	} {
		f.Add(false, []byte(seed))
		f.Add(true, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, canonical bool, text []byte) {
		api := featurewire.Version04
		if canonical {
			api = canonicalwire.Version03
		}
		synctest.Test(t, func(t *testing.T) {
			r := extensiontest.Start(t, extensiontest.Setup{API: api})
			r.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
				number, err := json.Marshal(id)
				if err != nil {
					return nil, err
				}
				for line := range bytes.SplitSeq(text, []byte("\n")) {
					r.Raw(string(bytes.ReplaceAll(line, []byte("ID"), number)))
				}
				return nil, extensiontest.Silence
			})
			result, err := r.X.Call(t.Context(), extension.Request{Tool: "work"})
			if (result == nil) == (err == nil) {
				t.Errorf("the call gives %v and %v", result, err)
			}
			r.X.Close()
		})
	})
}
