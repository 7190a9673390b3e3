package monitor

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// Bounds on structured content, metadata and output schemas of the feature wire.
const (
	maxLevels      = featurewire.MaxStructuredDepth
	maxNodes       = featurewire.MaxStructuredNodes
	maxStructured  = featurewire.MaxStructuredContentBytes
	maxMetadata    = featurewire.MaxMetadataBytes
	maxMetadataKey = featurewire.MaxMetadataKeyBytes
)

// outcome judges a result against the method it answers.
func (m *Monitor) outcome(f wire.Frame, t tree, r *issued) {
	result := t.get("result")
	before := m.faults
	m.byMethod(f, result, r)
	if m.faults == before {
		m.model(f, r.method, result)
	}
}

// model judges a result by its generated model, for whatever the rules above did not name.
func (m *Monitor) model(f wire.Frame, method string, result tree) {
	rule := map[string]string{
		dialect.Initialize: m.rules.initShape, dialect.ToolCall: m.rules.resultMembers, dialect.Shutdown: m.rules.shutdownResult,
	}[method]
	if rule == "" {
		return
	}
	places := all(rule)
	if method == dialect.Initialize && !m.setup.Dialect.Canonical() {
		places = slices.Concat(catalogPlaces, places)
	}
	m.modelled(f, "the result of "+method, m.setup.Dialect.Shape(method).Result, result, places)
}

func (m *Monitor) byMethod(f wire.Frame, result tree, r *issued) {
	switch {
	case r.method == dialect.Shutdown:
		m.farewell(f, result)
	case r.method != dialect.ToolCall:
		if m.setup.Dialect.Canonical() {
			m.contractAnswer(f, result, r)
			return
		}
		m.handled(f, result, r)
	case m.setup.Dialect.Canonical():
		m.canonicalResult(f, result)
	case m.setup.Dialect.Negotiates():
		m.toolResult(f, result, r)
	default:
		if result.get("content").kind() != text || result.get("is_error").kind() != boolean {
			m.report(m.rules.frozenResult, f, -1, "a tool result of the wrong shape: %s", orNothing(result))
		}
	}
}

func (m *Monitor) farewell(f wire.Frame, result tree) {
	if m.setup.Dialect.Canonical() {
		if len(result.members()) != 1 || result.get("terminal").text() != "shutdown" {
			m.report(m.rules.shutdownResult, f, -1, "the result of shutdown is %s, want exactly terminal shutdown", orNothing(result))
		}
		return
	}
	if result.kind() != object {
		m.report(m.rules.shutdownResult, f, -1, "the result of shutdown is %s, want an object", result.kind())
	}
}

func (m *Monitor) canonicalResult(f wire.Frame, r tree) {
	m.within(f, m.rules.resultMembers, "a tool result", r, []string{"content", "is_error"}, []string{"metadata", "structured_content"})
	content := r.get("content")
	if content.kind() != array || len(content.items()) > featurewire.MaxContentParts {
		m.report(m.rules.content, f, -1, "content is %s of %d parts, want an array of at most %d", content.kind(), len(content.items()), featurewire.MaxContentParts)
	}
	if r.get("is_error").kind() != boolean {
		m.report(m.rules.isError, f, -1, "is_error is %s, want a boolean", orNothing(r.get("is_error")))
	}
	if r.get("metadata").absent() {
		m.report(m.rules.metadata, f, -1, "a tool result without metadata")
	}
	for _, part := range content.items() {
		if part.get("type").text() != "text" {
			m.report(m.rules.partType, f, -1, "a content part of type %s", orNothing(part.get("type")))
			continue
		}
		m.exact(f, m.rules.textPart, "a text part", part, []string{"text", "type"})
		if !part.get("text").absent() && part.get("text").kind() != text {
			m.report(m.rules.textPart, f, -1, "the text of a text part is %s", part.get("text").kind())
		}
	}
}

// partMembers are the members of each kind of content part: required ones first, then optional ones.
var partMembers = map[string][2][]string{
	"text":  {{"text", "type"}, nil},
	"image": {{"artifact_id", "mime_type", "type"}, {"alt"}},
	"audio": {{"artifact_id", "mime_type", "type"}, {"transcript"}},
}

func (m *Monitor) toolResult(f wire.Frame, r tree, call *issued) {
	m.within(f, m.rules.resultMembers, "a tool result", r, []string{"content"}, []string{"is_error", "metadata", "structured_content"})
	if r.get("is_error").kind() != boolean {
		m.report(m.rules.isError, f, -1, "is_error is %s, want a boolean", orNothing(r.get("is_error")))
	}
	content := r.get("content").items()
	texts := 0
	for _, part := range content {
		kind := part.get("type").text()
		if kind == "text" {
			texts++
		}
		members, known := partMembers[kind]
		if !known {
			m.report(m.rules.partType, f, -1, "a content part of type %s", orNothing(part.get("type")))
			continue
		}
		m.within(f, m.rules.partType, "a content part of type "+kind, part, members[0], members[1])
		if t := part.get("text"); kind == "text" && !t.absent() && t.kind() != text {
			m.report(m.rules.partType, f, -1, "the text of a text part is %s", t.kind())
		}
		switch {
		case kind == "text":
		case !m.selected(featurewire.FeatureArtifacts):
			m.report(m.rules.partArtifact, f, -1, "a content part of type %s although artifacts is not selected", kind)
		default:
			m.media(f, part)
		}
	}
	if len(content) < 1 || len(content) > featurewire.MaxContentParts || texts == 0 {
		m.report(m.rules.content, f, -1, "content of %d parts, %d of them text; want 1 to %d, at least one text", len(content), texts, featurewire.MaxContentParts)
	}
	m.structured(f, r, call)
	m.metadata(f, r.get("metadata"))
	m.diagnosed(f, r.get("metadata"))
}

// structured judges structured content against the catalog.
func (m *Monitor) structured(f wire.Frame, r tree, call *issued) {
	content, tool := r.get("structured_content"), call.tool
	schema := m.held.definition(call.params).get("output_schema")
	declared := schema.kind() == object
	switch {
	case declared && content.absent() && !r.get("is_error").truth():
		m.report(m.rules.structuredPresence, f, -1, "no structured_content although tool %q has an output_schema", tool)
	case !declared && !content.absent():
		m.report(m.rules.structuredPresence, f, -1, "structured_content although tool %q has no output_schema", tool)
	}
	if content.absent() {
		return
	}
	if declared {
		if err := validate(schema, content); err != nil && !errors.Is(err, errNoSchema) {
			m.report(m.rules.structuredSchema, f, -1, "structured_content of tool %q: %v", tool, err)
		}
	}
	depth, nodes := content.size()
	if n := compact(content.raw); n > maxStructured || depth > maxLevels || nodes > maxNodes {
		m.report(m.rules.structuredSize, f, -1, "structured_content of %d bytes, %d levels, %d nodes", n, depth, nodes)
	}
}

// errNoSchema means that a schema cannot be used, which is judged where it is announced.
var errNoSchema = errors.New("the schema cannot be used")

func validate(schema, value tree) error {
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.raw))
	if err != nil {
		return errNoSchema
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value.raw))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if c.AddResource("mem:output", s) != nil {
		return errNoSchema
	}
	compiled, err := c.Compile("mem:output")
	if err != nil {
		return errNoSchema
	}
	return compiled.Validate(v)
}

// nowhere loads no schema: a reference out of an extension's schema is followed nowhere.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, fmt.Errorf("reference to %q", url) }

func (m *Monitor) metadata(f wire.Frame, meta tree) {
	if meta.absent() || meta.kind() == null {
		return
	}
	depth, nodes := meta.size()
	n := compact(meta.raw)
	if meta.kind() != object || n > maxMetadata || depth > maxLevels || nodes > maxNodes || longKey(meta) {
		m.report(m.rules.metadata, f, -1, "metadata is %s of %d bytes, %d levels, %d nodes, or has a key of over %d bytes", meta.kind(), n, depth, nodes, maxMetadataKey)
	}
}

func longKey(t tree) bool {
	for name, raw := range t.members() {
		if len(name) > maxMetadataKey || longKey(raw) {
			return true
		}
	}
	return slices.ContainsFunc(t.items(), longKey)
}

// schemaFault names the first place where an output schema uses what it must not.
func schemaFault(s tree) string {
	if s.kind() != object {
		return fmt.Sprintf("a node is %s, want an object", s.kind())
	}
	for _, word := range slices.Sorted(maps.Keys(s.members())) {
		if !slices.Contains(featurewire.TableOutputSchemaKeywords, word) {
			return fmt.Sprintf("the keyword %q", word)
		}
		child := s.get(word)
		switch word {
		case "items":
			if fault := schemaFault(child); fault != "" {
				return fault
			}
		case "properties":
			for _, name := range slices.Sorted(maps.Keys(child.members())) {
				if fault := schemaFault(child.get(name)); fault != "" {
					return fault
				}
			}
		case "allOf", "anyOf", "oneOf":
			for _, item := range child.items() {
				if fault := schemaFault(item); fault != "" {
					return fault
				}
			}
		}
	}
	return ""
}

// schemaSize names the first way in which an output schema is too large.
func schemaSize(s tree) string {
	if depth, _ := s.size(); depth > maxLevels {
		return fmt.Sprintf("%d levels; the bound is %d", depth, maxLevels)
	}
	return longProperty(s)
}

func longProperty(s tree) string {
	for name := range s.get("properties").members() {
		if len(name) > maxMetadataKey {
			return fmt.Sprintf("a property name of %d bytes; the bound is %d", len(name), maxMetadataKey)
		}
		if fault := longProperty(s.get("properties").get(name)); fault != "" {
			return fault
		}
	}
	return ""
}
