package report

import (
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// SchemaFile is the name of the published schema of the JSON report, beside this file.
const SchemaFile = "report.schema.json"

// Schema is the JSON Schema of the report.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: true}
	s := r.Reflect(&Report{})
	s.ID = ""
	s.Title = "octet-conform report"
	s.Description = "What octet-conform extension writes with --report-json."
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
