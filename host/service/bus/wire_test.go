package bus

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

func join03(t *testing.T, b *Bus, s extensiontest.Setup) (*extensiontest.Rig, error) {
	t.Helper()
	if s.API == "" {
		s.API = canonicalwire.Version03
	}
	if b != nil {
		s.Options.Bindings = []extension.Binding{b.Binding()}
	}
	return extensiontest.TryStart(t, s)
}

// EXT03-BUS-010, EXT03-BUS-017
func TestBinding_publishesFromOneProcessToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, other := New(), New()
		defer b.Close()
		defer other.Close()
		one, err := join03(t, b, extensiontest.Setup{Name: "one"})
		if err != nil {
			t.Fatal(err)
		}
		two, err := join03(t, b, extensiontest.Setup{Name: "two"})
		if err != nil {
			t.Fatal(err)
		}
		apart, err := join03(t, other, extensiontest.Setup{Name: "apart"})
		if err != nil {
			t.Fatal(err)
		}
		for _, rig := range []*extensiontest.Rig{one, two} {
			told := rig.WaitTold(canonicalwire.MethodBusLifecycle, 1)
			if want := `{"binding_id":"` + b.binding + `","binding_revision":1,"kind":"binding"}`; string(told[0].Params) != want {
				t.Errorf("told %s, want %s", told[0].Params, want)
			}
		}
		if other.binding == b.binding {
			t.Error("two sessions have one bus")
		}
		two.Ask(subscribe, `{"binding_id":"`+b.binding+`","topic":"bus.one.a"}`).OK(t, "")
		one.Ask(declare, `{"binding_id":"`+b.binding+`","topic":"bus.one.a","fields":[]}`).OK(t, "")
		two.WaitTold(canonicalwire.MethodBusLifecycle, 2)
		two.Ask(subscribe, `{"binding_id":"`+b.binding+`","topic":"bus.one.a"}`).OK(t, fmt.Sprintf(
			`{"binding_id":"%s","process_generation":%d,"publisher_instance_id":"%s","state":"active","topic_revision":1}`, b.binding, one.X.Generation(), one.X.Instance()))
		apart.Ask(subscribe, `{"binding_id":"`+other.binding+`","topic":"bus.one.a"}`).OK(t, `{"binding_id":"`+other.binding+`","state":"pending","topic_revision":0}`)
		one.Ask(publish, `{"binding_id":"`+b.binding+`","topic":"bus.one.a","payload":{}}`).OK(t, "")
		var event canonicalwire.BusEventParams
		if err := json.Unmarshal(two.WaitTold(canonicalwire.MethodBusEvent, 1)[0].Params, &event); err != nil || event.Publisher != "one" || event.Sequence != 1 {
			t.Errorf("event %+v, %v", event, err)
		}
		one.Exit(1)
		one.X.Close() // as its supervisor does
		two.WaitTold(canonicalwire.MethodBusLifecycle, 3)
		if n := len(apart.Told(canonicalwire.MethodBusEvent)); n != 0 {
			t.Errorf("the bus of another session heard %d events", n)
		}
	})
}

// EXT03-BUS-011, EXT03-BUS-012, EXT04-BUS-002
func TestBinding_offers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		defer b.Close()
		for _, c := range []struct {
			bus   *Bus
			setup extensiontest.Setup
			want  bool
		}{
			{b, extensiontest.Setup{}, true},
			{nil, extensiontest.Setup{}, false},
			{b, extensiontest.Setup{Top: "[runtime]\nlifecycle = \"workspace_service\"\nsharing = \"workspace\""}, false},
			{b, extensiontest.Setup{API: featurewire.Version04}, false},
			{b, extensiontest.Setup{API: featurewire.Version02}, false},
		} {
			rig, err := join03(t, c.bus, c.setup)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(rig.Offer()), canonicalwire.CapabilityEventBus); got != c.want {
				t.Errorf("%+v: offered %v", c.setup, got)
			}
			if got := strings.Contains(string(rig.Offer()), canonicalwire.MethodBusDeclare); got != c.want {
				t.Errorf("%+v: methods offered %v", c.setup, got)
			}
			if c.want {
				continue
			}
			for _, method := range []string{declare, subscribe, leave, publish} {
				rig.Ask(method, `{"binding_id":"`+b.binding+`","topic":"bus.demo.a"}`).Refused(t, canonicalwire.CodeUnknownMethod, "")
			}
			synctest.Wait()
			if n := len(rig.Told(canonicalwire.MethodBusLifecycle)); n != 0 {
				t.Errorf("%+v: told %d notices", c.setup, n)
			}
		}
		if n := len(b.members); n != 1 {
			t.Errorf("%d processes are on the bus", n)
		}
	})
}

// EXT03-BUS-018, EXT03-BUS-019: who cannot join is ended.
func TestBinding_endsWhoCannotJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		defer b.Close()
		deaf := extensiontest.Setup{Select: func(name string) bool { return name != canonicalwire.MethodBusLifecycle }}
		if _, err := join03(t, b, deaf); err == nil {
			t.Error("started without notices of the bus")
		}
		for n := range canonicalwire.MaxBusPeers {
			join(t, b, fmt.Sprint("p", n))
		}
		rig, err := join03(t, b, extensiontest.Setup{})
		if err != nil {
			t.Fatal(err)
		}
		<-rig.X.Done()
		synctest.Wait()
		if !rig.Diagnosed("event bus: " + ErrFull.Error()) {
			t.Errorf("diagnosed %q", rig.Diagnostics())
		}
	})
}

// EXT03-BUS-022
func TestBinding_draining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		defer b.Close()
		rig, err := join03(t, b, extensiontest.Setup{})
		if err != nil {
			t.Fatal(err)
		}
		rig.Serve(canonicalwire.MethodToolCall, func(int64, json.RawMessage) (any, error) {
			go rig.X.Close()
			synctest.Wait()
			rig.Ask(subscribe, `{"binding_id":"`+b.binding+`","topic":"bus.demo.a"}`).Refused(t, canonicalwire.CodeCapabilityMismatch, "")
			return rig.ToolText("done"), nil
		})
		if _, err := rig.X.Call(t.Context(), extension.Request{Tool: "work"}); err != nil {
			t.Error(err)
		}
		<-rig.X.Done()
		synctest.Wait()
		if len(b.members) != 0 {
			t.Error("it is on the bus still")
		}
	})
}
