package extension_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// guard notes what it is told.
type guard struct {
	name  string
	log   *[]string
	check error
}

func (g guard) Check(result *extension.ToolResult) error {
	*g.log = append(*g.log, g.name+" checks "+strings.TrimSpace(result.Text()))
	return g.check
}

func (g guard) Settle(admitted bool) {
	*g.log = append(*g.log, fmt.Sprint(g.name, " settles ", admitted))
}

func TestCall_isGuarded(t *testing.T) {
	refusal := errors.New("not this one")
	for name, c := range map[string]struct {
		first, second error // of Dispatch
		check         error // of the second guard
		answer        error // of the extension
		want          []string
		kind          extension.Kind
	}{
		"admitted":            {want: []string{"a checks x", "b checks x", "a settles true", "b settles true"}},
		"refused by a guard":  {check: refusal, want: []string{"a checks x", "b checks x", "a settles false", "b settles false"}, kind: extension.Result},
		"refused by the tool": {answer: &extensiontest.RefuseError{Code: -32000, Message: "no"}, want: []string{"a settles false", "b settles false"}, kind: extension.Refused},
		"not sent":            {second: refusal, want: []string{"a settles false"}, kind: extension.Unsent},
		"not sent at all":     {first: refusal, want: nil, kind: extension.Unsent},
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			bind := func(name string, refuse, check error) extension.Binding {
				return extension.Binding{Dispatch: func(d extension.Dispatch) (extension.Guard, error) {
					if d.Tool.Name != "work" || string(d.Arguments) != `{"a":1}` || d.Call.Scope.Owner != "s" {
						t.Errorf("dispatched %+v", d)
					}
					return guard{name, &log, check}, refuse
				}}
			}
			silent := extension.Binding{Dispatch: func(extension.Dispatch) (extension.Guard, error) { return nil, nil }}
			rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{
				Bindings: []extension.Binding{bind("a", c.first, nil), silent, bind("b", c.second, c.check)},
			}})
			rig.Serve(featurewire.MethodToolCall, func(int64, json.RawMessage) (any, error) { return rig.ToolText("x"), c.answer })
			_, err := rig.X.Call(t.Context(), extension.Request{Tool: "work", Arguments: []byte(`{"a":1}`), Scope: extension.Scope{Owner: "s"}})
			var failure *extension.Failure
			if errors.As(err, &failure) != (c.kind != 0) || failure != nil && failure.Kind != c.kind {
				t.Errorf("got %v", err)
			}
			if !slices.Equal(log, c.want) {
				t.Errorf("told %q, want %q", log, c.want)
			}
		})
	}
}
