package extension

import (
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// FuzzReadTie: a tie is read out of anything, and agrees with the model wherever that holds.
func FuzzReadTie(f *testing.F) {
	const owner = `{"session_id":"s","extension_instance_id":"i","process_generation":0}`
	for _, text := range []string{
		``, `[]`, `{}`, `{"parent_request_id":7}`, `{"parent_request_id":-7}`, `{"parent_request_id":1e3}`, `{"parent_request_id":"7"}`,
		`{"resource_owner":` + owner + `}`, `{"resource_owner":{"session_id":1}}`, `{"parent_request_id":1,"parent_request_id":2}`,
		`{"parent\u005frequest_id":3}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		tie := readTie(params)
		model, err := featurewire.DecodeComposerGetParams(params)
		if err != nil {
			return
		}
		named, has := model.ResourceOwner.Get()
		if tie.parent != model.ParentRequestID || tie.hasOwner != has || has && tie.owner != OwnerOf(named) {
			t.Errorf("%s: tie %+v, model %+v", params, tie, model)
		}
	})
}
