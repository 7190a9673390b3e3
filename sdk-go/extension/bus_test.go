package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

const busTopic = "bus.other.news"

// rider is an extension with one tool that calls a service of the bus by name.
func rider() *extension.Extension {
	options := quietOptions(extension.API03)
	options.Uses = []string{canonicalwire.CapabilityEventBus}
	ext := extension.New(options)
	extension.AddTool(ext, "do", "Does it", func(ctx context.Context, call *extension.Call, in struct {
		Service string          `json:"service"`
		With    json.RawMessage `json:"with"`
	},
	) (*extension.Result, error) {
		result, err := call.Invoke(ctx, in.Service, in.With)
		switch {
		case errors.Is(err, extension.ErrNoParent):
			return extension.Text("NoParent"), nil
		case err != nil:
			return nil, err
		}
		return extension.Text(string(result)), nil
	})
	return ext
}

func bound(id string, revision int) canonicalwire.BusBindingNotice {
	return canonicalwire.BusBindingNotice{BindingID: id, BindingRevision: int64(revision)}
}

func available(binding string, revision int) canonicalwire.BusTopicAvailable {
	return canonicalwire.BusTopicAvailable{BindingID: binding, Topic: busTopic, TopicRevision: int64(revision), PublisherInstanceID: "i", ProcessGeneration: 1}
}

// TestBus_followsTheBinding holds conversations of notices and calls, and looks at what is sent.
func TestBus_followsTheBinding(t *testing.T) {
	pending := func(binding string, revision int) exttest.Service {
		return exttest.Answer(canonicalwire.BusSubscribePending{BindingID: binding, TopicRevision: int64(revision)})
	}
	type step struct {
		notice any    // sent by the host, or
		call   string // service, with its arguments behind a space
		says   string // what the tool answers, if that matters
	}
	subscribe := step{call: `bus.subscribe {"topic":"` + busTopic + `"}`}
	for name, c := range map[string]struct {
		answer exttest.Service
		steps  []step
		want   string
	}{
		"no binding yet":           {pending("b1", 0), []step{{call: subscribe.call, says: "NoParent"}}, ""},
		"the binding is filled in": {pending("b1", 0), []step{{notice: bound("b1", 1)}, subscribe}, "subscribe b1"},
		"a given one stands":       {pending("b1", 0), []step{{notice: bound("b1", 1)}, {call: `bus.subscribe {"binding_id":"b1","topic":"` + busTopic + `"}`}}, "subscribe b1"},
		"an old one is refused":    {pending("b1", 0), []step{{notice: bound("b1", 1)}, {call: `bus.subscribe {"binding_id":"b0","topic":"` + busTopic + `"}`, says: "NoParent"}}, ""},
		"renewed under the next":   {pending("b1", 0), []step{{notice: bound("b1", 1)}, subscribe, {notice: bound("b2", 2)}}, "subscribe b1\nsubscribe b2"},
		"an older one changes nothing": {
			pending("b1", 0),
			[]step{{notice: bound("b2", 2)}, {notice: bound("b1", 1)}, subscribe},
			"subscribe b2",
		},
		"renewed when available": {pending("b1", 3), []step{{notice: bound("b1", 1)}, subscribe, {notice: available("b1", 4)}}, "subscribe b1\nsubscribe b1"},
		"what the answer knew is no news": {
			pending("b1", 4),
			[]step{{notice: bound("b1", 1)}, subscribe, {notice: available("b1", 4)}, {notice: available("b0", 9)}},
			"subscribe b1",
		},
		"the answer of another binding": {
			pending("b0", 9),
			[]step{{notice: bound("b1", 1)}, subscribe, {notice: available("b1", 4)}},
			"subscribe b1\nsubscribe b1",
		},
		"not wanted any more": {
			pending("b1", 0),
			[]step{{notice: bound("b1", 1)}, subscribe, {call: `bus.unsubscribe {"topic":"` + busTopic + `"}`}, {notice: bound("b2", 2)}},
			"subscribe b1\nunsubscribe b1",
		},
		"refused, so not remembered": {
			exttest.Refuse(canonicalwire.CodeResourceExhausted, "no room"),
			[]step{{notice: bound("b1", 1)}, subscribe, {notice: bound("b2", 2)}},
			"subscribe b1",
		},
		"a notice that says nothing ends the bus": {
			pending("b1", 0),
			[]step{{notice: bound("b1", 1)}, subscribe, {notice: object{"kind": "weather"}}, {notice: bound("b2", 2)}, {call: subscribe.call, says: "NoParent"}},
			"subscribe b1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := exttest.StartWith(t, rider(), &exttest.Options{Services: map[string]exttest.Service{
					"bus.subscribe":   c.answer,
					"bus.unsubscribe": exttest.Answer(canonicalwire.BusAck{BindingID: "b1"}),
				}})
				for _, s := range c.steps {
					if s.notice != nil {
						host.Tell(canonicalwire.MethodBusLifecycle, s.notice)
						synctest.Wait()
						continue
					}
					service, with, _ := strings.Cut(s.call, " ")
					got := host.Call("do", object{"service": service, "with": json.RawMessage(with)})
					if s.says != "" && got.Text != s.says {
						t.Errorf("%s: %s", s.call, got.Text)
					}
				}
				var sent []string
				for _, m := range host.Sent() {
					p, err := canonicalwire.DecodeBusTopicParams(m.Params)
					if err != nil {
						t.Fatal(err)
					}
					sent = append(sent, fmt.Sprintf("%s %s", strings.TrimPrefix(m.Method, "bus/"), p.BindingID))
				}
				if got := strings.Join(sent, "\n"); got != c.want {
					t.Errorf("sent\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}
