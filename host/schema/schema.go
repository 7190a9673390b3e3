// Package schema puts the JSON Schemas that tools declare to work: it checks arguments and structured
// results against them, and turns words of a command line into typed arguments.
//
// A schema comes from an extension, so it is not trusted: nothing is fetched for it, numbers in it are
// bounded, and work on it ends when the context does.
package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/quickschema"
)

// resource is where the compiler believes the schema to be. Nothing is read from there.
const resource = "octet:///schema"

// maxNumberBytes and maxExponent bound a number before it is turned into an exact one, whose size grows
// with the exponent and not with its spelling.
const (
	maxNumberBytes = 400
	maxExponent    = 400
	// maxModestBytes is the longest number without an exponent that nobody has to look at.
	maxModestBytes = 32
)

// Schema is a compiled schema. It may be used by several goroutines.
type Schema struct {
	compiled *jsonschema.Schema
	quick    *quickschema.Schema // nil for a schema that only the full validator understands
}

// Problem is one way in which a value does not fit.
type Problem struct {
	Pointer string // JSON Pointer into the value
	Message string
}

// MismatchError lists every way in which a value does not fit its schema.
type MismatchError struct{ Problems []Problem }

// Error joins the problems in one line.
func (e *MismatchError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if p.Pointer == "" {
			parts[i] = p.Message
		} else {
			parts[i] = fmt.Sprintf("at %q: %s", p.Pointer, p.Message)
		}
	}
	return strings.Join(parts, "; ")
}

// Compile reads a schema. A schema without $schema is taken as draft 2020-12. References to other
// documents are refused.
func Compile(ctx context.Context, text []byte) (*Schema, error) {
	document, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return await(ctx, func() (*Schema, error) {
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(refusal{})
		if err := compiler.AddResource(resource, document); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		compiled, err := compiler.Compile(resource)
		if err != nil {
			return nil, fmt.Errorf("schema: %w", short(err))
		}
		if err := endless(compiled); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		return &Schema{compiled: compiled, quick: quickschema.New(document)}, nil
	})
}

// Check reports whether a value fits. The error is a *MismatchError if it does not, another one if the
// text is no JSON or the context ends first.
func (s *Schema) Check(ctx context.Context, value []byte) error {
	if s.certain(value) {
		return nil
	}
	instance, err := decode(value)
	if err != nil {
		return err
	}
	_, err = await(ctx, func() (struct{}, error) {
		return struct{}{}, mismatch(s.compiled.Validate(instance))
	})
	return err
}

// certain reports whether a value fits beyond doubt, found without a tree of it. Numbers that have to be bounded leave
// a doubt.
func (s *Schema) certain(value []byte) bool {
	if s.quick == nil {
		return false
	}
	document, err := wirejson.Parse(value, wirejson.DefaultMaxDepth)
	if err != nil {
		return false
	}
	defer document.Release()
	return s.quick.Accepts(document.Root()) && modest(document.Root())
}

// modest reports whether no number in a value comes near the bounds.
func modest(value wirejson.Value) bool {
	switch value.Kind() {
	case wirejson.KindNumber:
		return len(value.Source()) <= maxModestBytes && !bytes.ContainsAny(value.Source(), "eE")
	case wirejson.KindArray:
		for walk := value.Elements(); walk.Next(); {
			if !modest(walk.Value()) {
				return false
			}
		}
	case wirejson.KindObject:
		for walk := value.Members(); walk.Next(); {
			if !modest(walk.Value()) {
				return false
			}
		}
	}
	return true
}

// await runs work and returns early when the context ends. A hostile schema can make validation take
// exponential time, and the library cannot be interrupted.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.value, o.err = work()
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var zero T
		return zero, fmt.Errorf("schema work was not finished: %w", context.Cause(ctx))
	}
}

func mismatch(err error) error {
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	found := &MismatchError{}
	collect(invalid, found)
	slices.SortStableFunc(found.Problems, func(a, b Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
	found.Problems = slices.Compact(found.Problems)
	return found
}

// collect keeps the leaves: what stands above them only repeats which keyword led there.
func collect(e *jsonschema.ValidationError, into *MismatchError) {
	for _, cause := range e.Causes {
		collect(cause, into)
	}
	if len(e.Causes) == 0 {
		into.Problems = append(into.Problems, Problem{
			Pointer: pointer(e.InstanceLocation),
			Message: e.ErrorKind.LocalizedString(message.NewPrinter(language.English)),
		})
	}
}

func pointer(tokens []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(escape.Replace(token))
	}
	return b.String()
}

// short drops the address that the compiler puts in front of every message.
func short(err error) error {
	return errors.New(strings.ReplaceAll(strings.ReplaceAll(err.Error(), resource, ""), "\n", " "))
}

// refusal is the loader of a compiler that must not load.
type refusal struct{}

func (refusal) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q lies outside the schema; put it under $defs", url)
}

// decode reads exactly one JSON value and keeps numbers as they are spelled.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if decoder.More() {
		return nil, errors.New("not JSON: something follows the first value")
	}
	return value, numbers(value)
}

func numbers(value any) error {
	switch v := value.(type) {
	case json.Number:
		return number(string(v))
	case []any:
		for _, e := range v {
			if err := numbers(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, e := range v {
			if err := numbers(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func number(text string) error {
	if len(text) > maxNumberBytes {
		return fmt.Errorf("a number of %d bytes, want at most %d", len(text), maxNumberBytes)
	}
	_, exponent, found := strings.Cut(strings.ToLower(text), "e")
	if !found {
		return nil
	}
	magnitude := strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
	if len(magnitude) > 3 || len(magnitude) == 3 && magnitude > fmt.Sprint(maxExponent) {
		return fmt.Errorf("the exponent of %q is out of range, want at most %d", text, maxExponent)
	}
	return nil
}
