package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/runtime/peer"
)

// Binding is one service of the host for extensions: what it makes the host offer, and who serves it. A
// host offers a feature only where a binding stands behind it.
//
// One binding may serve many extensions at a time; it is told of each by Started and Ended.
type Binding struct {
	// Features are those of the feature wire that the binding stands behind. A feature that another one
	// needs is offered only together with it.
	Features []string
	// Capabilities are those of the canonical wire.
	Capabilities []string
	// Offer says whether an extension gets any of it. Nil: every extension whose API version knows the
	// feature. Gates that are bound to names are judged besides, by host/policy.
	Offer func(*Source) bool
	// Embedder says that whoever embeds the host stands behind the features, and not the coding product: its
	// gates do not apply to them.
	Embedder bool

	// Requests serve what extensions ask, by method. A method that no binding serves is refused.
	Requests map[string]Handler
	// Notices take what extensions tell, by method, in order of arrival and in front of everything that
	// arrives later. They must not block, nor call the extension.
	Notices map[string]func(*Incoming)

	// Started is called once initialize was accepted, before any request of the extension is served or made
	// but those that belong to initialize itself, and before another byte of it is read. It may notify, and
	// must not block otherwise. It is called for every extension that Offer lets through: what it selected is
	// in Extension.Has. May be nil.
	Started func(*Extension)
	// Ended is called once the generation is gone and its last handler has returned, by whoever closes it:
	// everything kept for it is to be forgotten. Also called where initialize failed. See Extension.Done for the
	// end of the connection itself. May be nil.
	Ended func(*Extension)

	// Media yields what a media part of a result refers to. At most one binding has it. The error says why
	// the part is refused.
	Media func(ctx context.Context, m MediaRef) (conversation.Part, error)
	// Dispatch is told of every tool call before it is sent. Its error keeps the call from being sent; the
	// guard, if there is one, sees how the call ends. May be nil.
	Dispatch func(d Dispatch) (Guard, error)
	// Terms puts what goes with an offered feature into the offer, such as the directory of bulk objects. It
	// finds out there whether the feature is offered. May be nil.
	Terms func(x *Extension, offer *featurewire.ProtocolOffer)
}

// Handler serves one request of an extension. It decodes Params with the generated decoder of the method,
// and returns a generated result. Errors: those of the decoder as they are, peer.Fail, the Refuse functions
// of this package, or the error of ctx. Any other error becomes an internal error, its text a diagnostic.
//
// ctx ends when the extension cancels the request, when the host request it belongs to is settled or
// cancelled, and when the generation ends.
type Handler func(ctx context.Context, r *Incoming) (peer.Value, error)

// Dispatch is a tool call that is about to be sent.
type Dispatch struct {
	Extension *Extension
	Call      *HostCall // it has no id yet
	Tool      *Tool
	Arguments json.RawMessage
}

// Guard watches over one dispatched tool call. Settle is called exactly once, after the extension has settled
// the call or has gone.
type Guard interface {
	// Check judges a result that passed every other check. It changes nothing: another guard may refuse.
	Check(result *ToolResult) error
	// Settle ends the watch: admitted says that the call has a result, which every guard let through.
	Settle(admitted bool)
}

// MediaRef is a media part of a result.
type MediaRef struct {
	Extension *Extension
	// Owner is that of the call, zero if no session owns it.
	Owner Owner
	// Part is the part as it was sent: an ImagePart or AudioPart of the wire.
	Part featurewire.ContentPart
}

// Incoming is one message of an extension to its host, with what it belongs to already judged.
type Incoming struct {
	Extension *Extension
	Method    string
	// Params are JSON, valid until the handler returns.
	Params []byte
	// Parent is the live request of the host that the message belongs to. Nil where it belongs to a settled
	// one together with its owner, to an owner alone, or to the process.
	Parent *HostCall
	// Owner is the owner in force: that of a live parent, else the one that the message names. Zero for
	// messages of the process, for parents without an owner, and on API 0.1.
	Owner Owner

	request *peer.Request // nil for notices
	worker  *worker       // nil for notices
}

// Behind has f run once the answer is written or cannot be: delivered tells whether a result, no error,
// has its place in front of whatever is sent from then on. It must not block.
func (r *Incoming) Behind(f func(delivered bool)) {
	if r.request == nil {
		f(false)
		return
	}
	r.request.Behind(f)
}

// DeliverWithin bounds how long the answer may take to be written once it is given. An extension that has not
// read that far by then does not read its input: a diagnostic says so, and its generation is ended.
func (r *Incoming) DeliverWithin(bound time.Duration) {
	if r.request == nil {
		return
	}
	x, method := r.Extension, r.Method
	r.request.WrittenWithin(bound, func() {
		x.Terminate(fmt.Sprintf("`%s` does not read its input: the answer to `%s` could not be delivered within %s", x.Name(), method, bound))
	})
}

// ID is the id of the request, zero for notices.
func (r *Incoming) ID() wirejson.ID {
	if r.request == nil {
		return wirejson.ID{}
	}
	return r.request.ID.Wire()
}

// Waits gives the worker of the request back: call it before waiting for a person, for another agent or
// for a call that may ask the host in turn. Calling it twice is harmless.
func (r *Incoming) Waits() {
	if r.worker != nil {
		r.worker.release()
	}
}
