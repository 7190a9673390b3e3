package conformance

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
	"github.com/octet-dev/octet/spec"
)

// oup is what the spec says of OUP, with its names ready to be looked up.
type oup struct {
	*model.Wire
	models, methods, errors, kinds map[string]bool
}

func loadOUP(t *testing.T) oup {
	t.Helper()
	all, err := load.Load(spec.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, wire := range all.Wires {
		if wire.Name != "oup" {
			continue
		}
		o := oup{Wire: wire, models: map[string]bool{}, methods: map[string]bool{}, errors: map[string]bool{}, kinds: map[string]bool{}}
		for _, m := range wire.Models {
			o.models[m.Name] = true
		}
		for _, m := range wire.Methods {
			o.methods[m.Name] = true
		}
		for _, e := range wire.Errors {
			o.errors[e.Name] = true
		}
		for _, name := range []string{"error_kinds", "service_error_kinds"} {
			for _, row := range o.table(t, name).Rows {
				if o.kinds[row[0]] {
					t.Errorf("the kind %s stands twice", row[0])
				}
				o.kinds[row[0]] = true
			}
		}
		return o
	}
	t.Fatal("there is no wire oup")
	return oup{}
}

func (o oup) table(t *testing.T, name string) *model.Table {
	t.Helper()
	for _, table := range o.Tables {
		if table.Name == name {
			return table
		}
	}
	t.Fatalf("there is no table %s", name)
	return nil
}

func TestOUP_hasEveryRow(t *testing.T) {
	requests, notifications := 0, 0
	for _, m := range loadOUP(t).Methods {
		if m.Notification {
			notifications++
		} else {
			requests++
		}
	}
	if requests != 130 || notifications != 60 {
		t.Errorf("got %d requests and %d notifications, want 130 and 60", requests, notifications)
	}
}

// machinePrefix begins the name of every table that is a state machine.
const machinePrefix = "machine_"

// A dash is what is not there yet or no more, and any stands for every state.
func TestOUP_machinesReachEveryStateAndLeaveNoTerminalOne(t *testing.T) {
	o := loadOUP(t)
	terminal := map[string]bool{}
	for _, name := range []string{"terminal_states", "service_terminal_states"} {
		for _, row := range o.table(t, name).Rows {
			terminal[row[0]+" "+row[1]] = true
		}
	}
	machines := 0
	for _, table := range o.Tables {
		name, isMachine := strings.CutPrefix(table.Name, machinePrefix)
		if !isMachine {
			continue
		}
		machines++
		if got := strings.Join(table.Columns, " "); got != "state event next effect" {
			t.Errorf("%s has the columns %s", table.Name, got)
			continue
		}
		reached := map[string]bool{"-": true, "any": true}
		for _, row := range table.Rows {
			reached[row[2]] = true
		}
		for _, row := range table.Rows {
			if !reached[row[0]] {
				t.Errorf("%s: no row leads to %q", table.Name, row[0])
			}
			if terminal[name+" "+row[0]] && row[2] != row[0] {
				t.Errorf("%s: %q is terminal, and %q leads on to %q", table.Name, row[0], row[1], row[2])
			}
		}
		for state := range terminal {
			if of, what, _ := strings.Cut(state, " "); of == name && !reached[what] {
				t.Errorf("%s: no row leads to the terminal state %q", table.Name, what)
			}
		}
	}
	if machines < 12 {
		t.Errorf("saw %d state machines, want at least 12", machines)
	}
}

func TestOUP_tablesNameWhatThereIs(t *testing.T) {
	o := loadOUP(t)
	known := func(table, what string, names map[string]bool, column int) {
		for _, row := range o.table(t, table).Rows {
			if name := row[column]; name != "-" && !names[name] {
				t.Errorf("%s names %q, which is no %s", table, name, what)
			}
		}
	}
	for _, table := range []string{"method_errors", "service_method_errors", "method_reach", "service_method_reach", "service_repeats", "service_param_refusals"} {
		known(table, "method", o.methods, 0)
	}
	for _, table := range []string{"method_errors", "service_method_errors"} {
		known(table, "error", o.errors, 1)
		known(table, "kind", o.kinds, 2)
	}
	for _, table := range []string{"error_kinds", "service_error_kinds"} {
		known(table, "error", o.errors, 1)
		known(table, "model", o.models, 2)
	}
	known("service_param_refusals", "error", o.errors, 2)
	known("service_param_refusals", "kind", o.kinds, 3)
}

func TestOUP_everyRequestSaysWhatItReaches(t *testing.T) {
	o := loadOUP(t)
	said := map[string]bool{}
	for _, table := range []string{"method_reach", "service_method_reach"} {
		for _, row := range o.table(t, table).Rows {
			said[row[0]] = true
		}
	}
	for _, m := range o.Methods {
		if !m.Notification && m.Direction == "client_to_server" && !said[m.Name] {
			t.Errorf("no table of reach has %s", m.Name)
		}
	}
}
