// Package rpc is the JSON-RPC of an OUP server: what a frame says, which handler carries it out, and how the
// answer looks.
package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/protocol"
)

// Message is what a client sent: a request or a notification.
type Message struct {
	ID           string // of a request, as it came
	Notification bool
	Method       string
	Params       []byte // their JSON as it came; null for a notification without
}

var version = protocol.Text("jsonrpc")

// maxIDBytes bounds an id as it is spelled, so that an answer finds room beside it: written with escapes it has up
// to six times as many.
const maxIDBytes = oupwire.MaxTextFrameBytes / 8

// Read judges a frame. The steps and their order are those of OUP-FRAME-018; the first that fails gives the error,
// which is answered with a null id.
func Read(frame []byte) (Message, *Error) {
	switch {
	case len(frame) > oupwire.MaxTextFrameBytes:
		return Message{}, tooLarge(oupwire.MaxTextFrameBytes)
	case len(bytes.Trim(frame, " \t\r\n")) == 0:
		return Message{}, unreadable("the frame is blank; send one JSON object")
	case bytes.ContainsAny(frame, "\r\n"):
		return Message{}, unreadable("the frame holds a literal line break; escape it")
	}
	document, err := wirejson.Parse(frame, oupwire.MaxDepth)
	if err != nil {
		return Message{}, unreadable(err.Error())
	}
	defer document.Release()
	root := document.Root()
	if root.Kind() != wirejson.KindObject {
		return Message{}, unreadable("the frame is of the kind " + root.Kind().String() + "; send one JSON object")
	}
	if v := root.Member("jsonrpc"); v.Kind() != wirejson.KindString || !v.TextEquals(version) {
		return Message{}, Fail(oupwire.ErrInvalidRequest, "the frame lacks jsonrpc "+version)
	}
	return message(root)
}

// message reads the members of an object that is JSON-RPC of the right version.
func message(root wirejson.Value) (Message, *Error) {
	has := func(name string) bool { return root.Member(name).Kind() != wirejson.KindInvalid }
	kinds := slices.DeleteFunc([]string{"method", "result", "error"}, func(name string) bool { return !has(name) })
	if len(kinds) != 1 || kinds[0] != "method" {
		return Message{}, unreadable("the frame is neither a request nor a notification; give it a method, and no result or error")
	}
	m := Message{Notification: !has("id"), Params: []byte("null")}
	if !m.Notification {
		id := root.Member("id")
		if id.Kind() != wirejson.KindString {
			return Message{}, unreadable("the id is of the kind " + id.Kind().String() + "; send a string")
		}
		if n := len(id.Source()); n > maxIDBytes {
			return Message{}, unreadable(fmt.Sprintf("the id has %d bytes, which leaves no room for an answer; send at most %d", n, maxIDBytes))
		}
		m.ID = id.Text()
	}
	method := root.Member("method")
	if method.Kind() != wirejson.KindString || method.TextEquals("") {
		return Message{}, unreadable("the method is no name; send a string")
	}
	m.Method = method.Text()
	switch {
	case has("params"):
		m.Params = bytes.Clone(root.Member("params").Source())
	case !m.Notification:
		return Message{}, unreadable("the request lacks params; send {} where there is nothing to say")
	}
	return m, nil
}

// Error is a refusal or a failure, as the client gets it.
type Error struct {
	Code    wirejson.ErrorCode // row of the error table
	Message string             // for people; no secret
	Data    wirejson.Encoder   // the detail, or nil
}

// Fail returns an error without detail.
func Fail(code wirejson.ErrorCode, message string) *Error {
	return &Error{Code: code, Message: message}
}

// Error gives the name of the error and its text.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code.Name, e.Message) }

func unreadable(message string) *Error { return Fail(oupwire.ErrParseError, message) }

func tooLarge(limit int) *Error {
	return &Error{
		Code: oupwire.ErrFrameTooLarge, Message: fmt.Sprintf("the frame exceeds %d bytes; split the content", limit),
		Data: oupwire.FrameTooLargeErrorData{LimitBytes: int64(limit)},
	}
}

// badParams locates what is wrong with the params of a method: the detail has method, pointer and violation, and the
// kind that some members have for it.
func badParams(method string, v *wirejson.Violation) *Error {
	code, kind := oupwire.ErrInvalidParams, ""
	for _, row := range oupwire.TableServiceParamRefusals {
		if row.Method == method && matches(row.Pointer, v.Pointer) {
			kind = row.Kind
			for _, e := range oupwire.Errors {
				if e.Name == row.Error {
					code = e
				}
			}
		}
	}
	detail := []byte{'{'}
	if kind != "" {
		detail = append(wirejson.AppendString(append(detail, `"kind":`...), kind), ',')
	}
	detail = wirejson.AppendString(append(detail, `"method":`...), method)
	detail = wirejson.AppendString(append(detail, `,"pointer":`...), v.Pointer)
	if kind == kindProbePath {
		detail = append(detail, `,"reason":"empty"`...)
	}
	detail = wirejson.AppendString(append(detail, `,"violation":`...), string(v.Kind))
	return &Error{
		Code: code, Message: fmt.Sprintf("%s: params at %q: %s", method, v.Pointer, v.Detail),
		Data: wirejson.Raw(append(detail, '}')),
	}
}

// kindProbePath is the kind of the one member whose detail says in a word what is wrong: it is blank.
var kindProbePath = func() string {
	for _, row := range oupwire.TableServiceErrorKinds {
		if row.Data == "WorkspaceProbeInvalidPathErrorData" {
			return row.Kind
		}
	}
	panic("oup rpc: the table has no kind for a blank path")
}()

// matches compares a pointer with a pattern in which a star is any index.
func matches(pattern, pointer string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(pointer, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		return w == g || w == "*"
	})
}

// success and failure spell the two kinds of answers.
func success(id string, result wirejson.Encoder) []byte {
	text := []byte("{}")
	if result != nil {
		text = result.AppendJSON(nil)
	}
	frame := wirejson.AppendString([]byte(`{"id":`), id)
	frame = wirejson.AppendString(append(frame, `,"jsonrpc":`...), version)
	return append(append(append(frame, `,"result":`...), text...), '}')
}

func failure(id *string, e *Error) []byte {
	var detail json.RawMessage
	if e.Data != nil {
		detail = e.Data.AppendJSON(nil)
	}
	frame := spellFailure(id, e.Code.Code, e.Message, detail)
	if len(frame) > oupwire.MaxTextFrameBytes { // what the client sent is in it
		frame = spellFailure(id, e.Code.Code, shorten(e.Message), shortenAll(detail))
	}
	return frame
}

func spellFailure(id *string, code int64, message string, detail json.RawMessage) []byte {
	answer := oupwire.JsonRpcErrorResponse{ID: wirejson.Null[string](), Error: oupwire.ErrorObject{Code: code, Message: message}}
	if id != nil {
		answer.ID = wirejson.Some(*id)
	}
	if detail != nil {
		answer.Error.Data = wirejson.Some(detail)
	}
	return answer.AppendJSON(nil)
}

func notification(method string, params wirejson.Encoder) []byte {
	frame := wirejson.AppendString([]byte(`{"jsonrpc":`), version)
	frame = wirejson.AppendString(append(frame, `,"method":`...), method)
	return append(params.AppendJSON(append(frame, `,"params":`...)), '}')
}
