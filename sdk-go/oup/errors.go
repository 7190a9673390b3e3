package oup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// ErrUnsupported is what a ServerError is for a method that the server does not have or did not offer.
var ErrUnsupported = errors.New("the server does not support the method")

// ErrClosed is the error of everything that waits when Close is called, and of what is asked of a closed client.
var ErrClosed = errors.New("the OUP client is closed")

// ServerError is how a server refused a request.
type ServerError struct {
	Method  string // that was refused
	Code    int64
	Name    string // row of the error table; empty for a code outside it
	Kind    string // data.kind; empty for none
	Message string // for people
	// Data is the detail as it came, nil for none. Detail is the same by the model of its kind, nil where the
	// protocol has none or the data breaks it.
	Data   json.RawMessage
	Detail wirejson.Encoder
}

// Error names the method, the error and what the server says.
func (e *ServerError) Error() string {
	name := e.Name
	if name == "" {
		name = strconv.FormatInt(e.Code, 10)
	}
	if e.Kind != "" && e.Kind != name {
		name += ", " + e.Kind
	}
	return fmt.Sprintf("%s: %s (%s)", e.Method, e.Message, name)
}

// Is reports whether the target is ErrUnsupported and the method is outside of what the server offers.
func (e *ServerError) Is(target error) bool {
	return target == ErrUnsupported && (e.Code == oupwire.CodeMethodNotFound || e.Code == oupwire.CodeMethodNotSupported)
}

// Disconnected says that the connection ended while a request waited for its answer: nobody knows whether the server
// has carried it out.
type Disconnected struct {
	Method string
	Err    error // why the connection ended
}

// Error names the request whose outcome is unknown.
func (e *Disconnected) Error() string {
	return fmt.Sprintf("%s: the connection ended before the answer, the outcome is unknown: %v", e.Method, e.Err)
}

// Unwrap returns why the connection ended.
func (e *Disconnected) Unwrap() error { return e.Err }

// AuthError says that the server does not let the client in, so that trying again is of no use.
type AuthError struct {
	Status int    // of HTTP, 401 or 403; or the code that closed the WebSocket
	Reason string // what came with it
}

// Error gives the status and the reason.
func (e *AuthError) Error() string {
	return fmt.Sprintf("the server does not let the client in: %d %s; check the token and the origin", e.Status, e.Reason)
}

// ProtocolError says that the server sent what the protocol does not allow.
type ProtocolError struct {
	Method string // of the answer or the notification, where it has one
	Detail string
	Err    error // what is wrong with it, where there is more to say
}

// Error says what was sent.
func (e *ProtocolError) Error() string {
	text := "the server breaks the protocol: " + e.Detail
	if e.Method != "" {
		text = e.Method + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what is wrong.
func (e *ProtocolError) Unwrap() error { return e.Err }

// kind returns the kind of a server's refusal, or "".
func kind(err error) string {
	var refused *ServerError
	if errors.As(err, &refused) {
		return refused.Kind
	}
	return ""
}

// refusal makes the error of an answer.
func refusal(method string, fault oupwire.ErrorObject) *ServerError {
	e := &ServerError{Method: method, Code: fault.Code, Message: fault.Message, Data: fault.Data.Or(nil)}
	if row, known := oupwire.ErrorByCode(fault.Code); known {
		e.Name = row.Name
	}
	doc, err := wirejson.Parse(e.Data, oupwire.MaxDepth)
	if err != nil {
		return e
	}
	defer doc.Release()
	if v := doc.Root(); v.Kind() == wirejson.KindObject && v.Member("kind").Kind() == wirejson.KindString {
		e.Kind = v.Member("kind").Text()
	}
	if model := kindModel(e.Kind); model != "" {
		if detail, err := oupwire.DecodeAny(model, e.Data); err == nil {
			e.Detail = detail
		}
	}
	return e
}

// kindModel returns the model of a kind of detail, or "".
func kindModel(kind string) string {
	for _, row := range oupwire.TableErrorKinds {
		if row.Kind == kind {
			return row.Data
		}
	}
	for _, row := range oupwire.TableServiceErrorKinds {
		if row.Kind == kind {
			return row.Data
		}
	}
	return ""
}

// unsupported returns the refusal in a result that says nothing but that the method is not supported, or nil.
func unsupported(method string, result []byte) error {
	doc, err := wirejson.Parse(result, oupwire.MaxDepth)
	if err != nil {
		return nil // whoever reads the result says what is wrong with it
	}
	defer doc.Release()
	root := doc.Root()
	if root.Kind() != wirejson.KindObject || root.Len() != 1 || root.Member("unsupported").Kind() != wirejson.KindObject {
		return nil
	}
	row := oupwire.ErrMethodNotSupported
	e := &ServerError{Method: method, Code: row.Code, Name: row.Name, Message: row.Message, Data: root.Member("unsupported").Raw()}
	if reason := root.Member("unsupported").Member("reason"); reason.Kind() == wirejson.KindString {
		e.Message = reason.Text()
	}
	return e
}
