package envelope

import (
	"bytes"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/runtime/canonical"
)

// errorRows maps the codes of the canonical wire to their rows, with the message as JSON.
var errorRows = func() map[int64][]byte {
	rows := make(map[int64][]byte, len(canonicalwire.Errors))
	for _, row := range canonicalwire.Errors {
		rows[row.Code] = canonical.AppendString(nil, row.Message)
	}
	return rows
}()

const (
	errorCode = iota
	errorData
	errorMessage
	errorCount
)

var errorNames = []string{"code", "data", "message"}

// error reads the error object, whose JSON is sound.
func (p *parts) error() {
	s := scanner{b: p.spans[memberError], names: errorNames}
	if s.scan() != nil || !s.object || p.closed && s.others > 0 {
		p.fault(BadError)
		return
	}
	var spans [errorCount][]byte
	for _, v := range s.found[:s.n] {
		if spans[v.name] != nil {
			p.fault(BadError)
		}
		spans[v.name] = v.of(s.b)
	}
	code, err := strconv.ParseInt(string(spans[errorCode]), 10, 64)
	if message := spans[errorMessage]; err != nil || message == nil || message[0] != '"' {
		p.fault(BadError)
	}
	p.e.Code, p.e.Message, p.e.Data = code, spans[errorMessage], spans[errorData]
	if p.first != 0 || !p.closed {
		return
	}
	switch message, ok := errorRows[code]; {
	case !ok:
		p.fault(BadCode)
	case !bytes.Equal(message, p.e.Message):
		p.fault(BadMessage)
	}
}
