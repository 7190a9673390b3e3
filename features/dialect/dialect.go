// Package dialect builds what a host writes on either extension wire, as plain JSON trees, so that a
// scenario can bend any part of it before it is sent.
package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
)

// Dialect is one API version as a host speaks it.
type Dialect struct {
	api string
}

// Versions lists the API versions that can be judged, oldest first.
func Versions() []string { return []string{"0.1", "0.2", "0.3", "0.4"} }

// For returns the dialect of an API version.
func For(api string) (Dialect, error) {
	if !slices.Contains(Versions(), api) {
		return Dialect{}, fmt.Errorf("API version %q is not one of %q", api, Versions())
	}
	return Dialect{api: api}, nil
}

// API is the exact version.
func (d Dialect) API() string { return d.api }

// Canonical reports whether frames must be in canonical spelling and a contract is negotiated.
func (d Dialect) Canonical() bool { return d.api == CanonicalAPI }

// Negotiates reports whether initialize carries a protocol offer of features.
func (d Dialect) Negotiates() bool { return !d.Canonical() && d.api != FrozenAPI }

// FrameBound is the largest payload the wire allows without negotiation.
func (d Dialect) FrameBound() int { return featurewire.MaxLineBytes }

// Object is a JSON object under construction.
type Object = map[string]any

// Encode writes a value in the canonical spelling, which is legal on both wires. It panics on a value
// that has none: the trees are built by the referee itself.
func Encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("dialect: value without a JSON form: %v", err))
	}
	out, err := canonical.Append(nil, text)
	if err != nil {
		panic(fmt.Sprintf("dialect: value without a canonical form: %v", err))
	}
	return out
}

// Encode is the package's Encode for what others have named: on the feature wires it also writes numbers that
// the canonical spelling does not have, such as 0.5 or an id of 20 digits, as they stand.
func (d Dialect) Encode(v any) []byte {
	if !d.Canonical() {
		if text, err := json.Marshal(v); err == nil {
			if out, err := spell(text); err == nil {
				return out
			}
		}
	}
	return Encode(v)
}

// Spellable reports whether a JSON text that a peer wrote can be written back on this wire.
func (d Dialect) Spellable(text string) bool {
	_, err := canonical.Append(nil, []byte(text))
	if err != nil && !d.Canonical() {
		_, err = spell([]byte(text))
	}
	return err == nil
}

// spell writes a text that nothing but its numbers keeps from a canonical spelling.
func spell(text []byte) ([]byte, error) {
	out, err := canonical.Append(nil, text)
	var fault *canonical.Error
	if !errors.As(err, &fault) || fault.Class != canonical.Number {
		return out, err
	}
	strict, err := wirejson.Parse(text, canonical.MaxDepth)
	if err != nil {
		return nil, err
	}
	strict.Release()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Request builds a request frame. The id is its spelling on the wire.
func (d Dialect) Request(id, method string, params any) []byte {
	return d.Encode(Object{"jsonrpc": RPCVersion, "id": json.RawMessage(id), "method": method, "params": params})
}

// Notification builds a notification frame.
func (d Dialect) Notification(method string, params any) []byte {
	return d.Encode(Object{"jsonrpc": RPCVersion, "method": method, "params": params})
}

// Result builds a response to a request of the extension.
func (d Dialect) Result(id string, result any) []byte {
	return d.Encode(Object{"jsonrpc": RPCVersion, "id": json.RawMessage(id), "result": result})
}

// Refuse builds the error response of a service that does not serve a method, its message begun by the word
// that the wire has for the reason.
func (d Dialect) Refuse(id, name, method string) []byte {
	row, _ := d.errorRow(name)
	message := row.Message
	if !d.Canonical() {
		for _, token := range featurewire.TableMessageTokens {
			if token.Error == name {
				message = token.Token + ": " + method
				break
			}
		}
	}
	return d.Encode(Object{"jsonrpc": RPCVersion, "id": json.RawMessage(id), "error": Object{"code": row.Code, "message": message}})
}

// Code returns the code of a named error of this wire.
func (d Dialect) Code(name string) (int64, error) {
	row, ok := d.errorRow(name)
	if !ok {
		return 0, fmt.Errorf("%q names no error of API %s", name, d.api)
	}
	return row.Code, nil
}

// ErrorName returns the name of a code, or the empty string.
func (d Dialect) ErrorName(code int64) string {
	for _, row := range d.errors() {
		if row.Code == code {
			return row.Name
		}
	}
	return ""
}

// Message returns the message that the error table has for a named error.
func (d Dialect) Message(name string) string {
	row, _ := d.errorRow(name)
	return row.Message
}

func (d Dialect) errorRow(name string) (wirejson.ErrorCode, bool) {
	for _, row := range d.errors() {
		if row.Name == name {
			return row, true
		}
	}
	return wirejson.ErrorCode{}, false
}

// Call builds the params of a tool call.
func (d Dialect) Call(tool string, arguments any) Object {
	return Object{"name": tool, "arguments": arguments, "context": d.Context()}
}

// Context builds the execution context of a call.
func (d Dialect) Context() Object {
	c := Object{"workspace": workspace, "execution_scope": nil, "host": hostState()}
	if d.Negotiates() {
		c["resource_owner"] = owner()
	}
	return c
}

// owner is the one owner that the referee gives to everything.
func owner() Object {
	return Object{"session_id": "conform-owner", "extension_instance_id": "conform-instance", "process_generation": 1}
}

// Intercept builds the params of a request that shows terminal input before it is used.
func (d Dialect) Intercept(data string) Object {
	return Object{"data": data, "resource_owner": owner()}
}

// Bare is an execution context that no session owns.
func (d Dialect) Bare() Object {
	return Object{"workspace": workspace, "execution_scope": nil, "host": Object{}}
}

// Cancel builds the params of a cancellation.
func (d Dialect) Cancel(id, reason string) Object {
	return Object{"id": json.RawMessage(id), "reason": reason}
}

const workspace = "/workspace"

func hostState() Object {
	return Object{"session_id": "conform", "session_name": nil, "model": nil, "reasoning": nil, "active_skills": []any{}}
}
