// Package nativehost is native-host protocol 1: a program embeds octet by starting it, and speaks JSON lines
// with it over its standard input and output.
//
// Requests are handled one at a time. A run works under the controlled policy whatever it asks for; there is
// nobody to ask, so what would be asked is denied. Extensions are discovered and told about, and never
// started. Source: sheet manifest 14.
package nativehost

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/selection"
)

// The events that are no part of a run.
const (
	eventHello    = "hello"
	eventModels   = "models"
	eventShutdown = "shutdown"
	eventError    = "protocol_error"
)

// Options are what a host works with. In, Out and Models are required.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Release is the version of octet that is implemented.
	Release string
	Machine selection.Machine
	Models  *registry.Registry
	// Diagnose takes lines for people; nil drops them.
	Diagnose func(text string)
}

// Host is one conversation of the protocol.
type Host struct {
	options Options
}

// New makes a host.
func New(options Options) *Host {
	if options.Diagnose == nil {
		options.Diagnose = func(string) {}
	}
	return &Host{options: options}
}

// Serve answers requests until shutdown, the end of the input, or the end of the context, which aborts a
// run: what it owes is still written. The error is nil, that of a broken pipe, or the cause of the context.
// A read of the input that is going on then is left behind.
func (h *Host) Serve(ctx context.Context) error {
	type line struct {
		text []byte
		err  error
	}
	input := make(chan line)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for lines := newLines(h.options.In); ; {
			text, err := lines.next()
			select {
			case input <- line{text, err}:
			case <-stop:
				return
			}
			var refused *refusal
			if err != nil && !errors.As(err, &refused) {
				return
			}
		}
	}()
	for {
		var next line
		select {
		case next = <-input:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if errors.Is(next.err, io.EOF) {
			return nil
		}
		var refused *refusal
		if next.err != nil && !errors.As(next.err, &refused) {
			return next.err
		}
		over, err := h.answer(ctx, next.text, next.err)
		if over || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// answer answers one line. It reports whether that was the last.
func (h *Host) answer(ctx context.Context, line []byte, bad error) (over bool, err error) {
	a := &answers{w: h.options.Out, frame: frame{ProtocolVersion: Version}}
	if bad != nil {
		a.fail(bad)
		return false, a.err
	}
	head, err := readHeader(line)
	if head.RequestID != "" {
		a.frame.RequestID = &head.RequestID
	}
	if err != nil {
		a.fail(err)
		return false, a.err
	}
	switch head.Command {
	case commandHello:
		if err = readStrictly(line, &header{}); err == nil {
			a.finish(eventHello, h.hello())
		}
	case commandModels:
		if err = readStrictly(line, &modelsRequest{}); err == nil {
			a.finish(eventModels, h.models(ctx))
		}
	case commandShutdown:
		if err = readStrictly(line, &header{}); err == nil {
			a.finish(eventShutdown, struct{}{})
			return true, a.err
		}
	default:
		err = h.run(ctx, a, line)
	}
	if err != nil {
		a.fail(err)
	}
	return false, a.err
}

// hello says what this host is.
func (h *Host) hello() any {
	return map[string]any{
		"sdk_version": h.options.Release, "protocol_version": Version, "max_frame_bytes": MaxFrameBytes, "max_concurrent_runs": 1,
		"commands": commands,
		"features": map[string]bool{
			"streaming": true, "persistent_sessions": true, "seed_history": true, "typed_media_input": true, "typed_image_input": true,
			"typed_audio_input": true, "prompt_display_text": true, "inline_models": true, "tools": true, "skills": false, "extensions": true,
			"process_group_abort": true, "in_band_abort": false,
		},
	}
}

// described is a model as the catalog has it.
type described struct {
	model.Info
	Vision bool `json:"vision"`
	Audio  bool `json:"audio"`
	// Available says that the provider could be asked: its key is set.
	Available bool `json:"available"`
}

func (h *Host) models(ctx context.Context) any {
	list := []described{}
	for _, info := range h.options.Models.Models(ctx) {
		list = append(list, described{Info: info, Vision: takes(info, "image"), Audio: takes(info, "audio"), Available: h.options.Models.Usable(info.Provider)})
	}
	return map[string]any{"models": list, "default": h.options.Models.Default()}
}

// takes reports whether a model is known to take a modality.
func takes(info model.Info, modality string) bool { return slices.Contains(info.Input, modality) }
