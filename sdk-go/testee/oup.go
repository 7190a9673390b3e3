package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// judgeLine reads the first line of the bytes as a server reads standard input: a faulty line is refused and
// the next one read, so nothing ends the stream.
func judgeLine(data []byte, bound int) answer {
	if bound == 0 {
		bound = oupwire.MaxTextFrameBytes
	}
	if len(data) == 0 {
		return answer{Verdict: accept} // the ordinary end
	}
	line, _, ended := bytes.Cut(data, []byte("\n"))
	if ended {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	if len(line) > bound || len(bytes.Trim(line, " \t\r")) == 0 || bytes.ContainsRune(line, '\r') || !utf8.Valid(line) {
		return answer{Verdict: reject}
	}
	document, err := wirejson.Parse(line, oupwire.MaxDepth)
	if err != nil {
		return answer{Verdict: reject}
	}
	defer document.Release()
	if document.Root().Kind() != wirejson.KindObject {
		return answer{Verdict: reject}
	}
	return answer{Verdict: accept}
}

// judgeMessage tells what kind of message a text is.
func judgeMessage(text []byte) answer {
	const invalid = "invalid"
	document, err := wirejson.Parse(text, oupwire.MaxDepth)
	if err != nil {
		return answer{Verdict: invalid}
	}
	defer document.Release()
	root := document.Root()
	has := func(name string) bool { return root.Member(name).Kind() != wirejson.KindInvalid }
	kinds := slices.DeleteFunc([]string{"method", "result", "error"}, func(name string) bool { return !has(name) })
	if len(kinds) != 1 {
		return answer{Verdict: invalid}
	}
	kind, model := kinds[0], ""
	switch {
	case kind == "method" && has("id"):
		kind, model = "request", "JsonRpcRequest"
	case kind == "method":
		kind, model = "notification", "JsonRpcNotification"
	case kind == "result":
		model = "JsonRpcSuccessResponse"
	default:
		model = "JsonRpcErrorResponse"
	}
	if _, err := oupwire.DecodeAny(model, text); err != nil {
		return answer{Verdict: invalid}
	}
	return answer{Verdict: kind}
}

// wanted is what a client asks of a server.
type wanted struct {
	Requested []string `json:"requested"` // features it named; none where it named none
	Required  []string `json:"required"`  // features it cannot do without
}

// protocolIdentifier returns the identifier of the protocol.
func protocolIdentifier() string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == "identifier" {
			return row.Value
		}
	}
	return ""
}

// judgeCapabilities holds what a server says it can do against what a client asks of it.
func judgeCapabilities(offer, selection []byte) answer {
	var want *wanted
	if err := json.Unmarshal(offer, &want); err != nil || want == nil {
		return answer{Verdict: unsupported}
	}
	refuse := func(name string) answer { return answer{Verdict: reject, Error: name} }
	capabilities, err := oupwire.DecodeServerCapabilities(selection)
	if err != nil {
		return refuse("malformed_result")
	}
	if v := capabilities.Version; v.Protocol != protocolIdentifier() || v.SchemaVersion < oupwire.SchemaVersion {
		return refuse("incompatible_protocol")
	}
	supported, _ := capabilities.SupportedFeatures.Get()
	lacking := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(supported, name) })
	}
	if lacking(want.Required) {
		return refuse("missing_features")
	}
	for _, name := range supported {
		row := oupwire.LookupFeature(name)
		if row != nil && row.Origin == "registry" && len(want.Requested) > 0 && !slices.Contains(want.Requested, name) {
			return refuse("unrequested_feature")
		}
	}
	for _, name := range supported {
		if row := oupwire.LookupFeature(name); row != nil && lacking(row.DependsOn) {
			return refuse("unmet_dependency")
		}
	}
	return answer{Verdict: accept}
}
