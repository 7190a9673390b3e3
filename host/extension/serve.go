package extension

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/peer"
)

const canonicalVersion = canonicalwire.Version03

// The members that tie a message to what it belongs to. The models know their names.
var (
	memberParent = memberName("ParentRequestID")
	memberOwner  = memberName("ResourceOwner")
)

// memberName is the name on the wire of a field of a model that may have both ties.
func memberName(field string) string {
	f, ok := reflect.TypeFor[featurewire.PresentationUpdateParams]().FieldByName(field)
	if !ok {
		panic("extension: no model has the field " + field)
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// handle serves one request of the extension: it finds what the request belongs to, waits for a worker,
// and asks the binding. The connection has judged before that the method is open, the id is new, and there
// are not too many.
func (x *Extension) handle(ctx context.Context, r *peer.Request) (peer.Value, error) {
	m := x.wire.profile().Method(r.Method)
	served := x.services[r.Method]
	switch {
	case served == nil || m == nil:
		return nil, x.unserved(r.Method)
	case x.mistakable(r.ID):
		return nil, errorOf(featurewire.ErrInvalidRequest, fmt.Sprintf("id %s is that of an active request of the host; use strings", r.ID))
	}
	parent, owner, err := x.correlate(m, r.Params)
	if err == nil {
		err = x.checkForeground(m, owner)
	}
	if err != nil {
		x.events.diagnostic(fmt.Sprintf("request of method %q is refused: %v", r.Method, err))
		return nil, err
	}
	if parent != nil {
		// It ends together with the request of the host that it belongs to: ctx does, and no answer follows.
		defer context.AfterFunc(parent.ctx, func() { r.CallOff(errSettled.Error()) })()
	}
	worker, err := x.workers.take(ctx)
	if err != nil {
		return nil, err
	}
	defer worker.release()
	return served(ctx, &Incoming{
		Extension: x, Method: r.Method, Params: r.Params, Parent: parent, Owner: owner, request: r, worker: worker,
	})
}

// mistakable reports whether an id could be taken for that of a live request of the host.
func (x *Extension) mistakable(id envelope.ID) bool {
	n, isInt := id.Wire().Int()
	if !isInt || x.wire.profile().Version == canonicalVersion {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.running[n] != nil
}

// unserved refuses a method that nobody stands behind.
func (x *Extension) unserved(method string) error {
	if x.wire.profile().Version == canonicalVersion {
		return peer.Fail(x.wire.profile().Errors.UnknownMethod, nil)
	}
	return RefuseUnsupported(method)
}

// bind finds the bindings that apply to the extension.
func (x *Extension) bind() {
	x.services, x.notices = map[string]Handler{}, map[string]func(*Incoming){}
	for i := range x.options.Bindings {
		b := &x.options.Bindings[i]
		if b.Offer != nil && !b.Offer(x.source) {
			continue
		}
		x.bound = append(x.bound, b)
		for method, h := range b.Requests {
			x.services[method] = h
		}
		for method, f := range b.Notices {
			x.notices[method] = f
		}
		if b.Media != nil {
			x.media = b.Media
		}
	}
}

// early lists the methods that are served while initialize is in flight.
func (x *Extension) early() []string {
	var list []string
	for method := range x.services {
		if m := x.wire.profile().Method(method); m != nil && m.Parent == wirejson.ParentInitialize && x.wire.offers(m) {
			list = append(list, method)
		}
	}
	return list
}

// started tells the bindings that the extension is there. It runs on the reading goroutine, in front of
// everything that is sent behind the answer to initialize.
func (x *Extension) started() {
	for _, b := range x.bound {
		if b.Started != nil {
			b.Started(x)
		}
	}
}

// gone tells the bindings that the extension is there no more.
func (x *Extension) gone() {
	for _, b := range x.bound {
		if b.Ended != nil {
			b.Ended(x)
		}
	}
}
