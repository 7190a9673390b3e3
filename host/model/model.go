// Package model is how the host speaks with language models, whoever serves them.
package model

import (
	"context"
	"encoding/json"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
)

// Info describes a model.
type Info struct {
	Provider        string   `json:"provider"`
	Model           string   `json:"model"`
	DisplayName     string   `json:"display_name,omitempty"`
	ContextWindow   int64    `json:"context_window"`      // tokens; 0: unknown
	MaxOutputTokens int64    `json:"max_output_tokens"`   // tokens; 0: unknown
	Input           []string `json:"input_modalities"`    // text, image, audio
	Reasoning       []string `json:"reasoning,omitempty"` // labels that may be asked for, weakest first
	// Prices in microdollars per million tokens; nil where unknown.
	Price *Price `json:"price,omitempty"`
}

// Price is per million tokens, in microdollars.
type Price struct {
	Input, Output, CacheRead, CacheWrite int64
}

// Tool is a tool as a model is told of it.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Request is one request. It is complete: providers remember nothing.
type Request struct {
	Model           string
	System          string
	Messages        []conversation.Message
	Tools           []Tool
	MaxOutputTokens int64  // 0: the provider's choice
	Reasoning       string // a label of Info.Reasoning; empty: off
}

// Delta is live news of a response. Only the final Response counts.
type Delta struct {
	Kind conversation.Kind // text, reasoning or tool_call
	Text string
	// CallID and Name of a tool_call.
	CallID, Name string
}

// StopReason says why a response ended.
type StopReason string

// The reasons.
const (
	StopEnd       StopReason = "end"        // the model is done
	StopTools     StopReason = "tool_calls" // it waits for results
	StopLength    StopReason = "length"     // the output bound was reached
	StopFiltered  StopReason = "filtered"   // the provider holds the rest back
	StopCancelled StopReason = "cancelled"
)

// Response is a finished answer of a model.
type Response struct {
	Message conversation.Message // Assistant; calls have ids
	Stop    StopReason
	Usage   conversation.Usage
	// UsageKnown is false where the provider did not say what was used.
	UsageKnown bool
}

// Provider serves models.
type Provider interface {
	// Name is that of the provider, for example "openai".
	Name() string
	// Protocol names the wire, for records: "openai-compatible", "anthropic-messages", "scripted", "extension".
	Protocol() string
	// Models lists what is served. It may ask the network.
	Models(ctx context.Context) ([]Info, error)
	// Stream sends one request and returns its response. emit is called for every delta, in order, on the
	// calling goroutine; never after Stream has returned. The error is an *Error or the context's.
	Stream(ctx context.Context, request Request, emit func(Delta)) (*Response, error)
}

// Phase says how far a failed request had come.
type Phase string

// The phases, as hooks are told of them.
const (
	// BeforeGeneration: the provider refused or the request did not arrive; nothing was generated.
	BeforeGeneration = Phase(featurewire.ProviderRetryKindBeforeGeneration)
	// StreamStart: the request was accepted and the stream ended before its first delta.
	StreamStart = Phase(featurewire.ProviderRetryKindStreamStart)
	// InterruptedInference: the stream broke behind deltas.
	InterruptedInference = Phase(featurewire.ProviderRetryKindInterruptedInference)
	// WaitingForNetwork: no connection can be made at all; nothing was sent.
	WaitingForNetwork = Phase(featurewire.ProviderRetryKindWaitingForNetwork)
)

// Error is a failed request.
type Error struct {
	Provider string
	Phase    Phase
	// Retry says that the same request may be sent again: the fault is transient and nothing of an answer
	// was shown for good.
	Retry bool
	// RetryAfter is the least wait that the provider asks for.
	RetryAfter time.Duration
	// Status is the HTTP status, 0 where there is none.
	Status int
	// UsageUnknown says that tokens may have been used that nobody counts.
	UsageUnknown bool
	// Overflow says that the request is larger than the model can take: a shorter one may pass.
	Overflow bool
	Message  string
	Cause    error
}

// Error returns the provider and the message; never a key.
func (e *Error) Error() string { return e.Provider + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
