package faultypeer

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	"github.com/octet-dev/octet/generated/featurewire"
)

// pixel is a PNG image of one grey pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="

// digest is the SHA-256 of some bytes in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// inline are the params of an artifact that travels in the message.
func inline(content []byte) obj {
	return obj{
		"mime_type": "image/png", "size": len(content), "sha256": digest(content),
		"data": obj{"encoding": "base64", "data": base64.StdEncoding.EncodeToString(content)},
	}
}

func pixelBytes() []byte {
	b, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		panic(err)
	}
	return b
}

// object is what the peer writes as a bulk object.
var object = []byte("an object of some size")

var objectSteps = []step{
	{
		method: featurewire.MethodArtifactPublish, params: func(*peer) obj { return inline(pixelBytes()) },
		then: named("artifact_id", func(p *peer, id string) { p.artifact = id }),
	},
	{method: featurewire.MethodCompositionContext, params: with(nil), then: (*peer).takeFile},
	{method: featurewire.MethodCompositionCall, params: with(composed)},
	{method: featurewire.MethodCompositionStore, params: with(obj{"set": obj{"stop": 1}, "delete": list("old")})},
	{method: featurewire.MethodResourceRegister, params: with(obj{"type": "peer.Stop"}), then: func(p *peer, result json.RawMessage) { p.resource = result }},
	{method: featurewire.MethodResourceRelease, params: func(p *peer) obj { return obj{"resource": p.resource} }},
	{method: featurewire.MethodResourceRegister, params: with(obj{"type": "peer.Stop"})},
	{method: featurewire.MethodBulkWrite, params: with(obj{"profile": "local-file.v1", "capacity": 1 << 10, "media_type": "text/plain"}), then: (*peer).writeObject},
	{method: featurewire.MethodBulkCommit, params: func(p *peer) obj {
		return obj{"ticket": p.ticket, "bytes": len(object), "digest": obj{"algorithm": "sha256", "value": digest(object)}}
	}, then: func(p *peer, result json.RawMessage) { p.blob = result }},
	{
		method: featurewire.MethodBulkRead, params: func(p *peer) obj { return obj{"profile": "local-file.v1", "blob": p.blob} },
		then: named("lease", func(p *peer, id string) { p.lease = id }),
	},
	{method: featurewire.MethodBulkRelease, params: func(p *peer) obj { return obj{"id": p.lease} }},
}

// composed calls the one tool that a host lets a composing call use.
var composed = obj{"name": "conform_say", "arguments": obj{"word": "octet"}}

// compose makes so many composed calls, as many at a time as a host takes, and then answers.
func (p *peer) compose(id json.RawMessage, left int) {
	if left == 0 {
		p.settle(id, func() { p.result(featurewire.MethodToolCall, id, p.tourResult()) })
		return
	}
	n := min(left, featurewire.MaxChildRequests)
	open := n
	for range n {
		p.asked++
		own := "t-" + strconv.Itoa(p.asked)
		p.waiting[own] = func(json.RawMessage) {
			if open--; open == 0 && p.live[key(id)] != nil {
				p.compose(id, left-n)
			}
		}
		params := with(composed)(p)
		params["parent_request_id"] = id
		p.ask(own, featurewire.MethodCompositionCall, params)
	}
}

// takeFile reads an answer that came as a file, and removes it.
func (p *peer) takeFile(result json.RawMessage) {
	name, handed := text(at(result, "context_file", "path"))
	if !handed || p.does("leave-file") {
		return
	}
	path := filepath.Join(p.scratch, name)
	if content, err := os.ReadFile(path); err != nil || digest(content) != textOf(at(result, "context_file", "sha256")) {
		p.complain("the file of an answer is not what it was said to be")
	}
	if err := os.Remove(path); err != nil {
		p.complain(err.Error())
	}
}

// writeObject writes an object under its ticket.
func (p *peer) writeObject(result json.RawMessage) {
	p.ticket = textOf(at(result, "ticket"))
	path := filepath.Join(textOf(at(p.offer, "protocol", featurewire.FeatureBulkObjectsV1, "transfer_directory")), textOf(at(result, "locator")))
	if err := os.WriteFile(path, object, 0o600); err != nil {
		p.complain(err.Error())
	}
}

func textOf(raw json.RawMessage) string {
	s, _ := text(raw)
	return s
}

var screenSteps = []step{
	{method: featurewire.MethodTerminalAcquire, params: with(nil)},
	{method: featurewire.MethodTerminalRelease, params: with(nil)},
	{method: featurewire.MethodUIAutocompleteRegister, params: with(obj{"revision": 1})},
	{method: featurewire.MethodUIOpen, params: with(obj{"surface_id": "stop", "title": "Stop", "placement": "fullscreen", "mouse_capture": true})},
	{method: featurewire.MethodUIFrame, params: (*peer).drawing},
	{method: featurewire.MethodUIFrame, params: (*peer).drawing},
	{method: featurewire.MethodUIChrome, params: func(p *peer) obj {
		return obj{"resource_owner": p.owner, "chrome": obj{"kind": "desktop_notification", "title": "Tour", "body": "On tour."}}
	}},
	{method: featurewire.MethodUIClose, params: with(obj{"surface_id": "stop"})},
	{
		method: featurewire.MethodUIOpen, params: with(obj{"surface_id": "draft", "title": "Draft", "placement": "editor"}),
		then: named("editor_mount_id", func(p *peer, id string) { p.mount = id }),
	},
	{method: featurewire.MethodComposerSet, params: (*peer).checkpoint},
	{method: featurewire.MethodComposerSet, params: (*peer).checkpoint},
	{method: featurewire.MethodUIClose, params: with(obj{"surface_id": "draft"})},
}

// drawing is a frame of the surface.
func (p *peer) drawing() obj {
	return obj{
		"resource_owner": p.owner, "surface_id": "stop", "revision": p.grown(), "columns": 80, "rows": 24,
		"lines": list("plain", "\x1b[1;38;5;42mbold\x1b[0m green", "é"),
	}
}

// checkpoint sets the composer from the editor that is mounted, where there is one.
func (p *peer) checkpoint() obj {
	params := obj{"text": "a draft"}
	if p.mount != "" {
		p.checked++
		params["resource_owner"] = p.owner
		params["editor_checkpoint"] = obj{"surface_id": "draft", "mount_id": p.mount, "input_revision": 0, "checkpoint_revision": p.checked}
	}
	return params
}

var catalogSteps = []step{
	{
		method: featurewire.MethodToolsRegister, params: func(*peer) obj { return obj{"tools": []any{extra()}} },
		then: func(p *peer, result json.RawMessage) { p.publish(result, true) },
	},
	{
		method: featurewire.MethodToolsUnregister, params: with(obj{"names": list(ToolExtra)}),
		then: func(p *peer, result json.RawMessage) { p.publish(result, false) },
	},
}

// extra is a tool that comes and goes.
func extra() obj {
	return obj{"name": ToolExtra, "description": "Comes and goes.", "parameters": obj{"type": "object", "properties": obj{}}}
}

// publish notes a revision of the catalog, with the tool that comes and goes or without it.
func (p *peer) publish(result json.RawMessage, there bool) {
	if result != nil {
		p.extras = append(p.extras, there)
	}
}
