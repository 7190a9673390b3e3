package conversations

import (
	"fmt"
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// ledger judges the frames of both sides by the models of the wire, so that neither a talk nor an extension
// passes with a frame that the wire does not have.
type ledger struct {
	api      string
	outgoing map[string]asked // requests of the host by the spelling of their id
	incoming map[string]asked // those of the extension
	used     map[string]bool  // every id the extension has used
}

// asked is a request that has no answer yet.
type asked struct {
	method *wirejson.Method // nil if the wire does not know it
	hook   *wirejson.Hook   // of hook/run
}

func newLedger(api string) *ledger {
	return &ledger{api: api, outgoing: map[string]asked{}, incoming: map[string]asked{}, used: map[string]bool{}}
}

func (l *ledger) lookup(method string) *wirejson.Method {
	if l.api == dialect.CanonicalAPI {
		return canonicalwire.LookupMethod(method)
	}
	return featurewire.LookupMethod(method)
}

// fromHost judges what the host sends; a frame that is wrong on purpose is only noted.
func (l *ledger) fromHost(frame dialect.Object, wrong bool) error {
	if _, isCall := frame["method"]; !isCall {
		request, known := l.incoming[show(frame["id"])]
		delete(l.incoming, show(frame["id"]))
		if wrong || !known {
			return nil
		}
		return l.answer(request, frame)
	}
	request, err := l.call(frame, wirejson.HostToExtension)
	if id, is := frame["id"]; is {
		l.outgoing[show(id)] = request
	}
	if wrong {
		return nil
	}
	return err
}

// fromExtension judges what the extension sends. Its requests carry string ids that are never used again.
func (l *ledger) fromExtension(frame dialect.Object) error {
	id, identified := frame["id"]
	if _, isCall := frame["method"]; !isCall {
		request, known := l.outgoing[show(id)]
		if !known {
			return nil // a talk that expects it says so
		}
		return l.answer(request, frame)
	}
	request, err := l.call(frame, wirejson.ExtensionToHost)
	switch {
	case err != nil:
		return err
	case request.method == nil:
		return fmt.Errorf("the wire knows no method %s", show(frame["method"]))
	case request.method.Notification == identified:
		return fmt.Errorf("%s with id %s: a request has one and a notification none", request.method.Name, show(id))
	case !identified:
		return nil
	}
	if _, text := id.(string); !text || l.used[show(id)] {
		return fmt.Errorf("the id %s of %s is no new string", show(id), request.method.Name)
	}
	l.used[show(id)] = true
	l.incoming[show(id)] = request
	return nil
}

// call judges a request or notification by the params of its method.
func (l *ledger) call(frame dialect.Object, from wirejson.Direction) (asked, error) {
	name, _ := frame["method"].(string)
	request := asked{method: l.lookup(name)}
	if request.method == nil {
		return request, nil
	}
	shape, versioned := request.method.Shape(l.api)
	if !versioned || request.method.Direction != from && request.method.Direction != wirejson.BothDirections {
		return request, fmt.Errorf("%s is not sent there on %s", name, l.api)
	}
	if name == featurewire.MethodHookRun && l.api != dialect.CanonicalAPI {
		params, _ := frame["params"].(dialect.Object)
		hook, _ := params["hook"].(string)
		request.hook = featurewire.LookupHook(hook)
		if request.hook != nil && slices.Contains(request.hook.Versions, l.api) {
			if err := l.judge(request.hook.Payload, params["payload"]); err != nil {
				return request, fmt.Errorf("payload of %s: %w", hook, err)
			}
		}
	}
	if err := l.judge(shape.Params, frame["params"]); err != nil {
		return request, fmt.Errorf("params of %s: %w", name, err)
	}
	return request, nil
}

// answer judges a response by the result of the request's method.
func (l *ledger) answer(request asked, frame dialect.Object) error {
	result, succeeded := frame["result"]
	if !succeeded || request.method == nil {
		return nil
	}
	shape, _ := request.method.Shape(l.api)
	if request.hook != nil {
		shape.Result = request.hook.Result
	}
	if shape.Result == "" {
		return nil
	}
	decode := featurewire.DecodeAny
	if l.api == dialect.CanonicalAPI {
		decode = canonicalwire.DecodeAny
	}
	if _, err := shape.Reader(featurewire.MaxDepth, decode)([]byte(show(result))); err != nil {
		return fmt.Errorf("result of %s: %w", request.method.Name, err)
	}
	return nil
}

func (l *ledger) judge(model string, value any) error {
	if l.api == dialect.CanonicalAPI {
		return canonicalwire.ValidateModel(model, []byte(show(value)))
	}
	return featurewire.ValidateModel(model, []byte(show(value)))
}
