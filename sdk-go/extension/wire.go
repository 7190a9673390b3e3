package extension

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension/internal/toolschema"
)

// API is a version of the extension API. It selects the wire; the manifest names the same one.
type API string

// The versions. API04 is the current one.
const (
	API01 = API(featurewire.Version01)
	API02 = API(featurewire.Version02)
	API03 = API(canonicalwire.Version03)
	API04 = API(featurewire.Version04)
)

// outputRules is what an output schema may contain. Both wires carry schemas; only the feature wire has
// rules for them, and a tool should not change when its author changes the API.
var outputRules = toolschema.OutputRules{
	Keywords:    featurewire.TableOutputSchemaKeywords,
	MaxDepth:    featurewire.MaxOutputSchemaDepth,
	MaxKeyBytes: featurewire.MaxOutputSchemaKeyBytes,
}

// dialect is everything in which the wires differ for an extension. What its methods cannot take they return
// as an error: a *refusal, or the *wirejson.Violation or *wirejson.SyntaxError of parameters that break their
// model, for which the peer knows the answer.
type dialect interface {
	// maxDepth is the level of the deepest value of a frame.
	maxDepth() int
	// checkTool says why a tool cannot be in a catalog of this wire.
	checkTool(*Tool) error
	// initialize answers the first request of a session with what was agreed.
	initialize(params json.RawMessage, e *Extension, p *plan) (wirejson.Encoder, *session, error)
	// shutdown checks the parameters of shutdown and returns its answer.
	shutdown(params json.RawMessage) (wirejson.Encoder, error)
	// toolCall reads the parameters of a tool call.
	toolCall(params wirejson.Value, s *session) (toolCall, error)
	// result puts the outcome of a tool that has an output schema or not into the result model, or says which
	// bound of the wire it breaks.
	result(o outcome, s *session) (wirejson.Encoder, error)
	invalidParams(kind wirejson.ViolationKind, pointer, detail string) *refusal
	unknownTool(name string) *refusal
}

func dialectOf(api API) (dialect, error) {
	switch api {
	case API01, API02, API04:
		return featureDialect{api}, nil
	case API03:
		return canonicalDialect{}, nil
	default:
		return nil, fmt.Errorf("API version %q is none of %q, %q, %q and %q", api, API01, API02, API03, API04)
	}
}

// session is what initialize has agreed. It never changes.
type session struct {
	workspace     string
	flags         Flags
	context       Context         // of the host, without a request
	features      []string        // ascending; capabilities on the canonical wire
	open          map[string]bool // methods of the canonical wire
	progress      bool            // $/progress is open
	notifications bool            // notification is open
	hooksMissing  bool            // the manifest declares session hooks and the host does not offer them
	declared      declaration
	install       peer.Session
}

// has reports whether a feature or capability was negotiated.
func (s *session) has(name string) bool {
	_, found := slices.BinarySearch(s.features, name)
	return found
}

// opens reports whether a method of the canonical wire was selected.
func (s *session) opens(method string) bool { return s.open[method] }

// toolCall is the parameters of one call.
type toolCall struct {
	name     string
	context  Context
	revision int64
	pinned   bool // revision says which catalog
}

// refusal is an error answer.
type refusal struct {
	row     wirejson.ErrorCode
	message string         // instead of that of the row, where the wire does not fix it
	data    map[string]any // nil for none
}

// Error returns the message and the data.
func (r *refusal) Error() string {
	message := r.message
	if message == "" {
		message = r.row.Message
	}
	if r.data == nil {
		return message
	}
	return fmt.Sprintf("%s %v", message, r.data)
}

// located is the data of a refusal that is about one place in the parameters. It has the members that the peer
// gives a violation of the wire's models.
func located(kind wirejson.ViolationKind, pointer, detail string) map[string]any {
	return map[string]any{"detail": detail, "pointer": pointer, "violation": string(kind)}
}

// argumentsMember is where both wires have the arguments of a call.
const argumentsMember = "arguments"

// contextMember is where the feature wire has the context of a call.
const contextMember = "context"

// flagsOf reads flag values; raw holds each value as JSON.
func flagsOf[T any](values []T, read func(T) (name string, raw json.RawMessage)) Flags {
	flags := make(Flags, len(values))
	for _, value := range values {
		name, raw := read(value)
		document, err := wirejson.Parse(raw, wirejson.DefaultMaxDepth)
		if err != nil {
			continue // raw members of a decoded model are JSON
		}
		switch root := document.Root(); root.Kind() {
		case wirejson.KindBool:
			flags[name] = root.Bool()
		case wirejson.KindString:
			flags[name] = root.Text()
		case wirejson.KindNumber:
			flags[name] = root.Int()
		}
		document.Release()
	}
	return flags
}

// versionOf returns the API version that initialize asks for, whatever else is in its parameters.
func versionOf(params json.RawMessage) (version string, isText bool) {
	document, err := wirejson.Parse(params, wirejson.DefaultMaxDepth)
	if err != nil {
		return "", false
	}
	defer document.Release()
	member := document.Root().Member("api_version")
	return member.Text(), member.Kind() == wirejson.KindString
}
