package load

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/model"
)

func TestLoad_readsWiresBetweenClientAndServer(t *testing.T) {
	w := load(t, tree(t, "server")).Wires[0]
	if w.Family != model.ServerFamily || len(w.Files.Models) != 2 || w.Files.Models.String() != "quay/models.json, quay/more-models.json" {
		t.Errorf("family %q, models in %q", w.Family, w.Files.Models)
	}
	if len(w.Methods) != 7 || len(w.Limits) != 2 || len(w.Tables) != 2 {
		t.Fatalf("%d methods, %d limits, %d tables: the files of a part are not read as one", len(w.Methods), len(w.Limits), len(w.Tables))
	}
	if list := find(t, w, "ListResult"); list.File != "quay/more-models.json" || list.Fields[0].Type.Elem.Ref != find(t, w, "Berth") {
		t.Errorf("ListResult: %+v", list)
	}
	asked, told := w.Methods[0], w.Methods[1]
	if asked.Name != told.Name || asked.Notification || !told.Notification || told.At != (model.Place{File: "quay/openrpc.json", Pointer: "/methods/1"}) {
		t.Errorf("one name both ways: %+v, %+v", asked, told)
	}
	strict := w.Methods[5]
	if gates := strict.Gates(); len(gates) != 2 || gates[1] != "quay.list.v1" || strict.GateMode != model.StrictGate || strict.At.Pointer != "/methods/1" {
		t.Errorf("the strict method: %+v", strict)
	}
	if m := w.Methods[2]; m.Lane != "legacy" || len(m.Transports) != 0 || m.Durable != "no" || !m.Inferred || !strings.HasSuffix(m.Doc, inferredMark) {
		t.Errorf("ship/seen: %+v", m)
	}
	opened := find(t, w, "Opened")
	if !opened.Inferred || opened.Fields[0].Inferred || !opened.Fields[1].Inferred || !strings.HasSuffix(opened.Fields[1].Doc, inferredMark) {
		t.Errorf("what is inferred is not marked: %+v", opened)
	}
	if f := w.Features[0]; f.Origin != "registry" || len(f.Sets) != 2 {
		t.Errorf("feature: %+v", f)
	}
}

func TestLoad_refusesBrokenWiresBetweenClientAndServer(t *testing.T) {
	const (
		quay = "quay/openrpc.json"
		more = "quay/more-openrpc.json"
	)
	check(t, "server", []fault{
		{quay, `"x-direction": "server_to_client", "x-notification": true, "x-gate": "-", "x-transports": ["stdio"`, `"x-direction": "client_to_server", "x-notification": true, "x-gate": "-", "x-transports": ["stdio"`, `spec/quay/openrpc.json: /methods/1/name: the method "berth/open" comes twice; keep one`},
		{more, `"name": "berth/list.get"`, `"name": "berth/open"`, `spec/quay/more-openrpc.json: /methods/0/name: the method "berth/open" comes twice; keep one`},
		{more, `"x-direction": "client_to_server"`, `"x-direction": "host_to_extension"`, `spec/quay/more-openrpc.json: /methods/0/x-direction: "host_to_extension" is no direction of this wire; use one of ["client_to_server" "server_to_client"]`},
		{more, `"x-transports": ["websocket"], `, ``, `spec/quay/more-openrpc.json: /methods/0: x-transports belongs to every method between a client and a server and to no other; add or remove it at "berth/list.get"`},
		{more, `"x-transports": ["websocket"]`, `"x-transports": ["pigeon"]`, `spec/quay/more-openrpc.json: /methods/0/x-transports/0: value must be one of 'stdio', 'websocket'; see spec/meta/openrpc.schema.json for the form`},
		{more, `"x-durable": "-", `, ``, `spec/quay/more-openrpc.json: /methods/0: x-durable belongs to every method between a client and a server and to no other; add or remove it at "berth/list.get"`},
		{more, `"x-gate-mode": "open", `, ``, `spec/quay/more-openrpc.json: /methods/0: x-gate-mode belongs to every gate between a client and a server and to nothing else; add or remove it at "berth/list.get"`},
		{quay, `"x-gate": "-", "x-transports": []`, `"x-gate": "-", "x-gate-mode": "open", "x-transports": []`, `spec/quay/openrpc.json: /methods/2: x-gate-mode belongs to every gate between a client and a server and to nothing else; add or remove it at "ship/seen"`},
		{more, `quay.base.v1+quay.list.v1`, `quay.base.v1+quay.none.v1`, `spec/quay/more-openrpc.json: /methods/1/x-gate: "quay.none.v1" is no feature; add the row, correct the name, or begin the gate with contributes., declared or base`},
		{more, `more-models.json#/$defs/Nothing`, `models.json#/$defs/Nothing`, `spec/quay/more-openrpc.json: /methods/0/params/0/schema/$ref: refers to "models.json#/$defs/Nothing", which does not exist; add the model or correct the name`},
		{quay, `"result": {"name": "result", "schema": {"$ref": "models.json#/$defs/Opened"}}`, `"result": {"name": "result", "schema": {"$ref": "models.json#/$defs/Opened", "x-nullable": true}}`, `spec/quay/openrpc.json: /methods/0: the result of "berth/open" is a list or may be null, to which no member can be added; wrap it in a record`},
		{quay, `"result": {"name": "result", "schema": {"$ref": "models.json#/$defs/Opened"}}`, `"result": {"name": "result", "schema": {"type": "array", "items": {"$ref": "models.json#/$defs/Opened"}}}`, `spec/quay/openrpc.json: /methods/0: the result of "berth/open" is a list or may be null, to which no member can be added; wrap it in a record`},
		{"quay/models.json", `"OpenParams": {"type": "object", "description": "Opens a berth.", "x-source": "test 1", "properties": {"berth": {"$ref": "#/$defs/Berth", "description": "The berth."}}, "required": ["berth"]}`, `"OpenParams": {"type": "string", "description": "Opens a berth.", "x-source": "test 1"}`, `spec/quay/openrpc.json: /methods/0: the params of "berth/open" are no record, and a client names their members; make OpenParams one`},
		{"quay/more-models.json", `"models.json#/$defs/Berth"`, `"#/$defs/Berth"`, `spec/quay/more-models.json: /$defs/ListResult/properties/berths/items/$ref: refers to "#/$defs/Berth", which does not exist; add the model or correct the name`},
		{"quay/more-limits.json", `max_berths`, `max_name_bytes`, `spec/quay/more-limits.json: /limits/0/name: the limit "max_name_bytes" comes twice; keep one` + "\n" + `spec/quay/more-models.json: /$defs/ListResult/properties/berths/x-max-items: "max_berths" is no limit of quay-wire; add the row or correct the name`},
		{"quay/features.json", `"sets": [], "origin": "server", `, ``, `spec/quay/features.json: /features/1: origin and sets belong to every feature between a client and a server and to no other; add or remove them at "quay.list.v1"`},
		{"wires.json", `["quay/limits.json", "quay/more-limits.json"]`, `["quay/limits.json"]`, `spec/wires.json: /wires/0/files/limits: minItems: got 1, want 2; see spec/meta/wires.schema.json for the form`},
		{"wires.json", `["quay/tables.json", "quay/more-tables.json"]`, `"quay/tables.json"`, `spec/quay/more-tables.json: (document): no wire names this file; add it to wires.json or remove it`},
		{"wires.json", `"errors": "quay/errors.json"`, `"errors": ["quay/errors.json", "quay/errors.json"]`, `spec/wires.json: /wires/0/files/errors: items at 0 and 1 are equal; see spec/meta/wires.schema.json for the form`},
	})
	twice := tree(t, "server")
	edit(t, twice, "quay/more-models.json", `"Nothing": {`, `"Berth": {`)
	edit(t, twice, more, `more-models.json#/$defs/Nothing`, `more-models.json#/$defs/Berth`)
	if _, err := Load(twice); err == nil || !strings.Contains(err.Error(), `spec/quay/more-models.json: /$defs/Berth: quay/models.json holds a model Berth too; keep one`) {
		t.Errorf("a model in two files: %v", err)
	}
	extension := tree(t, "contract")
	edit(t, extension, methods, `"x-status"`, `"x-durable": "yes", "x-status"`)
	if _, err := Load(extension); err == nil || !strings.Contains(err.Error(), "x-durable belongs to every method between a client and a server and to no other") {
		t.Errorf("x-durable at a method of an extension: %v", err)
	}
	unversioned := tree(t, "contract")
	edit(t, unversioned, methods, `"x-versions": ["0.1", "0.2", "0.4"],`, "")
	if _, err := Load(unversioned); err == nil || !strings.Contains(err.Error(), "says not which versions know it; add x-versions") {
		t.Errorf("a method without x-versions on a wire with several versions: %v", err)
	}
}
