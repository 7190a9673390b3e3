package conformance

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/testdata/server/want/generated/quaywire"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// line is a Caller that keeps what it was given and answers with one result.
type line struct {
	sent   []string
	result string
	err    error
}

func (l *line) Call(_ context.Context, method string, params []byte, accept func(result []byte) error) error {
	l.sent = append(l.sent, method+" "+string(params))
	if l.err != nil {
		return l.err
	}
	return accept([]byte(l.result))
}

func (l *line) Tell(_ context.Context, method string, params []byte) error {
	l.sent = append(l.sent, method+"! "+string(params))
	return l.err
}

func TestCalls_sendAndRead(t *testing.T) {
	l := &line{result: `{"berth":{"name":"b"},"depth":null,"tide":1}`}
	calls := quaywire.NewCalls(l)
	opened, err := calls.BerthOpen(t.Context(), quaywire.OpenParams{Berth: quaywire.Berth{Name: "b"}})
	if err != nil || opened.Berth.Name != "b" || !opened.Depth.IsNull() || len(opened.Unknown) != 1 {
		t.Errorf("opened %+v, %v", opened, err)
	}
	if err := calls.ShipWave(t.Context(), quaywire.Berth{Name: "c"}); err != nil {
		t.Error(err)
	}
	want := []string{`berth/open {"berth":{"name":"b"}}`, `ship/wave! {"name":"c"}`}
	if !reflect.DeepEqual(l.sent, want) {
		t.Errorf("sent %q, want %q", l.sent, want)
	}
}

func TestCalls_refuse(t *testing.T) {
	var broken *wirejson.Violation
	l := &line{result: `{"berth":{}}`}
	calls := quaywire.NewCalls(l)
	long := quaywire.Berth{Name: strings.Repeat("b", 1000)}
	if _, err := calls.BerthOpen(t.Context(), quaywire.OpenParams{Berth: long}); !errors.As(err, &broken) || broken.Pointer != "/berth/name" {
		t.Errorf("params that break their model: %v", err)
	}
	if err := calls.ShipWave(t.Context(), long); !errors.As(err, &broken) || broken.Pointer != "/name" {
		t.Errorf("a notification that breaks its model: %v", err)
	}
	if len(l.sent) != 0 {
		t.Errorf("sent all the same: %q", l.sent)
	}
	if _, err := calls.BerthOpen(t.Context(), quaywire.OpenParams{}); !errors.As(err, &broken) || broken.Pointer != "/berth/name" {
		t.Errorf("a result that breaks its model: %v", err)
	}
	l.err = errors.New("no line")
	if _, err := calls.BerthListGet(t.Context(), quaywire.Nothing{}); !errors.Is(err, l.err) {
		t.Errorf("a caller that fails: %v", err)
	}
}

func TestDecodeNotification(t *testing.T) {
	told, err := quaywire.DecodeNotification(quaywire.MethodBerthOpen, []byte(`{"berth":{"name":"b"}}`))
	if opened, ok := told.(quaywire.Opened); err != nil || !ok || opened.Berth.Name != "b" {
		t.Errorf("the notification of two methods with one name: %#v, %v", told, err)
	}
	var broken *wirejson.Violation
	if told, err := quaywire.DecodeNotification(quaywire.MethodShipSeen, []byte(`{}`)); told != nil || !errors.As(err, &broken) || broken.Pointer != "/name" {
		t.Errorf("%#v, %v", told, err)
	}
	for _, method := range []string{"", "ship/sunk", quaywire.MethodShipWave} {
		if told, err := quaywire.DecodeNotification(method, []byte(`{`)); told != nil || err != nil {
			t.Errorf("%q: %#v, %v", method, told, err)
		}
	}
}

// TestCalls_haveEveryRow holds that every row of OUP that a client sends is a call that takes and gives the
// models of the row, and that every row that a server tells is read as its model.
func TestCalls_haveEveryRow(t *testing.T) {
	calls, rows, told := reflect.TypeFor[oupwire.Calls](), 0, 0
	for _, row := range oupwire.Methods {
		shape := row.Shapes[0]
		if row.Direction == wirejson.ServerToClient {
			told++
			_, err := oupwire.DecodeNotification(row.Name, []byte("[]"))
			var broken *wirejson.Violation
			if !errors.As(err, &broken) || broken.Kind != wirejson.NotObject {
				t.Errorf("%s: %v, want a violation", row.Name, err)
			}
			continue
		}
		rows++
		found := false
		for i := range calls.NumMethod() {
			in, out := calls.Method(i).Type.In(2).Name(), calls.Method(i).Type.Out(0).Name()
			found = found || in == shape.Params && (out == shape.Result || row.Notification && out == "error")
		}
		if !found {
			t.Errorf("no call takes %s and gives %q, as %s does", shape.Params, shape.Result, row.Name)
		}
	}
	if calls.NumMethod() != rows || rows < 100 || told < 50 {
		t.Errorf("%d calls for %d rows, %d notifications", calls.NumMethod(), rows, told)
	}
}
