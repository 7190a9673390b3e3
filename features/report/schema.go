package report

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"github.com/octet-dev/octet/features/profile"
)

// SchemaFiles returns the published schemas by file name.
func SchemaFiles() (map[string][]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: true}
	s := r.Reflect(&Report{})
	s.ID = ""
	s.Title = "octet-conform report"
	s.Description = "What octet-conform extension writes with --report-json."
	out := map[string][]byte{}
	for name, schema := range map[string]*jsonschema.Schema{"report.schema.json": s, "profile.schema.json": profile.Schema()} {
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			return nil, err
		}
		out[name] = append(text, '\n')
	}
	return out, nil
}
