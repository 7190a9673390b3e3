package bus

import (
	"context"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Binding joins extensions to the bus: those of API 0.3 that no other session shares.
func (b *Bus) Binding() extension.Binding {
	serve := func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
		answer, err := b.Serve(process{r.Extension}, r.Method, r.Params)
		if err != nil {
			return nil, err
		}
		r.Behind(answer.Queued)
		return answer.Result, nil
	}
	return extension.Binding{
		Capabilities: []string{canonicalwire.CapabilityEventBus},
		Offer: func(s *extension.Source) bool {
			return s.Manifest.API == canonicalwire.Version03 && s.Manifest.Runtime.Sharing == manifestdoc.RuntimeSharingIsolated
		},
		Requests: map[string]extension.Handler{
			canonicalwire.MethodBusDeclare: serve, canonicalwire.MethodBusSubscribe: serve,
			canonicalwire.MethodBusUnsubscribe: serve, canonicalwire.MethodBusPublish: serve,
		},
		Started: func(x *extension.Extension) {
			if !x.Has(canonicalwire.CapabilityEventBus) {
				return
			}
			if err := b.Attach(process{x}); err != nil {
				x.Terminate("event bus: " + err.Error())
			}
		},
		Ended: func(x *extension.Extension) { b.Detach(process{x}) },
	}
}

// process is an extension as the bus sees it.
type process struct{ *extension.Extension }

func (p process) Selected(method string) bool { return p.Opens(method) }

// Open is asked while a request of the process is served, so the process is there.
func (p process) Open() bool { return !p.Draining() }

// FrameBound is the bound that was negotiated.
func (p process) FrameBound() int { return int(p.Agreement().MaxFrameBytes) }

func (p process) Retire(reason string) { p.Terminate(reason) }
