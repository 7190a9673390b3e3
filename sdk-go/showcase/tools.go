package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

type (
	noArgs      struct{}
	serviceArgs struct {
		Service string         `json:"service"`
		With    map[string]any `json:"with,omitempty"`
	}
	messageArgs struct {
		Message string `json:"message"`
	}
	textArgs struct {
		Text string `json:"text"`
	}
	bytesArgs struct {
		Bytes int `json:"bytes" jsonschema:"minimum=0"`
	}
	wordArgs struct {
		Word string `json:"word"`
	}
	nameArgs struct {
		Name string `json:"name"`
	}
	letters struct {
		Letters int `json:"letters"`
	}
)

// add adds a tool whose result is one text.
func add[In any](s *showcase, name string, run func(ctx context.Context, call *extension.Call, args In) (string, error)) {
	s.ext.Add(s.latest(extension.NewTool(name, describe(name), func(ctx context.Context, call *extension.Call, args In) (*extension.Result, error) {
		text, err := run(ctx, call, args)
		if err != nil {
			return nil, err
		}
		return extension.Text(text), nil
	})))
}

// latest gives a tool what only the latest version can be told of it.
func (s *showcase) latest(tool *extension.Tool) *extension.Tool {
	if s.api != extension.API04 {
		return tool
	}
	switch tool.Name() {
	case "count":
		return tool.Prompt("Count letters.", "Prefer count to guessing.")
	case "use":
		return tool.Compose(featurewire.CompositionModeOn, 1000)
	case "remember":
		return tool.Operation(featurewire.OperationDescriptor{ID: "remember"})
	}
	return tool
}

func describe(name string) string { return "Showcase: " + name + "." }

// addTools adds what every version has.
func (s *showcase) addTools() {
	add(s, "use", s.use)
	add(s, "child", s.use)
	add(s, "later", s.later)
	add(s, "wait", func(ctx context.Context, _ *extension.Call, _ noArgs) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	add(s, "fail", func(_ context.Context, _ *extension.Call, args messageArgs) (string, error) {
		return "", errors.New(args.Message)
	})
	add(s, "refuse", func(_ context.Context, _ *extension.Call, args messageArgs) (string, error) {
		return "", &extension.ToolError{Message: args.Message}
	})
	add(s, "print", func(_ context.Context, _ *extension.Call, args textArgs) (string, error) {
		fmt.Println(args.Text)
		return "printed", nil
	})
	add(s, "big", func(_ context.Context, _ *extension.Call, args bytesArgs) (string, error) {
		return strings.Repeat("x", args.Bytes), nil
	})
	s.ext.Add(s.latest(extension.NewStructuredTool("count", describe("count"),
		func(_ context.Context, _ *extension.Call, args wordArgs) (*extension.Result, letters, error) {
			n := utf8.RuneCountInString(args.Word)
			return extension.Text(fmt.Sprintf("%d letters", n)), letters{n}, nil
		})))
	add(s, "remember", func(_ context.Context, call *extension.Call, _ noArgs) (string, error) {
		count := extension.Memory(call, func() *atomic.Int64 { return new(atomic.Int64) })
		return strconv.FormatInt(count.Add(1), 10), nil
	})
	add(s, "seen", func(ctx context.Context, call *extension.Call, _ noArgs) (string, error) {
		if err := call.CatchUp(ctx); err != nil {
			return "", err
		}
		return s.record.take(), nil
	})
}

// use invokes a service by name.
func (s *showcase) use(ctx context.Context, call *extension.Call, args serviceArgs) (string, error) {
	text, err := outcome(ctx, &call.Scope, args)
	if err != nil {
		return "", err
	}
	return text, nil
}

// outcome is what a service gave, or a failure that the model reads.
func outcome(ctx context.Context, scope *extension.Scope, args serviceArgs) (string, error) {
	with, err := json.Marshal(args.With)
	if err != nil || args.With == nil {
		with = nil
	}
	result, err := scope.Invoke(ctx, args.Service, with)
	if err != nil {
		return "", &extension.ToolError{Message: name(err)}
	}
	return string(result), nil
}

// name says in one line which kind of failure an error is.
func name(err error) string {
	var (
		host      *extension.HostError
		closed    *extension.NotNegotiatedError
		orphan    *extension.NoParentError
		violation *wirejson.Violation
		malformed *extension.ResultError
	)
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("HostError %d %s", host.Code, host.Message)
	case errors.As(err, &closed):
		return "NotNegotiated " + closed.Method
	case errors.As(err, &orphan):
		return "NoParent " + orphan.Method
	case errors.As(err, &malformed) && errors.As(malformed.Err, &violation):
		return fmt.Sprintf("Malformed %s %s", violation.Pointer, violation.Kind)
	case errors.As(err, &violation):
		return fmt.Sprintf("Invalid %s %s", violation.Pointer, violation.Kind)
	case errors.Is(err, extension.ErrCancelled):
		return "Cancelled"
	}
	return err.Error()
}

// later invokes a service once the call has been answered, and reports what it gave.
func (s *showcase) later(_ context.Context, call *extension.Call, args serviceArgs) (string, error) {
	call.After(func(ctx context.Context, scope *extension.Scope) error {
		text, err := outcome(ctx, scope, args)
		if err != nil {
			text = err.Error()
		}
		message := featurewire.Notification{
			Level: wirejson.Some(featurewire.NotificationLevelInfo), Title: wirejson.Some("later"), Message: text,
		}
		if s.api == extension.API03 { // which has no notification
			s.record.add(featurewire.MethodNotification, message)
			return nil
		}
		return scope.Notifications().Show(ctx, message)
	})
	return "later", nil
}

// dot is a picture of one grey pixel, as it travels.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="
