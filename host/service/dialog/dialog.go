// Package dialog lets extensions ask the person: yes or no, and for a text.
//
// Nobody to ask, a question that was dropped, and a frontend that fails all mean no. An answer goes to the
// question that is still open and to nobody else: it ends with the request of the host that it belongs to,
// and with its generation.
//
// Rules: EXT04-CONFIRM, EXT04-INPUT. Sheet: feature 11.2, 11.7.
package dialog

import (
	"context"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Person is who can be asked. Several questions may be open at a time; each ends with its context, and
// what is said after that counts for nothing.
type Person interface {
	Confirm(ctx context.Context, q Question) (yes bool, err error)
	// Input returns the text that was given. Not given means that the person cancelled.
	Input(ctx context.Context, i Input) (text string, given bool, err error)
}

// Question is to be answered with yes or no. Its texts are plain and come from the extension.
type Question struct {
	Extension   string
	Owner       extension.Owner
	On          *extension.HostCall // the request it belongs to; nil on API 0.1
	Prompt      string
	Detail      string
	Destructive bool
	// Suggested is the answer to suggest. It is never the answer by itself.
	Suggested bool
}

// Input asks for a text.
type Input struct {
	Extension string
	Owner     extension.Owner
	On        *extension.HostCall
	Prompt    string
	// Secret: neither shown while it is typed nor kept anywhere.
	Secret bool
}

// Approval, given as the Value of a request of the host, says that the person has just confirmed what the
// request is about: the first confirmation of it counts as given. Use each for one request.
type Approval struct{ used atomic.Bool }

// take reports whether the approval was there to be used.
func (a *Approval) take() bool { return a != nil && a.used.CompareAndSwap(false, true) }

// Binding serves the questions of all extensions. A nil person is nobody.
func Binding(person Person) extension.Binding {
	s := service{person}
	return extension.Binding{Requests: map[string]extension.Handler{
		featurewire.MethodConfirmationRequest: s.confirm,
		featurewire.MethodInputRequest:        s.input,
	}}
}

// delivery is how long the answer to a confirmation may take to reach the extension.
//
// Rule: MAN-SUPER-006.
const delivery = featurewire.ConfirmationReplyMs * time.Millisecond

type service struct{ person Person }

func (s service) confirm(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	r.DeliverWithin(delivery)
	q := Question{Extension: r.Extension.Name(), Owner: r.Owner, On: r.Parent}
	if r.Extension.Source().Manifest.API == featurewire.Version01 {
		params, err := featurewire.DecodeConfirmationRequestParamsV01(r.Params)
		if err != nil {
			return nil, err
		}
		q.Prompt, q.Detail, q.Destructive, q.Suggested = params.Prompt, params.Detail.Or(""), params.Destructive, params.Default
	} else {
		params, err := featurewire.DecodeConfirmationRequestParams(r.Params)
		if err != nil {
			return nil, err
		}
		q.Prompt, q.Detail, q.Destructive, q.Suggested = params.Prompt, params.Detail.Or(""), params.Destructive, params.Default
	}
	if !r.Extension.Source().Manifest.Contributes.Confirmations {
		r.Extension.Diagnose("a confirmation is denied: it is not declared; set confirmations = true in contributes")
		return featurewire.ConfirmationRequestResult{}, nil
	}
	if r.Parent != nil {
		if approval, is := r.Parent.Value.(*Approval); is && approval.take() {
			return featurewire.ConfirmationRequestResult{Confirmed: true}, nil
		}
	}
	if s.person == nil {
		return featurewire.ConfirmationRequestResult{}, nil
	}
	r.Waits()
	yes, err := s.person.Confirm(ctx, q)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		r.Extension.Diagnose("a confirmation is denied because nobody could be asked: " + err.Error())
		yes = false
	}
	return featurewire.ConfirmationRequestResult{Confirmed: yes}, nil
}

// input never says anything about the answer, nor about why there is none: a frontend that fails may
// repeat what was typed.
func (s service) input(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodeInputRequestParams(r.Params)
	if err != nil {
		return nil, err
	}
	none := featurewire.InputRequestResult{Value: wirejson.Null[string]()}
	if s.person == nil {
		return none, nil
	}
	r.Waits()
	text, given, err := s.person.Input(ctx, Input{
		Extension: r.Extension.Name(), Owner: r.Owner, On: r.Parent, Prompt: params.Prompt, Secret: params.Secret,
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil || !given || len(text) > featurewire.MaxInputAnswerBytes || !utf8.ValidString(text) {
		return none, nil
	}
	return featurewire.InputRequestResult{Value: wirejson.Some(text)}, nil
}
