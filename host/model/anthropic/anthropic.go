// Package anthropic asks models that speak Anthropic's messages.
package anthropic

import (
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

// Messages is the protocol.
const Messages = "anthropic-messages"

// DefaultBaseURL is that of Anthropic.
const DefaultBaseURL = "https://api.anthropic.com/"

// version is where everything lies below a base URL, which may name it too.
const version = "/v1"

// VersionHeader names the version of the API in every request, and Version is that which the documents here are of.
const (
	VersionHeader = "Anthropic-Version"
	Version       = "2026-10-21"
)

// maxToolName is the length of a tool's name that the API takes.
const maxToolName = 128

// defaultMaxOutput is asked for where neither the request nor the catalog says how long an answer may be:
// the API demands a bound, and every model allows this one.
const defaultMaxOutput = 4096

// Options configure a provider.
type Options struct {
	Name    string // empty: "anthropic"
	BaseURL string // empty: DefaultBaseURL; with the version of the API at its end or without
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
		options.Name = "anthropic"
	}
	if options.BaseURL == "" {
		options.BaseURL = DefaultBaseURL
	}
	options.BaseURL = strings.TrimSuffix(strings.TrimRight(options.BaseURL, "/"), version) + version
	p := &Provider{options: options, client: web.NewClient(options.Transport), header: http.Header{}}
	p.header.Set(VersionHeader, Version)
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

// Protocol is Messages.
func (p *Provider) Protocol() string { return Messages }

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
	names := toolname.For(request.Tools, maxToolName)
	params, err := p.params(names, request)
	if err != nil {
		return nil, err
	}
	ctx, attempt := web.Begin(ctx, p.options.Name, p.options.Idle, p.secrets...)
	defer attempt.End()
	stream, err := web.Stream(ctx, p.client, p.options.BaseURL, "messages", p.header, params)
	if err != nil {
		return nil, p.failed(attempt, err, false)
	}
	defer func() { _ = stream.Close() }()
	answer := newAnswer(names, request, emit)
	for !answer.whole && stream.Next() {
		event, err := read(stream)
		if err != nil {
			return nil, p.failed(attempt, err, answer.heard)
		}
		answer.take(event)
	}
	if err := stream.Err(); err != nil && !answer.whole {
		return nil, p.failed(attempt, err, answer.heard)
	}
	if !answer.whole {
		return nil, attempt.Broke(nil, answer.heard)
	}
	return answer.response(), nil
}

// inStream is an error document that came as an event.
type inStream []byte

func (e inStream) Error() string { return "the server broke off" }

// read reads the event that has come, which may be an error. Events of other names are nothing that we ask for.
func read(stream *web.Events) (event streamEvent, err error) {
	switch stream.Name() {
	case "error":
		return event, inStream(stream.Data())
	case "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "content_block_stop":
		err = web.Decode(stream.Data(), &event)
	}
	return event, err
}

// failed turns an error on the way to an answer, or within it, into one of ours.
func (p *Provider) failed(attempt *web.Attempt, err error, heard bool) error {
	var denied *web.Denial
	var broken inStream
	var r web.Refusal
	switch {
	case errors.As(err, &denied):
		r = web.Refusal{Status: denied.Status, Header: denied.Header, Message: web.Said(denied.Document)}
	case errors.As(err, &broken):
		r = web.Refusal{Status: statusOf(broken), Message: web.Said(broken)}
	default:
		return attempt.Broke(err, heard)
	}
	switch {
	case r.Status == http.StatusRequestEntityTooLarge || r.Status == http.StatusBadRequest && strings.Contains(r.Message, "prompt is too long"):
		r.Overflow = true
	case r.Status == http.StatusPaymentRequired || strings.Contains(r.Message, "credit balance"):
		r.Final, r.Hint = true, "see the billing of the account"
	case (r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden) && p.options.KeySource != "":
		r.Hint = "check the key in " + p.options.KeySource
	case r.Status == http.StatusUnauthorized && p.options.Key == "":
		r.Hint = "no key is set"
	case r.Status == http.StatusNotFound:
		r.Hint = "check the name of the model and the base URL"
	}
	return attempt.Refused(r, heard)
}

// statusOf is the status that an error in a stream would have had.
func statusOf(document []byte) int {
	var known struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(document, &known) != nil {
		return 0
	}
	switch known.Error.Type {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return web.StatusOverloaded
	}
	return http.StatusInternalServerError
}
