package extension

import (
	"context"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Status is what an extension shows on a surface of the host.
type Status struct {
	Text      string
	StyleRole string // a role of the theme; empty for none
	Priority  int64  // what is higher is kept first
}

// Rendering is the result of a tool that is about to be shown.
type Rendering struct {
	Tool      string
	Arguments []byte // JSON
	Output    string
	IsError   bool
}

// OnContext has f called when the host collects text for the model; the prompt is empty where there is none.
// It needs a manifest that contributes context. It panics on API 0.3 and once the extension is serving.
func (e *Extension) OnContext(f func(ctx context.Context, scope *Scope, prompt string) ([]Contribution, error)) {
	e.register("context handler", featureVersions, func(p *plan) { p.context = f })
}

// OnStatus has f called when the host collects what to show on a surface; nil shows nothing. It needs a
// manifest that contributes the surface. It panics on API 0.3 and once the extension is serving.
func (e *Extension) OnStatus(surface featurewire.UiSurface, f func(ctx context.Context, scope *Scope) (*Status, error)) {
	e.register("status handler", featureVersions, func(p *plan) {
		if p.statuses == nil {
			p.statuses = map[featurewire.UiSurface]statusFunc{}
		}
		p.statuses[surface] = f
	})
}

// OnMenu has f called when the person opens the menu of the extension. It needs API 0.2 or 0.4 and a manifest
// that contributes a menu. It panics on another API and once the extension is serving.
func (e *Extension) OnMenu(f func(ctx context.Context, scope *Scope) (featurewire.MenuCollectResult, error)) {
	e.register("menu handler", laterVersions, func(p *plan) { p.menu = f })
}

// OnRender has f called when the result of a tool is to be shown. It needs a manifest that contributes a
// renderer of the tool. It panics on API 0.3 and once the extension is serving.
func (e *Extension) OnRender(tool string, f func(ctx context.Context, scope *Scope, what Rendering) ([]featurewire.ToolRenderSegment, error)) {
	e.register("renderer", featureVersions, func(p *plan) {
		if p.renderers == nil {
			p.renderers = map[string]func(context.Context, *Scope, Rendering) ([]featurewire.ToolRenderSegment, error){}
		}
		p.renderers[tool] = f
	})
}

// unserved is the answer to a request that the extension has nothing for.
func (s *server) unserved(r *peer.Request) error {
	return s.fail(&refusal{row: featurewire.ErrUnknownMethod, message: featurewire.ErrUnknownMethod.Message + ": " + r.Method + ": nothing is registered for it"})
}

func (s *server) scoped(ctx context.Context, r *peer.Request, where Context) *Scope {
	scope := new(Scope)
	scope.init(s, requestScope, r, ctx, where)
	return scope
}

func (s *server) collectContext(ctx context.Context, r *peer.Request) (peer.Value, error) {
	var asked featurewire.ContextCollectParams
	where, err := Context{}, error(nil)
	if s.ext.api == API01 {
		var old featurewire.ContextCollectParamsV01
		old, err = featurewire.DecodeContextCollectParamsV01(r.Params)
		asked.Prompt, where = old.Prompt, contextV01(old.Context)
	} else {
		asked, err = featurewire.DecodeContextCollectParams(r.Params)
		where = contextOf(asked.Context)
	}
	switch {
	case err != nil:
		return nil, err
	case s.plan.context == nil || !s.session.Load().declared.has["context"]:
		return nil, s.unserved(r)
	}
	return s.guard(ctx, "context handler", func() (wirejson.Encoder, error) {
		list, err := s.plan.context(ctx, s.scoped(ctx, r, where), asked.Prompt.Or(""))
		return contributionList(contributions(list)), err
	})
}

// contributionList is a result that is an array.
type contributionList []featurewire.ContextContribution

// AppendJSON writes the array.
func (l contributionList) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i, c := range l {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.AppendJSON(dst)
	}
	return append(dst, ']')
}

// Validate checks each element.
func (l contributionList) Validate() error {
	for i, c := range l {
		if err := c.Validate(); err != nil {
			return inside(fmt.Sprintf("/%d", i), err)
		}
	}
	return nil
}

func (s *server) collectStatus(ctx context.Context, r *peer.Request) (peer.Value, error) {
	var asked featurewire.StatusCollectParams
	where, err := Context{}, error(nil)
	if s.ext.api == API01 {
		var old featurewire.StatusCollectParamsV01
		old, err = featurewire.DecodeStatusCollectParamsV01(r.Params)
		asked.Surface, where = old.Surface, contextV01(old.Context)
	} else {
		asked, err = featurewire.DecodeStatusCollectParams(r.Params)
		where = contextOf(asked.Context)
	}
	if err != nil {
		return nil, err
	}
	f := s.plan.statuses[asked.Surface]
	if f == nil || !s.session.Load().declared.lists("ui", string(asked.Surface)) {
		return nil, s.unserved(r)
	}
	return s.guard(ctx, "status handler", func() (wirejson.Encoder, error) {
		status, err := f(ctx, s.scoped(ctx, r, where))
		if err != nil || status == nil {
			return wirejson.Raw("null"), err
		}
		wired := featurewire.StatusContribution{Surface: asked.Surface, Text: plain(status.Text), Priority: wirejson.Some(status.Priority)}
		if status.StyleRole != "" {
			wired.StyleRole = wirejson.Some(status.StyleRole)
		}
		return wired, nil
	})
}

func (s *server) collectMenu(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := featurewire.DecodeMenuCollectParams(r.Params)
	switch {
	case err != nil:
		return nil, err
	case s.plan.menu == nil || !s.session.Load().declared.has["menu"]:
		return nil, s.unserved(r)
	}
	return s.guard(ctx, "menu handler", func() (wirejson.Encoder, error) {
		return encoder(s.plan.menu(ctx, s.scoped(ctx, r, contextOf(asked.Context))))
	})
}

func (s *server) render(ctx context.Context, r *peer.Request) (peer.Value, error) {
	var asked featurewire.ToolRenderParams
	where, err := Context{}, error(nil)
	if s.ext.api == API01 {
		var old featurewire.ToolRenderParamsV01
		old, err = featurewire.DecodeToolRenderParamsV01(r.Params)
		asked = featurewire.ToolRenderParams{Name: old.Name, Arguments: old.Arguments, Output: old.Output, IsError: old.IsError}
		where = contextV01(old.Context)
	} else {
		asked, err = featurewire.DecodeToolRenderParams(r.Params)
		where = contextOf(asked.Context)
	}
	if err != nil {
		return nil, err
	}
	f := s.plan.renderers[asked.Name]
	if f == nil || !s.session.Load().declared.lists("tool_renderers", asked.Name) {
		return nil, s.unserved(r)
	}
	return s.guard(ctx, "renderer", func() (wirejson.Encoder, error) {
		segments, err := f(ctx, s.scoped(ctx, r, where), Rendering{asked.Name, asked.Arguments, asked.Output, asked.IsError})
		return featurewire.ToolRenderResult{Segments: segments}, err
	})
}

// encoder drops the type of a result.
func encoder[T wirejson.Encoder](result T, err error) (wirejson.Encoder, error) { return result, err }
