package resource

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refs"
)

// guard watches over one call: what it takes in, and what it registers.
type guard struct {
	service  *Service
	dispatch extension.Dispatch
	pinned   []*record
	failed   bool // by its own word
}

// dispatch pins what a call takes in, all of it or nothing.
func (s *Service) dispatch(d extension.Dispatch) (extension.Guard, error) {
	if !d.Extension.Has(featurewire.FeatureResourceRefsV1) {
		return nil, nil
	}
	g := &guard{service: s, dispatch: d}
	s.mu.Lock()
	defer s.mu.Unlock()
	var inputs []featurewire.OperationInput
	if d.Tool.Operation != nil {
		inputs = d.Tool.Operation.ResourceInputs
	}
	for _, input := range inputs {
		ref, given, err := refAt(d.Arguments, input.Path, input.Type)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", input.Path, err)
		}
		if !given {
			continue
		}
		each, err := s.findLocked(d.Extension, d.Call.Owner, ref)
		switch {
		case err != nil:
		case each.state != active:
			err = errRetired
		case each.pinned != nil:
			err = extension.RefuseBusy("another call has the resource")
		}
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", input.Path, err)
		}
		g.pinned = append(g.pinned, each)
	}
	for i, each := range g.pinned {
		for _, other := range g.pinned[:i] {
			if other == each {
				return nil, fmt.Errorf("the arguments name one resource twice")
			}
		}
	}
	for _, each := range g.pinned {
		each.pinned = d.Call
	}
	return g, nil
}

// Check refuses a result that exports what the call may not export.
func (g *guard) Check(result *extension.ToolResult) error {
	g.failed = result.IsError
	if result.Structured == nil {
		return nil
	}
	var outputs []featurewire.OperationOutput
	if d := g.dispatch.Tool.Operation; d != nil {
		outputs = d.ResourceOutputs
	}
	for _, output := range outputs {
		if _, _, err := refAt(result.Structured, output.Path, output.Type); err != nil {
			return fmt.Errorf("structured content %s: %w", output.Path, err)
		}
	}
	g.service.mu.Lock()
	defer g.service.mu.Unlock()
	for _, ref := range refs.In(result.Structured, featurewire.DecodeResourceRefValue) {
		each, err := g.service.findLocked(g.dispatch.Extension, g.dispatch.Call.Owner, ref)
		switch {
		case err != nil:
			return fmt.Errorf("structured content: %w", err)
		case each.state == retired, each.state == provisional && (each.maker != g.dispatch.Call || result.IsError):
			return fmt.Errorf("structured content: %w", errRetired)
		}
	}
	return nil
}

// Settle makes what the call registered active, in one step, or retires it, and lets go of what it took in.
func (g *guard) Settle(admitted bool) {
	s, x := g.service, g.dispatch.Extension
	s.mu.Lock()
	defer s.mu.Unlock()
	var free []*record
	for _, each := range g.pinned {
		each.pinned = nil
		if each.state == retired && each.cleanup == featurewire.ResourceCleanupPending {
			free = append(free, each) // it was retired while the call had it
		}
	}
	s.cleanLocked(x, free)
	held := s.held[x]
	if held == nil {
		return // the process is gone
	}
	var lost []*record
	for _, token := range held.order {
		each := held.records[token]
		switch {
		case each.maker != g.dispatch.Call || each.state != provisional:
		case admitted && !g.failed:
			each.state = active
		default:
			lost = append(lost, each)
		}
	}
	s.retireLocked(x, lost)
}

// refAt reads the reference at a fixed place of a value: a JSON Pointer through members of objects. Given is
// false where nothing stands there.
func refAt(value json.RawMessage, pointer string, want featurewire.ResourceType) (ref featurewire.ResourceRef, given bool, err error) {
	doc, err := wirejson.Parse(value, wirejson.DefaultMaxDepth)
	if err != nil {
		return ref, false, err
	}
	defer doc.Release()
	at := doc.Root()
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if at.Kind() != wirejson.KindObject {
			return ref, false, nil
		}
		at = at.Member(unescape.Replace(name))
	}
	if at == (wirejson.Value{}) {
		return ref, false, nil
	}
	if ref, err = featurewire.DecodeResourceRefValue(at); err != nil {
		return ref, true, err
	}
	if ref.Type != want {
		return ref, true, fmt.Errorf("the resource is a %q, want a %q", ref.Type, want)
	}
	return ref, true, nil
}
