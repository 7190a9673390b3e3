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

// arrived takes in one request of the extension: it finds what the request belongs to while nothing behind it has
// been looked at, the answer of its parent among that. The connection has judged before that the method is open,
// the id is new, and there are not too many.
func (x *Extension) arrived(r *peer.Request) peer.Handler {
	in := &Incoming{Extension: x, Method: r.Method, Params: r.Params, request: r}
	if err := x.place(in); err != nil {
		return func(context.Context) (peer.Value, error) { return nil, err }
	}
	served, release := x.services[r.Method], func() {}
	if in.Parent != nil {
		release = x.adopt(in.Parent, r)
	}
	return func(ctx context.Context) (peer.Value, error) {
		defer release()
		worker, err := x.workers.take(ctx)
		if err != nil {
			return nil, err
		}
		defer worker.release()
		in.worker = worker
		return served(ctx, in)
	}
}

// place finds the parent and the owner of a request. The error is the refusal.
func (x *Extension) place(in *Incoming) (err error) {
	m, id := x.wire.profile().Method(in.Method), in.request.ID
	switch {
	case x.services[in.Method] == nil || m == nil:
		return x.unserved(in.Method)
	case x.mistakable(id):
		return errorOf(featurewire.ErrInvalidRequest, fmt.Sprintf("id %s is that of an active request of the host; use strings", id))
	}
	in.Parent, in.Owner, err = x.correlate(m, in.Params)
	if err == nil {
		err = x.checkForeground(m, in.Owner)
	}
	if err != nil {
		x.events.diagnostic(fmt.Sprintf("request of method %q is refused: %v", in.Method, err))
	}
	return err
}

// adopt has a request end together with the request of the host that it belongs to: its context does, and no answer
// follows. The parent waits for its outcome. Call release when the request has been served.
func (x *Extension) adopt(parent *HostCall, r *peer.Request) (release func()) {
	x.mu.Lock()
	if x.running[parent.ID] == parent {
		parent.children.Add(1)
		r.Behind(func(bool) { parent.children.Done() })
	}
	x.mu.Unlock()
	stop := context.AfterFunc(parent.ctx, func() { r.CallOff(errSettled.Error()) })
	return func() { stop() }
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
