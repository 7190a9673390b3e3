package services

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// ComposedTool is the one tool that a composing call finds. It says what it was given.
const ComposedTool = "conform_say"

// composition is what a composing call may use.
var composition = fw.CompositionContextResult{
	Tools: wirejson.Some([]fw.CompositionTool{{
		Name: ComposedTool, Description: "Says what it was given.", Parameters: json.RawMessage(`{"type":"object"}`),
	}}),
	Store:  wirejson.Some(json.RawMessage(`{}`)),
	Limits: wirejson.Some(fw.CompositionLimits{TimeoutMs: fw.CompositionTimeoutMs, MaxCalls: fw.MaxCompositionCalls}),
}

func (h *Host) compose(p fw.CompositionCallParams) (wirejson.Encoder, string) {
	if p.Name != ComposedTool {
		return nil, "invalid_params"
	}
	return fw.CompositionCallResult{Value: wirejson.Some(json.RawMessage(wirejson.AppendString(nil, string(p.Arguments))))}, ""
}

func (h *Host) registerResource(p fw.ResourceRegisterParams) (wirejson.Encoder, string) {
	r := fw.ResourceRef{Resource: h.next("resource"), Type: p.Type}
	h.resources = append(h.resources, r)
	return r, ""
}

func (h *Host) releaseResource(p fw.ResourceReleaseParams) (wirejson.Encoder, string) {
	h.resources = slices.DeleteFunc(h.resources, func(r fw.ResourceRef) bool { return r == p.Resource })
	return fw.ResourceReleaseResult{Retired: true, Cleanup: fw.ResourceCleanupPending}, ""
}

// write makes an empty file for the extension to write.
func (h *Host) write(p fw.BulkWriteParams) (wirejson.Encoder, string) {
	locator, ticket := h.next("object"), h.next("ticket")
	if p.Capacity > fw.MaxBulkObjectBytes || os.WriteFile(filepath.Join(h.x.Transfer, locator), nil, 0o600) != nil {
		return nil, "invalid_params"
	}
	h.files[ticket] = locator
	return fw.BulkWriteResult{Ticket: ticket, Profile: p.Profile, Locator: locator, Capacity: p.Capacity}, ""
}

func (h *Host) commit(p fw.BulkCommitParams) (wirejson.Encoder, string) {
	locator, held := h.files[p.Ticket]
	if !held {
		return nil, "not_foreground_owner"
	}
	delete(h.files, p.Ticket)
	blob := h.next("blob")
	h.files[blob] = locator
	return fw.BlobRef{Blob: blob, Bytes: p.Bytes, Digest: p.Digest, MediaType: "application/octet-stream"}, ""
}

func (h *Host) read(p fw.BulkReadParams) (wirejson.Encoder, string) {
	locator, known := h.files[p.Blob.Blob]
	if !known {
		return nil, "not_foreground_owner"
	}
	return fw.BulkReadResult{Lease: h.next("lease"), Profile: p.Profile, Locator: locator, Bytes: p.Blob.Bytes}, ""
}

// hand writes a file into the scratch directory of the extension and describes it.
func (h *Host) hand(content []byte) (fw.ScratchFile, error) {
	name := h.next("answer")
	file := fw.ScratchFile{Path: name, Bytes: int64(len(content)), Sha256: digest(content)}
	return file, os.WriteFile(filepath.Join(h.x.Scratch, name), content, 0o600)
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
