package reference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

func itoa(i int) string { return strconv.Itoa(i) }

// wirePage is the page of one wire.
type wirePage struct {
	*page
	wire  *model.Wire
	rules bool
}

func (p *wirePage) make() emit.File {
	w := p.wire
	p.paragraphs(text(w.Doc))
	p.table([]string{"Fact", "Value"}, [][]string{
		{"Name in the spec", code(w.Name)},
		{"Versions", codes(w.Versions)},
		{"Go package", code("generated/" + w.Module.Go)},
		{"Python module", code(pythonPackage(w) + "._generated." + w.Module.Python)},
		{"TypeScript file", code(typescriptFolder(w) + "/_generated/" + w.Module.TypeScript + ".ts")},
		{"Deepest level of a value", itoa(w.MaxDepth)},
	})
	p.contents()
	p.methods()
	p.hooks()
	p.features()
	p.capabilities()
	p.models()
	p.errors()
	p.limits()
	p.tables()
	return p.file(wireFile(w))
}

func pythonPackage(w *model.Wire) string {
	if w.Family == model.ServerFamily {
		return "octet_oup"
	}
	return "octet_extension"
}

func typescriptFolder(w *model.Wire) string {
	if w.Family == model.ServerFamily {
		return "sdk-ts/oup/src"
	}
	return "sdk-ts/src"
}

// contents links the parts the wire has.
func (p *wirePage) contents() {
	var parts []string
	for _, part := range []struct {
		count        int
		anchor, name string
	}{
		{len(p.wire.Methods), "methods", "Methods"},
		{len(p.wire.Hooks), "hooks", "Hooks"},
		{len(p.wire.Features), "features", "Features"},
		{len(p.wire.Capabilities), "capabilities", "Capabilities"},
		{len(p.wire.Models), "models", "Models"},
		{len(p.wire.Errors), "errors", "Errors"},
		{len(p.wire.Limits), "limits", "Limits"},
		{len(p.wire.Tables), "tables", "Tables"},
	} {
		if part.count > 0 {
			parts = append(parts, link(part.name, "#"+part.anchor))
		}
	}
	if p.rules {
		parts = append(parts, link("Rules", rulesFile(p.wire)))
	}
	p.paragraphs(strings.Join(parts, " · "))
}

// versions says which versions know a thing, where not all of the wire do.
func (p *wirePage) versions(list []string) string {
	if len(list) == 0 || slices.Equal(list, p.wire.Versions) {
		return ""
	}
	return "API " + strings.Join(list, ", ") + "."
}

func (p *wirePage) methods() {
	if len(p.wire.Methods) == 0 {
		return
	}
	p.heading(2, "methods", "Methods")
	if p.wire.Family == model.ServerFamily {
		p.serverMethods()
	} else {
		p.extensionMethods()
	}
	for _, m := range p.wire.Methods {
		p.method(m)
	}
}

func (p *wirePage) extensionMethods() {
	var rows [][]string
	for _, m := range p.wire.Methods {
		rows = append(rows, []string{
			p.methodLink(m), kind(m), direction(m.Direction), strings.Join(m.Versions, ", "), p.gate(m), m.Status,
		})
	}
	p.table([]string{"Method", "Kind", "Direction", "Versions", "Gate", "Status"}, rows)
}

// serverMethods lists the methods between a client and a server, which has more to say of each.
func (p *wirePage) serverMethods() {
	var rows [][]string
	for _, m := range p.wire.Methods {
		rows = append(rows, []string{
			p.methodLink(m), kind(m), direction(m.Direction), p.gate(m), string(m.GateMode), strings.Join(m.Transports, ", "), m.Durable, m.Status,
		})
	}
	p.table([]string{"Method", "Kind", "Direction", "Gate", "Without features", "Transports", "Durable", "Status"}, rows)
}

func (p *wirePage) methodLink(m *model.Method) string { return link(code(m.Name), "#"+methodAnchor(m)) }

// methodAnchor tells a notification from the request of the same name.
func methodAnchor(m *model.Method) string {
	if m.Notification && m.Direction == model.ServerToClient {
		return anchor("notification", m.Name)
	}
	return anchor("method", m.Name)
}

// gate links the features or the capability that open a method; a declaration of the manifest is plain text.
func (p *wirePage) gate(m *model.Method) string {
	if p.wire.Family == model.ServerFamily {
		var links []string
		for _, name := range m.Gates() {
			links = append(links, link(code(name), "#"+anchor("feature", name)))
		}
		return strings.Join(links, " and ")
	}
	for _, f := range p.wire.Features {
		if f.Name == m.Gate {
			return link(code(m.Gate), "#"+anchor("feature", m.Gate))
		}
	}
	for _, c := range p.wire.Capabilities {
		if c.Name == m.Gate {
			return link(code(m.Gate), "#"+anchor("capability", m.Gate))
		}
	}
	return text(m.Gate)
}

func kind(m *model.Method) string {
	if m.Notification {
		return "notification"
	}
	return "request"
}

func direction(d model.Direction) string {
	switch d {
	case model.HostToExtension:
		return "host to extension"
	case model.ExtensionToHost:
		return "extension to host"
	case model.ClientToServer:
		return "client to server"
	case model.ServerToClient:
		return "server to client"
	default:
		return "both"
	}
}

func (p *wirePage) method(m *model.Method) {
	p.heading(3, methodAnchor(m), code(m.Name))
	p.paragraphs(text(m.Doc))
	var facts [][]string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{name, value})
		}
	}
	add("Kind", kind(m))
	add("Direction", direction(m.Direction))
	add("Versions", codes(m.Versions))
	if m.Gate != "-" {
		add("Opened by", p.gate(m))
	}
	if p.wire.Family == model.ServerFamily {
		p.delivery(m, add)
	}
	add("Tied to", parents[m.Parent])
	add("In an SDK", service(m))
	add("Offer", m.Offer)
	add("Ends with", code(m.Terminal))
	add("Status", m.Status)
	p.shapes(m, "Params", add, func(s model.MethodShape) string {
		if s.Params == nil {
			return ""
		}
		return modelLink(s.Params)
	})
	p.shapes(m, "Result", add, func(s model.MethodShape) string {
		if s.Result == nil {
			return ""
		}
		return typeName(s.Result) + yes(s.Nullable, " or null")
	})
	add("Source", text(m.Source))
	p.table([]string{"Fact", "Value"}, facts)
}

// delivery adds what is said of methods between a client and a server alone.
func (p *wirePage) delivery(m *model.Method, add func(name, value string)) {
	switch m.GateMode {
	case model.OpenGate:
		add("Without features", "open: the gate is closed only where the connection named other features")
	case model.StrictGate:
		add("Without features", "closed")
	}
	transports := strings.Join(m.Transports, ", ")
	if transports == "" {
		transports = "none: no server sends it today"
	}
	add("Transports", transports)
	if m.Durable != "-" {
		add("Durable", m.Durable)
	}
	add("Lane", m.Lane)
}

// shapes adds one fact about the shapes of a method, once where they agree and per version where not.
func (p *wirePage) shapes(m *model.Method, name string, add func(name, value string), value func(model.MethodShape) string) {
	general := value(m.Shapes[0])
	if !slices.ContainsFunc(m.Shapes, func(s model.MethodShape) bool { return value(s) != general }) {
		add(name, general)
		return
	}
	for _, s := range m.Shapes {
		add(name+" ("+strings.Join(s.Versions, ", ")+")", value(s))
	}
}

func modelLink(m *model.Model) string { return link(m.Name, "#"+anchor("model", m.Name)) }

// typeName says in words what a type is, with links to models.
func typeName(t *model.Type) string {
	switch t.Kind {
	case model.Ref:
		return modelLink(t.Ref)
	case model.Array:
		return "array of " + typeName(t.Elem)
	case model.Map:
		return "map of " + typeName(t.Elem)
	case model.Const:
		return code(strconv.Quote(t.Const))
	case model.JSON:
		return "any JSON"
	case model.Object:
		return "any object"
	case model.ID:
		return "request id"
	default:
		return string(t.Kind)
	}
}

func (p *wirePage) models() {
	if len(p.wire.Models) == 0 {
		return
	}
	p.heading(2, "models", "Models")
	p.paragraphs("Members stand in the order in which they are checked. Bytes are UTF-8 bytes of the decoded text.")
	for _, m := range p.wire.Models {
		p.heading(3, anchor("model", m.Name), m.Name)
		p.paragraphs(strings.Join(strings.Fields(text(m.Doc)+" "+p.versions(m.Versions)), " "))
		switch m.Kind {
		case model.Record:
			p.record(m)
		case model.Union:
			p.union(m)
		case model.Choice:
			p.paragraphs("A string is a " + modelLink(m.Word) + ", an object a " + modelLink(m.Object) + ".")
		case model.Enum:
			p.enum(m)
		case model.Alias:
			p.paragraphs("A " + typeName(m.Type) + comma(text(m.Type.Constraint())) + ".")
		}
		p.paragraphs("Source: " + text(m.Source) + ".")
	}
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}

func (p *wirePage) record(m *model.Model) {
	var rows [][]string
	for _, f := range m.Fields {
		bounds := f.Type.Constraint()
		if f.Type.Kind == model.Const {
			bounds = ""
		}
		rows = append(rows, []string{code(f.Name), typeName(f.Type), presence(f), text(bounds), text(f.Doc) + " " + p.versions(f.Versions)})
	}
	p.table([]string{"Member", "Type", "Presence", "Bounds", "Meaning"}, rows)
	switch {
	case m.Closed && len(m.Fields) == 0:
		p.paragraphs("An empty object: any member is refused.")
	case m.Closed:
		p.paragraphs("Closed: an unlisted member is refused.")
	default:
		p.paragraphs("Open: unlisted members are kept and written back.")
	}
	if len(m.ExactlyOne) > 0 {
		p.paragraphs("Exactly one of " + codes(m.ExactlyOne) + " is present.")
	}
	if len(m.AtMostOne) > 0 {
		p.paragraphs("At most one of " + codes(m.AtMostOne) + " is present.")
	}
	if len(m.Forbidden) > 0 {
		p.paragraphs("Must not carry " + codes(m.Forbidden) + ".")
	}
}

func presence(f *model.Field) string {
	word := "optional"
	if f.Required {
		word = "required"
	}
	return word + yes(f.Nullable, ", null allowed")
}

func (p *wirePage) union(m *model.Model) {
	p.paragraphs("The member " + code(m.Tag) + " selects the variant.")
	var rows [][]string
	for _, v := range m.Variants {
		rows = append(rows, []string{code(v.TagValue), modelLink(v.Record), yes(v.Deferred, "deferred: known, and refused")})
	}
	p.table([]string{code(m.Tag), "Variant", "Status"}, rows)
}

func (p *wirePage) enum(m *model.Model) {
	if m.Open {
		p.paragraphs("Open: other values are kept and written back.")
	} else {
		p.paragraphs("Closed: any other value is refused.")
	}
	var rows [][]string
	documented := slices.ContainsFunc(m.Values, func(v model.EnumValue) bool { return v.Doc != "" })
	if !documented {
		var names []string
		for _, v := range m.Values {
			names = append(names, v.Value)
		}
		p.paragraphs("Values: " + codes(names) + ".")
		return
	}
	for _, v := range m.Values {
		rows = append(rows, []string{code(v.Value), text(v.Doc)})
	}
	p.table([]string{"Value", "Meaning"}, rows)
}

func (p *wirePage) errors() {
	if len(p.wire.Errors) == 0 {
		return
	}
	p.heading(2, "errors", "Errors")
	var rows [][]string
	for _, e := range p.wire.Errors {
		message := code(e.Message) + yes(e.Fixed, ", exactly")
		rows = append(rows, []string{anchored("error", e.Name), strconv.FormatInt(e.Code, 10), message, text(e.Doc), text(e.Source)})
	}
	p.table([]string{"Name", "Code", "Message", "Use", "Source"}, rows)
	envelope := "Inside an envelope it is always " + errorLink(p.wire.EnvelopeError) + "."
	if p.wire.VersionError != "" {
		envelope = "Inside an envelope it is " + errorLink(p.wire.EnvelopeError) + ", and " + errorLink(p.wire.VersionError) + " for " + code(model.VersionMember) + "."
	}
	p.paragraphs("How a value that breaks its model is reported. " + envelope)
	rows = nil
	for _, v := range p.wire.Violations {
		rows = append(rows, []string{code(string(v.Violation)), errorLink(v.Error)})
	}
	p.table([]string{"Violation", "Error"}, rows)
}

func errorLink(name string) string { return link(code(name), "#"+anchor("error", name)) }

// anchored is a name that links can reach inside a table.
func anchored(sort, name string) string {
	return `<a id="` + anchor(sort, name) + `"></a>` + code(name)
}

func (p *wirePage) limits() {
	if len(p.wire.Limits) == 0 {
		return
	}
	p.heading(2, "limits", "Limits")
	var rows [][]string
	for _, l := range p.wire.Limits {
		rows = append(rows, []string{
			anchored("limit", l.Name), strconv.FormatInt(l.Value, 10), l.Unit, yes(l.Negotiable, "negotiable"), text(l.Doc), text(l.Source),
		})
	}
	p.table([]string{"Name", "Value", "Unit", "", "Bounds", "Source"}, rows)
}

func (p *wirePage) features() {
	if len(p.wire.Features) == 0 {
		return
	}
	p.heading(2, "features", "Features")
	var rows [][]string
	for _, f := range p.wire.Features {
		var needs []string
		for _, name := range f.DependsOn {
			needs = append(needs, link(code(name), "#"+anchor("feature", name)))
		}
		rows = append(rows, []string{
			anchored("feature", f.Name), strings.Join(f.Versions, ", "), yes(f.Required, "required"),
			strings.Join(needs, ", "), text(f.Offered), p.opens(f.Name), text(f.Doc), text(f.Source),
		})
	}
	if p.wire.Family == model.ServerFamily {
		p.serverFeatures()
		return
	}
	p.table([]string{"Feature", "Versions", "", "Needs", "Offered", "Opens", "Meaning", "Source"}, rows)
}

// serverFeatures lists the features between a client and a server with the sets that hold them.
func (p *wirePage) serverFeatures() {
	var rows [][]string
	for _, f := range p.wire.Features {
		var needs []string
		for _, name := range f.DependsOn {
			needs = append(needs, link(code(name), "#"+anchor("feature", name)))
		}
		rows = append(rows, []string{
			anchored("feature", f.Name), f.Origin, codes(f.Sets), strings.Join(needs, ", "), text(f.Offered), p.opens(f.Name), text(f.Doc), text(f.Source),
		})
	}
	p.table([]string{"Feature", "Origin", "Default sets", "Needs", "Offered", "Opens", "Meaning", "Source"}, rows)
}

func (p *wirePage) capabilities() {
	if len(p.wire.Capabilities) == 0 {
		return
	}
	p.heading(2, "capabilities", "Capabilities")
	var rows [][]string
	for _, c := range p.wire.Capabilities {
		var needs []string
		for _, name := range c.Needs {
			needs = append(needs, link(code(name), "#"+anchor("method", name)))
		}
		rows = append(rows, []string{anchored("capability", c.Name), c.Offer, c.Status, strings.Join(needs, ", "), text(c.Doc), text(c.Source)})
	}
	p.table([]string{"Capability", "Offer", "Status", "Methods it needs", "Meaning", "Source"}, rows)
}

func (p *wirePage) tables() {
	if len(p.wire.Tables) == 0 {
		return
	}
	p.heading(2, "tables", "Tables")
	for _, t := range p.wire.Tables {
		p.heading(3, anchor("table", t.Name), t.Name)
		p.paragraphs(text(t.Doc))
		var rows [][]string
		for _, cells := range t.Rows {
			row := make([]string, len(cells))
			for i, cell := range cells {
				row[i] = code(cell)
			}
			rows = append(rows, row)
		}
		p.table(slices.Clone(t.Columns), rows)
		p.paragraphs("Source: " + text(t.Source) + ".")
	}
}
