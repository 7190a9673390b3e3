package load

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// fault is one edit that breaks a spec, and the report it must give.
type fault struct {
	file, old, replacement string
	want                   string
}

const (
	models   = "parcel/models.json"
	limits   = "parcel/limits.json"
	methods  = "dock/openrpc.json"
	features = "dock/features.json"
	rulesDoc = "rules/dock.json"
)

func check(t *testing.T, base string, faults []fault) {
	t.Helper()
	for _, f := range faults {
		files := tree(t, base)
		edit(t, files, f.file, f.old, f.replacement)
		_, err := Load(files)
		if err == nil {
			t.Errorf("%s: %s was accepted", f.file, f.replacement)
			continue
		}
		if err.Error() != f.want {
			t.Errorf("%s: %s\ngot  %v\nwant %s", f.file, f.replacement, err, f.want)
		}
	}
}

func TestLoad_refusesBrokenFiles(t *testing.T) {
	check(t, "shapes", []fault{
		{limits, `"$schema"`, `"$schema": "", "$schema"`, `spec/parcel/limits.json: (document): no strict JSON: line 2: the member "$schema" comes twice; send it once`},
		{limits, `]`, `],`, `spec/parcel/limits.json: (document): no strict JSON: line 10: no member name; write a string`},
		{limits, `"$schema": "../meta/limits.schema.json",`, ``, `spec/parcel/limits.json: (document): names no meta-schema; add "$schema" with the path of one under meta/`},
		{limits, `../meta/limits.schema.json`, `https://example.test/x`, `spec/parcel/limits.json: /$schema: the meta-schema "parcel/https:/example.test/x" is not a file under meta/; name one by its relative path`},
		{limits, `limits.schema.json`, `none.schema.json`, `spec/parcel/limits.json: /$schema: the meta-schema "meta/none.schema.json" cannot be read (file does not exist); add it or name another one`},
		{limits, `"value": 8`, `"value": "8"`, `spec/parcel/limits.json: /limits/0/value: got string, want integer; see spec/meta/limits.schema.json for the form`},
		{models, `"x-source": "test 3",`, ``, `spec/parcel/models.json: /$defs/Parcel: missing property 'x-source'; see spec/meta/models.schema.json for the form`},
		{models, `"description": "Always the same."`, `"descripton": "Always the same."`, "spec/parcel/models.json: /$defs/Parcel/properties/version/descripton: the member \"descripton\" is not legal here; see spec/meta/models.schema.json for the form\nspec/parcel/models.json: /$defs/Parcel/properties/version: missing property 'description'; see spec/meta/models.schema.json for the form"},
		{"wires.json", `parcel/errors.json`, `parcel/nothing.json`, `spec/parcel/nothing.json: (document): cannot be read (file does not exist); add the file or stop naming it`},
		{"wires.json", `parcel/models.json`, `parcel/nothing.json`, `spec/parcel/nothing.json: (document): cannot be read (file does not exist); add the file or stop naming it`},
		{models, `"Parcel": {`, `"Par\ncel": {`, `spec/parcel/models.json: "/$defs/Par\ncel": the member "Par\ncel" is not legal here; see spec/meta/models.schema.json for the form`},
	})
}

func TestLoad_refusesNumbersThatAreNotPortable(t *testing.T) {
	const rule = " is no integer from -9007199254740991 to 9007199254740991; write one without fraction and exponent"
	check(t, "shapes", []fault{
		{limits, `"value": 8,`, `"value": 1000000000000000000000000000000,`, `spec/parcel/limits.json: /limits/0/value: "1000000000000000000000000000000"` + rule},
		{limits, `"value": 8,`, `"value": 9007199254740992,`, `spec/parcel/limits.json: /limits/0/value: "9007199254740992"` + rule},
		{limits, `"value": 8,`, `"value": 8.0,`, `spec/parcel/limits.json: /limits/0/value: "8.0"` + rule},
		{limits, `"value": 8,`, `"value": 8e999999999,`, `spec/parcel/limits.json: /limits/0/value: "8e999999999"` + rule},
		{models, `"minItems": 1`, `"minItems": 9223372036854775808`, `spec/parcel/models.json: /$defs/Parcel/properties/content/minItems: "9223372036854775808"` + rule},
		{models, `"x-min-bytes": 1`, `"x-min-bytes": 1e2`, `spec/parcel/models.json: /$defs/Parcel/properties/note/x-min-bytes: "1e2"` + rule},
		{models, `"x-maximum": "max_weight"`, `"minimum": -9007199254740992, "maximum": 18446744073709551616`, `spec/parcel/models.json: /$defs/Parcel/properties/weight/minimum: "-9007199254740992"` + rule + "\n" + `spec/parcel/models.json: /$defs/Parcel/properties/weight/maximum: "18446744073709551616"` + rule},
		{"parcel/errors.json", `"code": -1,`, `"code": -100000000000000000000,`, `spec/parcel/errors.json: /errors/0/code: "-100000000000000000000"` + rule},
	})
}

func TestLoad_refusesNamesThatCannotBeGenerated(t *testing.T) {
	const evil = `"a\n\"b; import os"`
	const form, methodForm = "; see spec/meta/models.schema.json for the form", "; see spec/meta/openrpc.schema.json for the form"
	const member, value = `'^\\$?[A-Za-z][A-Za-z0-9_-]*$'`, "'^[A-Za-z0-9][A-Za-z0-9_./-]*$'"
	refuses := func(pattern string) string { return `'a\n"b; import os' does not match pattern ` + pattern }
	check(t, "shapes", []fault{
		{models, `"fragile": {`, evil + `: {`, `spec/parcel/models.json: "/$defs/Parcel/properties/a\n\"b; import os": the member "a\n\"b; import os" is not legal here` + form},
		{models, `"content"],`, evil + `],`, `spec/parcel/models.json: /$defs/Parcel/required/4: ` + refuses(member) + form},
		{models, `["price"]`, `[` + evil + `]`, `spec/parcel/models.json: /$defs/Book/x-forbidden/0: ` + refuses(member) + form},
		{models, `"x-tag": "kind"`, `"x-tag": ` + evil, `spec/parcel/models.json: /$defs/Item/x-tag: ` + refuses(member) + form},
		{models, `"x-unique": true`, `"x-unique-by": ` + evil, `spec/parcel/models.json: /$defs/Parcel/properties/tags/x-unique-by: ` + refuses(member) + form},
		{models, `{"const": "box"`, `{"const": ` + evil, `spec/parcel/models.json: /$defs/Box/properties/kind/const: ` + refuses(value) + form},
		{models, `"enum": ["low"`, `"enum": [` + evil, `spec/parcel/models.json: /$defs/Priority/enum/0: ` + refuses(value) + form},
		{models, `"low": "Some day."`, evil + `: "Some day."`, `spec/parcel/models.json: "/$defs/Priority/x-enum-docs/a\n\"b; import os": the member "a\n\"b; import os" is not legal here` + form},
		{"wires.json", `"models": "parcel/models.json"`, `"models": ` + evil, `spec/wires.json: /wires/0/files/models: ` + refuses(`'^[a-z0-9-]+(/[a-z0-9-]+)*\\.json$'`) + "; see spec/meta/wires.schema.json for the form"},
		{"parcel/errors.json", `"message": "bad parcel"`, `"message": ` + evil, `spec/parcel/errors.json: /errors/0/message: ` + refuses("'^[ -~]+$'") + "; see spec/meta/errors.schema.json for the form"},
	})
	const method = `'^(\\$/)?[A-Za-z][A-Za-z0-9_-]*(/[A-Za-z][A-Za-z0-9_-]*)*(\\.[a-z_]+)?$'`
	check(t, "contract", []fault{
		{methods, `"name": "ship/list"`, `"name": ` + evil, `spec/dock/openrpc.json: /methods/1/name: ` + refuses(method) + methodForm},
		{methods, `"x-gate": "landing.v1"`, `"x-gate": ` + evil, `spec/dock/openrpc.json: /methods/0/x-gate: ` + refuses("'^[!-~≥]+( [!-~≥]+)*$'") + methodForm},
		{methods, `"x-terminal": "result_or_error"`, `"x-terminal": ` + evil, `spec/dock/openrpc.json: /methods/0/x-terminal: ` + refuses("'^[a-z][a-z0-9_]*$'") + methodForm},
		{"dock/capabilities.json", `"name": "flying"`, `"name": ` + evil, `spec/dock/capabilities.json: /capabilities/1/name: ` + refuses(`'^[a-z][a-z0-9_]*(\\.[a-z0-9_]+)*$'`) + "; see spec/meta/capabilities.schema.json for the form"},
		{"dock/capabilities.json", `["ship/land"]`, `[` + evil + `]`, `spec/dock/capabilities.json: /capabilities/0/needs/0: ` + refuses(method) + "; see spec/meta/capabilities.schema.json for the form"},
		{"dock/tables.json", `["horn", `, `[` + evil + `, `, `spec/dock/tables.json: /tables/1/rows/0/0: ` + refuses("'^[ -~]*$'") + "; see spec/meta/tables.schema.json for the form"},
		{"dock/tables.json", `["name", "meaning_id"]`, `["name", ` + evil + `]`, `spec/dock/tables.json: /tables/1/columns/1: ` + refuses("'^[a-z][a-z0-9_]*$'") + "; see spec/meta/tables.schema.json for the form"},
	})
}

func TestLoad_readsRegularFilesOfBoundedSizeOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		file *fstest.MapFile
		want string
	}{
		{limits, &fstest.MapFile{Mode: fs.ModeNamedPipe}, "spec/parcel/limits.json: (document): is no regular file; put a regular file in its place"},
		{limits, &fstest.MapFile{Mode: fs.ModeDevice}, "spec/parcel/limits.json: (document): is no regular file; put a regular file in its place"},
		{limits, &fstest.MapFile{Data: bytes.Repeat([]byte(" "), 16<<20+1)}, "spec/parcel/limits.json: (document): is larger than 16777216 bytes; split it"},
		{"meta/limits.schema.json", &fstest.MapFile{Mode: fs.ModeNamedPipe}, `spec/parcel/limits.json: /$schema: the meta-schema "meta/limits.schema.json" is no regular file; put a regular file in its place`},
		{"meta/limits.schema.json", &fstest.MapFile{Data: bytes.Repeat([]byte(" "), 16<<20+1)}, `spec/parcel/limits.json: /$schema: the meta-schema "meta/limits.schema.json" is larger than 16777216 bytes; split it`},
	} {
		files := tree(t, "shapes")
		files[c.name] = c.file
		if _, err := Load(files); err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.name, err, c.want)
		}
	}
	files := tree(t, "shapes")
	files[limits].Data = append(files[limits].Data, bytes.Repeat([]byte(" "), 16<<20-len(files[limits].Data))...)
	load(t, files)
}

func TestLoad_reportsAMissingFileOnce(t *testing.T) {
	for file, want := range map[string]string{
		"wires.json":       "spec/wires.json: (document): cannot be read (file does not exist); add the file or stop naming it",
		"dock/models.json": "spec/dock/models.json: (document): cannot be read (file does not exist); add the file or stop naming it",
		"dock/errors.json": "spec/dock/errors.json: (document): cannot be read (file does not exist); add the file or stop naming it",
	} {
		files := tree(t, "contract")
		delete(files, file)
		if _, err := Load(files); err == nil || err.Error() != want {
			t.Errorf("without %s\ngot  %v\nwant %s", file, err, want)
		}
	}
}

func TestLoad_refusesBrokenModels(t *testing.T) {
	check(t, "shapes", []fault{
		{models, `"max_note_bytes"`, `"max_notes"`, `spec/parcel/models.json: /$defs/Parcel/properties/note/x-max-bytes: "max_notes" is no limit of parcel-wire; add the row or correct the name`},
		{models, `"x-max-items": 3`, `"x-max-items": 0`, `spec/parcel/models.json: /$defs/Parcel/properties/content/x-max-items: a maximum of 0 allows nothing; use at least 1` + "\n" + `spec/parcel/models.json: /$defs/Parcel/properties/content: the minimum 1 lies above the maximum 0; correct one`},
		{models, `"minItems": 1`, `"minItems": 4`, `spec/parcel/models.json: /$defs/Parcel/properties/content: the minimum 4 lies above the maximum 3; correct one`},
		{models, `"x-min-bytes": 1`, `"x-min-bytes": 9`, `spec/parcel/models.json: /$defs/Parcel/properties/note: the minimum 9 lies above the maximum 8; correct one`},
		{models, `"x-maximum": "max_weight"`, `"minimum": 501, "x-maximum": "max_weight"`, `spec/parcel/models.json: /$defs/Parcel/properties/weight: the minimum 501 lies above the maximum 500; correct one`},
		{models, `#/$defs/Label`, `#/$defs/Lable`, `spec/parcel/models.json: /$defs/Parcel/properties/label/$ref: refers to "#/$defs/Lable", which does not exist; add the model or correct the name`},
		{models, `"content"],`, `"contents"],`, `spec/parcel/models.json: /$defs/Parcel/required/4: Parcel requires "contents", which is no property; add the property or drop the name`},
		{models, `["price"]`, `["title"]`, `spec/parcel/models.json: /$defs/Book/x-forbidden/0: Book forbids "title", which is a property; drop one of them`},
		{models, `"x-forbidden": ["price"]`, `"x-forbidden": ["price"], "additionalProperties": false`, `spec/parcel/models.json: /$defs/Book/x-forbidden: Book is closed, so every unlisted member is refused anyway; drop x-forbidden`},
		{models, `{"const": "box"`, `{"const": "book"`, `spec/parcel/models.json: /$defs/Item/oneOf/1/$ref: the tag value "book" selects two variants of Item; make them differ`},
		{models, `{"const": "box"`, `{"type": "string"`, `spec/parcel/models.json: /$defs/Item/oneOf/1/$ref: the variant Box has no required member "kind" with a "const"; add it`},
		{models, `{"$ref": "#/$defs/Box"}`, `{"$ref": "#/$defs/Label"}`, `spec/parcel/models.json: /$defs/Item/oneOf/1/$ref: the variant Label is no record; name a record whose member "kind" is a constant`},
		{models, `"low": "Some day."`, `"lo": "Some day."`, `spec/parcel/models.json: /$defs/Priority/x-enum-docs/lo: describes "lo", which is no value of Priority; correct or remove it`},
		{models, `"x-versions": ["0.2"]`, `"x-versions": ["0.4"]`, "spec/parcel/models.json: /$defs/Parcel/properties/extra/x-versions/0: the wire has no version \"0.4\"; use a subset of 0.1, 0.2\nspec/parcel/models.json: /$defs/Parcel/properties/extra/x-versions: Parcel does not exist in version \"0.4\"; leave the version out"},
		{models, `"x-versions": ["0.2"]`, `"x-versions": ["0.2", "0.1"]`, `spec/parcel/models.json: /$defs/Parcel/properties/extra/x-versions: versions stand out of order; list them ascending`},
		{models, `"x-unique": true`, `"x-unique": true, "x-unique-by": "a"`, `spec/parcel/models.json: /$defs/Parcel/properties/tags: x-unique and x-unique-by exclude each other; keep one`},
		{models, `"type": "boolean", "desc`, `"type": "boolean", "pattern": "^a$", "desc`, `spec/parcel/models.json: /$defs/Parcel/properties/fragile/pattern: "pattern" means nothing on a boolean; remove it`},
		{models, `"type": "boolean", "desc`, `"type": "boolean", "x-secret": true, "desc`, `spec/parcel/models.json: /$defs/Parcel/properties/fragile/x-secret: "x-secret" means nothing on a boolean; remove it`},
		{models, `"items": {"$ref": "#/$defs/Item"}, "minItems"`, `"items": {"type": "string", "x-secret": true}, "minItems"`, `spec/parcel/models.json: /$defs/Parcel/properties/content/items/x-secret: only a member of a record is a secret; remove x-secret`},
		{models, `"items": {"$ref": "#/$defs/Item"}, "minItems"`, `"items": {"$ref": "#/$defs/Item", "x-nullable": true}, "minItems"`, `spec/parcel/models.json: /$defs/Parcel/properties/content/items/x-nullable: elements are never null; remove x-nullable`},
		{models, `"items": {"$ref": "#/$defs/Item"}, "minItems"`, `"minItems"`, `spec/parcel/models.json: /$defs/Parcel/properties/content: an array without "items"; say what its elements are`},
		{models, `"^[a-z]+$"`, `"^[a-z+$"`, "spec/parcel/models.json: /$defs/Parcel/properties/stamps/x-key-pattern: the pattern \"^[a-z+$\" is no regular expression (error parsing regexp: missing closing ]: `[a-z+$`); correct it"},
		{models, `"^[a-z]+$"`, `"^\\d+$"`, `spec/parcel/models.json: /$defs/Parcel/properties/stamps/x-key-pattern: the pattern "^\\d+$" uses \d, which languages read differently; write a class such as [0-9]`},
		{models, `"^[a-z]+$"`, `"^a.c$"`, `spec/parcel/models.json: /$defs/Parcel/properties/stamps/x-key-pattern: the pattern "^a.c$" uses a bare ., which languages read differently; write a class or escape it`},
		{models, `"^[a-z]+$"`, `"^(?i:a)$"`, `spec/parcel/models.json: /$defs/Parcel/properties/stamps/x-key-pattern: the pattern "^(?i:a)$" uses a special group; only ( and (?: are portable`},
		{models, `"^[a-z]+$"`, `"^é$"`, `spec/parcel/models.json: /$defs/Parcel/properties/stamps/x-key-pattern: the pattern "^é$" holds a character outside ASCII; languages count those differently`},
		{models, `"^[a-z]+$"`, `"^[[a]$"`, `spec/parcel/models.json: /$defs/Parcel/properties/stamps/x-key-pattern: the pattern "^[[a]$" holds [[, which languages read differently; escape the bracket`},
		{limits, `"max_id_bytes"`, `"max_name_bytes"`, `spec/parcel/models.json: /$defs/Parcel/properties/id: an id needs a bound; give it x-max-bytes, or the wire a limit max_json_rpc_id_bytes or max_id_bytes`},
	})
}

func TestLoad_refusesRecordsNobodyCouldFinish(t *testing.T) {
	check(t, "recursion", []fault{
		{"place/models.json", `"required": ["street-name"]`, `"required": ["street-name", "within"]`, `spec/place/models.json: /$defs/Address: Address contains itself without a way out (Address > Address); make one of the members optional or an array`},
	})
}

func TestLoad_refusesBrokenTables(t *testing.T) {
	check(t, "shapes", []fault{
		{limits, `"max_weight"`, `"max_json_depth"`, "spec/parcel/limits.json: /limits/3/name: the limit \"max_json_depth\" comes twice; keep one\nspec/parcel/models.json: /$defs/Parcel/properties/weight/x-maximum: \"max_weight\" is no limit of parcel-wire; add the row or correct the name"},
		{"parcel/errors.json", `"name": "too_big"`, `"name": "bad_parcel"`, "spec/parcel/errors.json: /errors/1/name: the error \"bad_parcel\" comes twice; keep one\nspec/parcel/errors.json: /violations/items: \"too_big\" is no row of the error table; add the row or correct the name\nspec/parcel/errors.json: /violations/bytes: \"too_big\" is no row of the error table; add the row or correct the name"},
		{"parcel/errors.json", `"envelope_violation": "bad_parcel"`, `"envelope_violation": "worse"`, `spec/parcel/errors.json: /envelope_violation: "worse" is no row of the error table; add the row or correct the name`},
	})
	check(t, "contract", []fault{
		{features, `"depends_on": ["lights"]`, `"depends_on": ["light"]`, `spec/dock/features.json: /features/1/depends_on/0: "light" is no feature; add the row or correct the name`},
		{features, `"depends_on": ["lights"]`, `"depends_on": ["red_lights"]`, `spec/dock/features.json: /features/1/depends_on/0: the feature "red_lights" depends on itself; remove the name`},
		{features, `"depends_on": []`, `"depends_on": ["red_lights"]`, `spec/dock/features.json: /features/0/depends_on/0: "red_lights" does not exist in version "0.2" of "lights"; align the versions`},
		{features, `"name": "red_lights"`, `"name": "lights"`, "spec/dock/features.json: /features/1/name: the feature \"lights\" comes twice; keep one\nspec/dock/features.json: /features/1/depends_on/0: the feature \"lights\" depends on itself; remove the name"},
		{"dock/capabilities.json", `["ship/land"]`, `["ship/lend"]`, `spec/dock/capabilities.json: /capabilities/0/needs/0: "ship/lend" is no method; add the row or correct the name`},
		{"dock/capabilities.json", `"name": "flying"`, `"name": "landing.v1"`, `spec/dock/capabilities.json: /capabilities/1/name: the capability "landing.v1" comes twice; keep one`},
		{"dock/tables.json", `["horn", `, `[`, `spec/dock/tables.json: /tables/1/rows/0: the row has 1 cells, the table 2 columns; make them agree`},
		{"dock/tables.json", `["name", "meaning_id"]`, `["name", "name"]`, `spec/dock/tables.json: /tables/1/columns: the column "name" comes twice; keep one`},
		{"dock/tables.json", `"name": "signals"`, `"name": "flags"`, `spec/dock/tables.json: /tables/1/name: the table "flags" comes twice; keep one`},
	})
}

func TestLoad_refusesBrokenMethods(t *testing.T) {
	check(t, "contract", []fault{
		{methods, `"name": "ship/list"`, `"name": "ship/land"`, `spec/dock/openrpc.json: /methods/1/name: the method "ship/land" comes twice; keep one`},
		{methods, `models.json#/$defs/BerthV01`, `models.json#/$defs/BerthV02`, `spec/dock/openrpc.json: /methods/0/x-shapes/0/result/$ref: refers to "models.json#/$defs/BerthV02", which does not exist; add the model or correct the name`},
		{methods, `[{"versions": ["0.1"]`, `[{"versions": ["0.3"]`, `spec/dock/openrpc.json: /methods/0/x-shapes/0/versions/0: version "0.3" is none of the method's, or has a shape already; correct it` + "\n" + `spec/dock/openrpc.json: /methods/0/x-shapes/0: the method "ship/land" uses LandParams in version "0.3", which does not know it; align the versions` + "\n" + `spec/dock/openrpc.json: /methods/0/x-shapes/0: the method "ship/land" uses BerthV01 in version "0.3", which does not know it; align the versions`},
		{methods, `"x-shapes": [{"versions": ["0.1"]`, `"x-shapes": [{"versions": ["0.4"]`, `spec/dock/openrpc.json: /methods/0/x-shapes/0: the method "ship/land" uses BerthV01 in version "0.4", which does not know it; align the versions`},
		{methods, `[{"versions": ["0.2"]`, `[{"versions": ["0.2", "0.4"]`, `spec/dock/openrpc.json: /methods/1/x-shapes: every version has a shape of its own; let one of them be the method's params and result`},
		{methods, `"x-gate": "landing.v1"`, `"x-gate": "landing.v2"`, `spec/dock/openrpc.json: /methods/0/x-gate: "landing.v2" is no capability; add the row or correct the name`},
		{methods, `"x-notification": true,`, ``, `spec/dock/openrpc.json: /methods/2: the request "$/horn" has no result; add it or x-notification`},
		{methods, `"x-gate": "-",`, `"x-gate": "-", "x-notification": true,`, "spec/dock/openrpc.json: /methods/1/x-shapes/0: the notification \"ship/list\" has a result; remove it or x-notification\nspec/dock/openrpc.json: /methods/1: the notification \"ship/list\" has a result; remove it or x-notification"},
		{methods, `"x-status": "active",`, `"x-status": "deferred",`, "spec/dock/openrpc.json: /methods/0/x-shapes/0: the method \"ship/land\" is deferred and has params or a result; remove them\nspec/dock/openrpc.json: /methods/0: the method \"ship/land\" is deferred and has params or a result; remove them"},
	})
}

func TestLoad_refusesBrokenRules(t *testing.T) {
	check(t, "contract", []fault{
		{rulesDoc, `"wire": "dock-wire"`, `"wire": "duck-wire"`, `spec/rules/dock.json: /wire: "duck-wire" is no wire; use a name of wires.json`},
		{rulesDoc, `EXT04-HORN-001`, `EXT04-LAND-001`, "spec/rules/dock.json: /rules/1/id: the rule id EXT04-LAND-001 comes twice; ids are never reused\nspec/rules/dock.json: /areas/HORN: no rule belongs to area \"HORN\"; remove it"},
		{rulesDoc, `EXT04-HORN-001`, `EXT04-BELL-001`, "spec/rules/dock.json: /rules/1/id: the area \"BELL\" of rule EXT04-BELL-001 is not described; add it to areas\nspec/rules/dock.json: /areas/HORN: no rule belongs to area \"HORN\"; remove it"},
		{rulesDoc, `EXT04-HORN-001`, `HORN-1`, "spec/rules/dock.json: /rules/1/id: 'HORN-1' does not match pattern '^(EXT01|EXT03|EXT04|MAN|OUP)-[A-Z]+-[0-9]{3}$'; see spec/meta/rules.schema.json for the form"},
		{rulesDoc, `"wires": ["0.2", "0.4"]`, `"wires": ["0.2", "0.3"]`, `spec/rules/dock.json: /rules/0/wires/1: the wire dock-wire has no version "0.3"; correct it`},
		{rulesDoc, `"no_peer": "binds the host"`, `"unproven": "no dock yet", "no_peer": "binds the host"`, `spec/rules/dock.json: /rules/1/unproven: the rule EXT04-HORN-001 is proven elsewhere already; remove unproven or proven_by`},
		{rulesDoc, `"source": "test 6"}`, `"source": "test 6", "unproven": "no dock yet"}`, `spec/rules/dock.json: /rules/0/unproven: the rule EXT04-LAND-001 binds the extension; prove it with a scenario and a faulty peer`},
		{rulesDoc, `, "proven_by": "a test"`, ``, `spec/rules/dock.json: /rules/1: properties 'proven_by' required, if 'no_peer' exists; see spec/meta/rules.schema.json for the form`},
	})
}

func TestLoad_acceptsEachWayOfProof(t *testing.T) {
	for _, replacement := range []string{
		`"role": "host", "wires": ["0.4"], "text": "A host listens.", "source": "test 6", "unproven": "no dock yet"}`,
		`"role": "host", "wires": ["0.4"], "text": "A host listens.", "source": "test 6", "proven_by": "a test"}`,
		`"role": "host", "wires": ["0.4"], "text": "A host listens.", "source": "test 6"}`,
		`"role": "extension", "wires": ["0.4"], "text": "A host listens.", "source": "test 6"}`,
	} {
		files := tree(t, "contract")
		edit(t, files, rulesDoc, `"role": "host", "wires": ["0.4"], "text": "A host listens.", "source": "test 6", "no_peer": "binds the host", "proven_by": "a test"}`, replacement)
		load(t, files)
	}
	files := tree(t, "contract")
	edit(t, files, rulesDoc, `"level": "must", "role": "extension"`, `"level": "may", "role": "extension"`)
	edit(t, files, rulesDoc, `"source": "test 6"}`, `"source": "test 6", "unproven": "no dock yet"}`)
	if spec := load(t, files); spec.Rules[0].Unproven != "no dock yet" {
		t.Errorf("got %q", spec.Rules[0].Unproven)
	}
}

func TestLoad_refusesAPrefixOfAnotherWire(t *testing.T) {
	files := tree(t, "contract")
	wires := string(files["wires.json"].Data)
	start, end := strings.Index(wires, "    {\n"), strings.LastIndex(wires, "    }")
	second := strings.NewReplacer("dock-wire", "pier-wire", "dockwire", "pierwire", "dock_wire", "pier_wire").Replace(wires[start : end+5])
	files["wires.json"] = &fstest.MapFile{Data: []byte(wires[:end+5] + ",\n" + second + wires[end+5:])}
	load(t, files)
	files["rules/pier.json"] = &fstest.MapFile{Data: []byte(`{"$schema": "../meta/rules.schema.json", "wire": "pier-wire", "areas": {"LAND": "l"}, "rules": [
		{"id": "EXT04-LAND-009", "level": "must", "role": "host", "wires": ["0.4"], "text": "t", "source": "s", "unproven": "u"}]}`)}
	const want = "spec/rules/pier.json: /rules/0/id: the prefix EXT04 belongs to wire dock-wire; use another one"
	if _, err := Load(files); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestLoad_refusesBrokenVectors(t *testing.T) {
	const name = "vectors/models.json"
	good := `{"$schema": "../meta/vectors.schema.json", "wire": "dock-wire", "op": "model", "vectors": [
		{"id": "one", "rule": "EXT04-LAND-001", "note": "n", "model": "Berth", "text": "{}", "verdict": "reject", "pointer": "/number", "violation": "missing", "error": "bad_ship"},
		{"id": "two", "rule": "EXT04-LAND-001", "note": "n", "model": "Berth", "text": "{}", "verdict": "malformed"}]}`
	files := tree(t, "contract")
	files[name] = &fstest.MapFile{Data: []byte(good)}
	load(t, files)
	for _, f := range []fault{
		{name, `"Berth"`, `"Bert"`, `spec/vectors/models.json: /vectors/0/model: "Bert" is no model of dock-wire; correct the name`},
		{name, `EXT04-LAND-001`, `EXT04-LAND-002`, `spec/vectors/models.json: /vectors/0/rule: "EXT04-LAND-002" is no rule; correct the id`},
		{name, `"missing"`, `"gone"`, `spec/vectors/models.json: /vectors/0/violation: "gone" is no violation; correct the name`},
		{name, `bad_ship`, `bad_boat`, `spec/vectors/models.json: /vectors/0/error: "bad_boat" is no error of dock-wire; correct the name`},
		{name, `"verdict": "malformed"`, `"bound": 1e3, "offer": 1.5, "verdict": "malformed"`, `spec/vectors/models.json: /vectors/1/bound: "1e3" is no integer from -9007199254740991 to 9007199254740991; write one without fraction and exponent`},
		{name, `"two"`, `"one"`, `spec/vectors/models.json: /vectors/1/id: the vector "one" comes twice; give it another id`},
		{name, `dock-wire`, `duck-wire`, `spec/vectors/models.json: /wire: "duck-wire" is no wire; use a name of wires.json`},
	} {
		files[name] = &fstest.MapFile{Data: []byte(good)}
		edit(t, files, name, f.old, f.replacement)
		if _, err := Load(files); err == nil || err.Error() != f.want {
			t.Errorf("%s\ngot  %v\nwant %s", f.replacement, err, f.want)
		}
	}
}

func TestLoad_refusesRequirementsWithoutRule(t *testing.T) {
	const name = "requirements/1/0.4.json"
	good := `{"$schema": "../../meta/requirements.schema.json", "format": "octet.requirements/v1", "name": "1", "api": "0.4",
		"sha256": "0000000000000000000000000000000000000000000000000000000000000000", "rules": {"EXT04-LAND-001": "must"}}`
	files := tree(t, "contract")
	files[name] = &fstest.MapFile{Data: []byte(good)}
	load(t, files)
	edit(t, files, name, "LAND-001", "LAND-002")
	const want = `spec/requirements/1/0.4.json: /rules/EXT04-LAND-002: "EXT04-LAND-002" is no rule; a rule that a frozen set names is never removed`
	if _, err := Load(files); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
