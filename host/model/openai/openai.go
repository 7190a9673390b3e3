// Package openai asks models that speak OpenAI's chat completions or responses, at OpenAI or at any server
// that speaks the same.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
	"github.com/octet-dev/octet/host/model/web"
)

// The protocols.
const (
	Chat      = "openai-compatible"
	Responses = "openai-responses"
)

// DefaultBaseURL is that of OpenAI.
const DefaultBaseURL = "https://api.openai.com/v1/"

// maxToolName is the length of a function's name that the API takes.
const maxToolName = 64

// Options configure a provider.
type Options struct {
	Name     string // empty: "openai"
	Protocol string // Chat or Responses; empty: Chat
	BaseURL  string // empty: DefaultBaseURL
	// Key is sent with every request; empty: none. KeySource says where it comes from, for errors.
	Key, KeySource string
	Headers        map[string]string
	// Catalog is what is known of the models.
	Catalog []model.Info
	// Transport makes the connections; nil: that of package net/http.
	Transport http.RoundTripper
	// Idle is how long the server may send nothing; 0: web.DefaultIdle.
	Idle time.Duration
}

// Provider asks one server.
type Provider struct {
	options Options
	secrets []string
	client  *http.Client
	header  http.Header
}

var _ model.Provider = (*Provider)(nil)

// New makes a provider. Nothing of the environment is read.
func New(options Options) *Provider {
	if options.Name == "" {
		options.Name = "openai"
	}
	if options.Protocol == "" {
		options.Protocol = Chat
	}
	if options.BaseURL == "" {
		options.BaseURL = DefaultBaseURL
	}
	p := &Provider{options: options, client: web.NewClient(options.Transport), header: http.Header{}}
	if options.Key != "" {
		p.secrets = append(p.secrets, options.Key)
		p.header.Set("Authorization", "Bearer "+options.Key)
	}
	for name, value := range options.Headers {
		p.secrets = append(p.secrets, value)
		p.header.Set(name, value)
	}
	return p
}

// Name is that of the provider.
func (p *Provider) Name() string { return p.options.Name }

// Protocol is Chat or Responses.
func (p *Provider) Protocol() string { return p.options.Protocol }

// Models lists what is known of the models. It asks nobody.
func (p *Provider) Models(context.Context) ([]model.Info, error) { return p.options.Catalog, nil }

// Listing is the request for the models that the server has.
func (p *Provider) Listing(ctx context.Context) (*http.Request, error) {
	return web.Get(ctx, p.options.BaseURL, "models", p.header)
}

// Stream sends one request, once.
func (p *Provider) Stream(ctx context.Context, request model.Request, emit func(model.Delta)) (*model.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, attempt := web.Begin(ctx, p.options.Name, p.options.Idle, p.secrets...)
	defer attempt.End()
	names := toolname.For(request.Tools, maxToolName)
	if p.options.Protocol == Responses {
		return p.responses(ctx, attempt, names, request, emit)
	}
	params, err := p.chat(names, request)
	if err != nil {
		return nil, err
	}
	stream, err := web.Stream(ctx, p.client, p.options.BaseURL, "chat/completions", p.header, params)
	if err != nil {
		return nil, p.failed(attempt, err, false)
	}
	defer func() { _ = stream.Close() }()
	answer := newAnswer(names, request, emit)
	for stream.Next() {
		if bytes.HasPrefix(stream.Data(), []byte("[DONE]")) {
			break
		}
		var chunk chatChunk
		if err := read(stream.Data(), &chunk); err != nil {
			return nil, p.failed(attempt, err, answer.heard)
		}
		answer.take(chunk)
	}
	if err := stream.Err(); err != nil {
		return nil, p.failed(attempt, err, answer.heard)
	}
	if answer.finish == "" {
		return nil, attempt.Broke(nil, answer.heard)
	}
	return answer.response(), nil
}

// inStream is an error document that came as an event.
type inStream []byte

func (e inStream) Error() string { return "the server broke off" }

// read reads one event, which may be an error document.
func read(data []byte, into any) error {
	var document errorDocument
	if err := web.Decode(data, &document); err != nil {
		return err
	}
	if len(document.Error) > 0 && string(document.Error) != "null" {
		return inStream(data)
	}
	return web.Decode(data, into)
}

// failed turns an error on the way to an answer, or within it, into one of ours.
func (p *Provider) failed(attempt *web.Attempt, err error, heard bool) error {
	var denied *web.Denial
	var broken inStream
	switch {
	case errors.As(err, &denied):
		code, kind := errorCode(denied.Document)
		refusal := p.refusal(denied.Status, code, kind)
		refusal.Message, refusal.Header = web.Said(denied.Document), denied.Header
		return attempt.Refused(refusal, heard)
	case errors.As(err, &broken):
		code, kind := errorCode(broken)
		refusal := p.refusal(statusOf(code, kind), code, kind)
		refusal.Message = web.Said(broken)
		return attempt.Refused(refusal, heard)
	}
	return attempt.Broke(err, heard)
}

// refusal says what a status and the words of an error document mean.
func (p *Provider) refusal(status int, code, kind string) web.Refusal {
	r := web.Refusal{Status: status}
	switch {
	case code == "insufficient_quota" || kind == "insufficient_quota" || code == "billing_hard_limit_reached":
		r.Final, r.Hint = true, "see the billing of the account"
	case code == "context_length_exceeded" || code == "string_above_max_length":
		r.Overflow = true
	case status == http.StatusRequestEntityTooLarge:
		r.Overflow = true
	case status == http.StatusUnauthorized && p.options.Key == "":
		r.Hint = "no key is set"
		if p.options.KeySource != "" {
			r.Hint = "set a key in " + p.options.KeySource
		}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		r.Hint = "check the key in " + p.options.KeySource
		if p.options.KeySource == "" {
			r.Hint = "check the key"
		}
	case status == http.StatusNotFound:
		r.Hint = "check the name of the model and the base URL"
	}
	return r
}

// statusOf is the status that an error in a stream would have had.
func statusOf(code, kind string) int {
	for _, word := range []string{code, kind} {
		switch word {
		case "server_error", "internal_error", "internal_server_error":
			return http.StatusInternalServerError
		case "rate_limit_exceeded", "rate_limit_error", "insufficient_quota":
			return http.StatusTooManyRequests
		case "overloaded", "overloaded_error", "server_overloaded", "slow_down":
			return http.StatusServiceUnavailable
		case "invalid_request_error", "context_length_exceeded", "invalid_prompt":
			return http.StatusBadRequest
		}
	}
	return 0
}

// native reports whether the server is OpenAI's own.
func (p *Provider) native() bool {
	return strings.HasPrefix(p.options.BaseURL, DefaultBaseURL[:len(DefaultBaseURL)-1])
}

// errorCode reads the words of an error document.
func errorCode(document []byte) (code, kind string) {
	var known struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(document, &known) // what cannot be read says nothing
	code, _ = known.Error.Code.(string)
	return code, known.Error.Type
}
