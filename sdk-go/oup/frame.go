package oup

import (
	"strconv"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// text returns a fixed text of the protocol by its name in the table. It panics on a name that the table does not
// have: ask while the program starts.
func text(name string) string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == name {
			return row.Value
		}
	}
	panic("oup: the protocol has no text " + strconv.Quote(name))
}

var version = text("jsonrpc")

// message is what a server sent: the answer to a request, a fault that belongs to none, or a notification.
type message struct {
	id       string // of an answer; empty with stray for a fault about a frame that could not be read
	stray    bool
	asks     bool   // it is a request, which the protocol does not have
	method   string // of a notification, or of such a request
	params   []byte
	result   []byte
	fault    *oupwire.ErrorObject
	broken   error // why the fault is none; then nothing of it counts
	isAnswer bool
}

// readMessage judges a frame. A request of the server and an error that is none are no reason to trust nothing more:
// OUP-FRAME-038, OUP-FRAME-039. The error is a *ProtocolError. The message shares the bytes of the frame.
func readMessage(frame []byte) (message, error) {
	doc, err := wirejson.Parse(frame, oupwire.MaxDepth)
	if err != nil {
		return message{}, &ProtocolError{Detail: "a frame is no strict JSON", Err: err}
	}
	defer doc.Release()
	root := doc.Root()
	if root.Kind() != wirejson.KindObject || !root.Member("jsonrpc").TextEquals(version) {
		return message{}, &ProtocolError{Detail: "a frame is no object of JSON-RPC " + version}
	}
	var m message
	var id wirejson.Value
	members := 0
	for c := root.Members(); c.Next(); {
		switch string(c.Key()) {
		case "id":
			id = c.Value()
		case "method":
			members++
			m.method = c.Value().Text()
		case "params":
			m.params = c.Value().Source()
		case "result":
			members++
			m.isAnswer, m.result = true, c.Value().Source()
		case "error":
			members++
			m.isAnswer = true
			fault, err := oupwire.DecodeErrorObjectValue(c.Value())
			m.fault = &fault
			m.broken = err
		}
	}
	switch {
	case members != 1:
		return message{}, &ProtocolError{Detail: "a frame has not exactly one of method, result and error"}
	case !m.isAnswer && m.method == "":
		return message{}, &ProtocolError{Detail: "a notification has no method"}
	case !m.isAnswer:
		m.asks = id.Kind() != wirejson.KindInvalid
	case m.isAnswer && id.Kind() == wirejson.KindString:
		m.id = id.Text()
	case m.isAnswer && m.fault != nil && id.IsNull():
		m.stray = true
	case m.isAnswer:
		return message{}, &ProtocolError{Detail: "the id of an answer is no string"}
	}
	return m, nil
}

// requestFrame spells a request; an empty id makes a notification.
func requestFrame(id, method string, params []byte) []byte {
	frame := make([]byte, 0, len(params)+len(method)+64)
	frame = append(frame, '{')
	if id != "" {
		frame = append(wirejson.AppendString(append(frame, `"id":`...), id), ',')
	}
	frame = wirejson.AppendString(append(frame, `"jsonrpc":`...), version)
	frame = wirejson.AppendString(append(frame, `,"method":`...), method)
	return append(append(append(frame, `,"params":`...), params...), '}')
}
