package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/artifact"
	"github.com/octet-dev/octet/host/service/bulk"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/policyintent"
	"github.com/octet-dev/octet/host/service/presentation"
	"github.com/octet-dev/octet/host/service/resource"
	"github.com/octet-dev/octet/host/service/shortcut"
	"github.com/octet-dev/octet/host/service/tools"
)

// waiting is a person who answers when the test says so, unless the question ends first.
type waiting struct {
	everybody
	asked  chan struct{}
	answer chan struct{}
}

func (w waiting) Confirm(ctx context.Context, _ dialog.Question) (bool, error) {
	w.asked <- struct{}{}
	select {
	case <-w.answer:
	case <-ctx.Done():
	}
	return true, nil
}

// What one generation was given is worth nothing to the next one of the same extension, for the same session
// and in requests with the same ids, and the next one begins with nothing.
//
// EXT04-RELOAD-008, MAN-RELOADING-009.
func TestServices_nothingPassesBetweenGenerations(t *testing.T) {
	board, book, catalogs := &presentation.Board{}, shortcut.New(nil), tools.New(tools.Options{})
	person := waiting{asked: make(chan struct{}, 1), answer: make(chan struct{}, 1)}
	intents := policyintent.New(policyintent.Options{
		Judge:   func(context.Context, policyintent.Question) policyintent.Decision { return policyintent.Ask },
		Approve: func(context.Context, policyintent.Question) bool { return true },
	})
	resources := resource.New()
	storage, err := bulk.Open(bulk.Options{Directory: filepath.Join(t.TempDir(), "bulk")})
	if err != nil {
		t.Fatal(err)
	}
	bindings := append(append([]extension.Binding{
		board.Binding(), book.Binding(), dialog.Binding(person), resources.Binding(), storage.Binding(), artifact.New().Binding(),
	}, catalogs.Bindings()...), intents.Bindings()...)
	start := func(generation int64, early func(r *extensiontest.Rig, id int64, _ json.RawMessage)) *extensiontest.Rig {
		return extensiontest.Start(t, extensiontest.Setup{
			Contributes: "tools = [\"work\"]\ncommands = [\"do\"]\npresentation = true\nconfirmations = true", Early: early,
			Options: extension.Options{Bindings: bindings, Instance: "i", Generation: generation},
		})
	}
	first := start(1, func(r *extensiontest.Rig, id int64, _ json.RawMessage) {
		r.Ask(featurewire.MethodShortcutRegister, fmt.Sprintf(`{"parent_request_id":%d,"id":"x","key":"f1","description":""}`, id)).OK(t, `{}`)
	})
	front := extension.Scope{Owner: extensiontest.DefaultFront}
	asking := func(r *extensiontest.Rig, parent int64, method, members string) map[string]any {
		var result map[string]any
		r.Ask(method, fmt.Sprintf(`{"parent_request_id":%d%s}`, parent, members)).Decode(t, &result)
		return result
	}
	const intent = `,"intent":{"kind":"x","operation":"x","target":{}}`
	finished := make(chan struct{})
	first.Serve(featurewire.MethodToolCall, func(parent int64, _ json.RawMessage) (any, error) {
		defer close(finished)
		handle := asking(first, parent, featurewire.MethodArtifactPublish, `,"mime_type":"image/gif","size":6,"sha256":"`+gifDigest+`","data":{"encoding":"base64","data":"R0lGODlh"}`)["artifact_id"]
		token := asking(first, parent, featurewire.MethodPolicyEvaluate, intent)["approval_token"]
		ticket := asking(first, parent, featurewire.MethodBulkWrite, `,"profile":"local-file.v1","capacity":6,"media_type":"image/gif"`)["ticket"]
		ref, err := json.Marshal(asking(first, parent, featurewire.MethodResourceRegister, `,"type":"page"`))
		if err != nil {
			t.Error(err)
		}
		first.Ask(featurewire.MethodToolsRegister, `{"tools":[{"name":"late","description":"x","parameters":{"type":"object"}}]}`).OK(t, `{"revision":1,"tools":["late","work"]}`)
		first.Tell(featurewire.MethodPresentationUpdate, fmt.Sprintf(`{"parent_request_id":%d,"snapshot":{"revision":9}}`, parent))
		question := first.Send(featurewire.MethodConfirmationRequest, fmt.Sprintf(`{"parent_request_id":%d,"prompt":"x","destructive":false,"default":true}`, parent))
		<-person.asked

		second := start(2, nil)
		if got := catalogs.Catalog(second.X); got.Revision != 0 || len(got.Tools) != 1 {
			t.Errorf("the next generation begins with the catalog %+v", got)
		}
		first.Exit(1)
		question.Wait()
		<-first.X.Done()
		first.X.Close()
		person.answer <- struct{}{} // meant for the first one
		if len(board.Snapshots()) != 0 || len(book.List()) != 0 || catalogs.Catalog(first.X) != nil {
			t.Errorf("what is left: %+v, %+v, %+v", board.Snapshots(), book.List(), catalogs.Catalog(first.X))
		}
		second.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			if again := asking(second, id, featurewire.MethodPolicyEvaluate, intent+fmt.Sprintf(`,"approval_token":%q`, token)); again["decision"] != "deny" {
				t.Errorf("the approval passes: %v", again)
			}
			second.Ask(featurewire.MethodBulkCommit, fmt.Sprintf(`{"parent_request_id":%d,"ticket":%q,"bytes":6,"digest":{"algorithm":"sha256","value":"`+gifDigest+`"}}`, id, ticket)).Refused(t, featurewire.CodeNotForegroundOwner, "")
			second.Ask(featurewire.MethodResourceRelease, fmt.Sprintf(`{"parent_request_id":%d,"resource":%s}`, id, ref)).Refused(t, featurewire.CodeNotForegroundOwner, "")
			second.Tell(featurewire.MethodPresentationUpdate, fmt.Sprintf(`{"parent_request_id":%d,"snapshot":{"revision":0}}`, id))
			return map[string]any{"is_error": false, "content": []any{
				map[string]any{"type": "text", "text": "x"}, map[string]any{"type": "image", "artifact_id": handle, "mime_type": "image/gif"},
			}}, nil
		})
		var progress []extension.Progress
		second.Tell(featurewire.MethodProgress, fmt.Sprintf(`{"request_id":%d,"sequence":1,"event":{"type":"status","message":"of before"}}`, parent))
		second.Ask("unknown", `{}`).Refused(t, featurewire.CodeUnknownMethod, "") // the progress has arrived
		_, err = second.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front, Progress: func(p extension.Progress) { progress = append(progress, p) }})
		if err == nil || progress != nil {
			t.Errorf("the artifact passes, or progress does: %v %+v", err, progress)
		}
		if got := board.Snapshots(); len(got) != 1 || got[0].Snapshot.Revision != 0 {
			t.Errorf("the next generation may not begin anew: %+v", got)
		}
		second.X.Close()
		return nil, extensiontest.Silence
	})
	// What the rest is about is done while this call is open; it ends with the crash.
	if _, err := first.X.Call(t.Context(), extension.Request{Tool: "work", Scope: front}); err == nil {
		t.Error("a call outlived its process")
	}
	<-finished
	if err := storage.Close(); err != nil {
		t.Error(err)
	}
}

// gifDigest is that of the six bytes that a GIF begins with.
const gifDigest = "610f5ae4d76e332636a17bd357fd6ce99029316a99d320280d4d77a746bf29e8"
