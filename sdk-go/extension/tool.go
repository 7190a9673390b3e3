package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strconv"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension/internal/toolschema"
)

// Tool is one row of the catalog. Make one with NewTool or NewStructuredTool; it never changes once it is
// added.
type Tool struct {
	name, description string
	input             *toolschema.Schema
	output            *toolschema.Schema // nil: the tool has no structured content
	run               handlerFunc
	extra             toolExtra
}

// Name returns the name.
func (t *Tool) Name() string { return t.name }

// handlerFunc decodes the arguments and runs the author's handler. The structured content is nil for a tool
// without an output schema. The error is an *argumentError or what the handler returned.
type handlerFunc func(ctx context.Context, call *Call, arguments wirejson.Value) (*Result, json.RawMessage, error)

// argumentError says where arguments break the tool's schema or type.
type argumentError struct {
	kind    wirejson.ViolationKind
	pointer string // from the root of the arguments
	detail  string
}

func (e *argumentError) Error() string { return fmt.Sprintf("at %q: %s", e.pointer, e.detail) }

// AddTool adds a tool to the static catalog: NewTool, then Extension.Add.
func AddTool[In any](ext *Extension, name, description string, handler func(ctx context.Context, call *Call, args In) (*Result, error)) {
	ext.Add(NewTool(name, description, handler))
}

// AddStructuredTool adds a tool to the static catalog: NewStructuredTool, then Extension.Add.
func AddStructuredTool[In, Out any](ext *Extension, name, description string, handler func(ctx context.Context, call *Call, args In) (*Result, Out, error)) {
	ext.Add(NewStructuredTool(name, description, handler))
}

// NewTool returns a tool whose arguments are decoded into In, a struct, a map with string keys, or
// json.RawMessage for any object. The JSON Schema that the host shows to the model follows from the type:
// json tags name the members, omitempty or a default makes one optional, and jsonschema tags add
// descriptions and bounds, as in `jsonschema:"description=Milliseconds,minimum=0,default=100"`. Arguments
// that do not fit never reach the handler; members left out have their default.
//
// The handler runs on a goroutine of its own, at the same time as others. Its context ends when the host
// cancels the call or the extension shuts down; a handler should then return soon. If it has not returned
// after a second, the host is told that the call was cancelled, and whatever the handler returns later is
// dropped. A nil Result is one empty text. An error becomes a result whose is_error is true, see ToolError;
// a panic does so too, is written to stderr with its stack, and does not end the process.
//
// NewTool panics if the handler is nil and if In has no schema.
func NewTool[In any](name, description string, handler func(ctx context.Context, call *Call, args In) (*Result, error)) *Tool {
	if handler == nil {
		panic(misuse(name, "the handler is nil"))
	}
	schema, err := toolschema.Arguments(reflect.TypeFor[In]())
	if err != nil {
		panic(misuse(name, err.Error()))
	}
	decode := decoder[In](name, schema)
	return &Tool{
		name: name, description: description, input: schema,
		run: func(ctx context.Context, call *Call, arguments wirejson.Value) (*Result, json.RawMessage, error) {
			args, err := decode(arguments)
			if err != nil {
				return nil, nil, err
			}
			result, err := handler(ctx, call, args)
			return result, nil, err
		},
	}
}

// NewStructuredTool is NewTool for a tool that also returns a value for programs. The value becomes the
// result's structured content, and its type the tool's output schema; it is checked before it is sent. With
// a nil Result, or one without content, the text is the JSON of the value. The value is left out when the
// result is an error, and on API 0.1, which has no structured content.
//
// It also panics if Out needs a schema keyword that the wire does not allow: recursion, integer keys.
func NewStructuredTool[In, Out any](name, description string, handler func(ctx context.Context, call *Call, args In) (*Result, Out, error)) *Tool {
	if handler == nil {
		panic(misuse(name, "the handler is nil"))
	}
	input, err := toolschema.Arguments(reflect.TypeFor[In]())
	if err != nil {
		panic(misuse(name, err.Error()))
	}
	output, err := toolschema.Output(reflect.TypeFor[Out](), outputRules)
	if err != nil {
		panic(misuse(name, err.Error()))
	}
	decode := decoder[In](name, input)
	return &Tool{
		name: name, description: description, input: input, output: output,
		run: func(ctx context.Context, call *Call, arguments wirejson.Value) (*Result, json.RawMessage, error) {
			args, err := decode(arguments)
			if err != nil {
				return nil, nil, err
			}
			result, value, err := handler(ctx, call, args)
			if err != nil || (result != nil && result.IsError) {
				return result, nil, err
			}
			return structure(result, value, output)
		},
	}
}

// decoder returns the function that checks and decodes arguments. It panics if a default does not fit the
// type, so that a tool that could never be called is found when it is added.
func decoder[In any](name string, schema *toolschema.Schema) func(wirejson.Value) (In, error) {
	defaults := schema.Defaults()
	quick := newFiller(reflect.TypeFor[In]())
	fill := func(into *In, text []byte) error { return jsonv2.Unmarshal(text, into, encoding) }
	if defaults != nil {
		if err := fill(new(In), defaults); err != nil {
			panic(misuse(name, "a default does not fit its member: "+err.Error()))
		}
	}
	return func(arguments wirejson.Value) (In, error) {
		var args In
		if err := schema.CheckParsed(arguments); err != nil {
			var problem *toolschema.Problem
			errors.As(err, &problem)
			return args, &argumentError{problem.Kind, problem.Pointer, problem.Detail}
		}
		if defaults != nil {
			if err := fill(&args, defaults); err != nil {
				return args, err
			}
		}
		if quick.fill(reflect.ValueOf(&args).Elem(), arguments) {
			return args, nil
		}
		if err := fill(&args, arguments.Source()); err != nil {
			return args, decodeError(err)
		}
		return args, nil
	}
}

// decodeError is about a value that fits the schema but not the Go type, such as an integer that is too
// large for its field.
func decodeError(err error) error {
	var semantic *jsonv2.SemanticError
	if !errors.As(err, &semantic) {
		return &argumentError{wirejson.WrongValue, "", err.Error()}
	}
	detail := fmt.Sprintf("does not fit a %s", semantic.GoType)
	if semantic.Err != nil {
		detail += ": " + semantic.Err.Error()
	}
	kind := wirejson.WrongType
	if errors.Is(err, strconv.ErrRange) {
		kind = wirejson.OutOfRange
	}
	return &argumentError{kind, string(semantic.JSONPointer), detail}
}

// structure adds the structured content to a result.
func structure(result *Result, value any, schema *toolschema.Schema) (*Result, json.RawMessage, error) {
	text, err := jsonv2.Marshal(value, encoding)
	if err != nil {
		return nil, nil, fmt.Errorf("the structured content has no JSON form: %w", err)
	}
	if err := schema.Check(text); err != nil {
		return nil, nil, fmt.Errorf("the structured content breaks its schema %w", err)
	}
	if result == nil || len(result.Content) == 0 {
		withText := Result{Content: []string{string(text)}}
		if result != nil {
			withText.Metadata = result.Metadata
		}
		result = &withText
	}
	return result, text, nil
}

// handlerPanic is a panic of a handler.
type handlerPanic struct {
	value any
	stack []byte
}

func (p *handlerPanic) Error() string { return fmt.Sprintf("panicked: %v", p.value) }

// maxFailureBytes bounds the text of an error that nobody wrote for the host: it may quote all that a tool was
// given, and the model would have to read it. It is no bound of a wire.
const maxFailureBytes = 4 << 10

// failureText returns the text, cut between two characters if it is longer than maxFailureBytes.
func failureText(text string) string {
	if len(text) <= maxFailureBytes {
		return text
	}
	end := maxFailureBytes
	for end > maxFailureBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// errExited is why a call ends whose handler has ended its goroutine.
var errExited = errors.New("ended its goroutine: return an error in place of runtime.Goexit")

// guarded runs the tool and turns a panic into an error.
func (t *Tool) guarded(ctx context.Context, call *Call, arguments wirejson.Value) (result *Result, structured json.RawMessage, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &handlerPanic{value, debug.Stack()}
		}
	}()
	return t.run(ctx, call, arguments)
}
