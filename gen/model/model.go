// Package model is the language-neutral picture of the spec that every emitter reads.
//
// The loader fills it from the files under spec/ and checks it; emitters treat it as read-only. Every
// slice keeps the order of its spec file unless its comment says otherwise, so equal specs give equal
// output.
package model

import "strings"

// Spec is the whole truth: every wire, and every rule in the order of the rule files, which are taken in
// the order of their names.
type Spec struct {
	Wires []*Wire
	Areas []*Area
	Rules []*Rule
}

// Wire is one protocol family: its versions, shapes, methods and tables.
type Wire struct {
	Name     string   // "extension-feature", "extension-canonical", "manifest", "oup"
	Family   Family   // who talks to whom, and where its bindings go
	Module   Module   // what its bindings are called per language
	Title    string   // one line for documents
	Doc      string   // a paragraph for documents
	Versions []string // exact API versions carried, ascending; empty for a document format
	Files    Files    // where the parts below come from

	// EnvelopeError is the error name under which every violation inside an Envelope model is reported.
	EnvelopeError string
	// VersionError is the error name of a wrong VersionMember there; empty where it is EnvelopeError.
	VersionError string
	// MaxDepth is the deepest legal level of a value, the root having level 0: the limit max_json_depth
	// of the wire, or 128 where it sets none. A strict reader refuses deeper text as malformed.
	MaxDepth int

	Models       []*Model
	Methods      []*Method
	Errors       []*ErrorCode
	Violations   []ViolationError // which error a broken shape is reported as
	Limits       []*Limit
	Features     []*Feature    // feature-negotiated wires only
	Capabilities []*Capability // contract-negotiated wires only
	Hooks        []*Hook
	Tables       []*Table // fixed lists of strings or rows, for example environment names
}

// VersionMember is the member of an envelope that says which JSON-RPC it is.
const VersionMember = "jsonrpc"

// Family is a kind of conversation.
type Family string

// The families.
const (
	ExtensionFamily Family = "extension" // a host and an extension
	ServerFamily    Family = "server"    // a client and a server
)

// Files names the spec files of a wire. Generated headers cite them.
type Files struct {
	Models, Methods, Errors, Limits, Features, Capabilities, Hooks, Tables Part
}

// Part names the files of one part of a wire relative to spec/, in the order in which they are read as one.
// A part that a wire does not have is empty.
type Part []string

// String joins the names as a generated header cites them.
func (p Part) String() string { return strings.Join(p, ", ") }

// Place is where a row is written.
type Place struct {
	File    string // relative to spec/
	Pointer string // JSON Pointer inside File
}

// Under returns the place of a member of the row.
func (p Place) Under(pointer string) Place { return Place{p.File, p.Pointer + pointer} }

// Module holds the names under which a wire's bindings are emitted.
type Module struct {
	Go         string // package name below generated/, "featurewire"
	Python     string // module below _generated/, "feature_wire"
	TypeScript string // file below _generated/, "feature-wire"
}

// ModelKind says which of Model's fields carry meaning.
type ModelKind string

// The kinds of model.
const (
	Record ModelKind = "record" // Fields, Closed, Forbidden, ExactlyOne, AtMostOne
	Union  ModelKind = "union"  // Tag, Variants
	Choice ModelKind = "choice" // Word, Object: the JSON type selects the arm
	Enum   ModelKind = "enum"   // Values, Open
	Alias  ModelKind = "alias"  // Type: a named scalar, such as an identifier class
)

// Model is one named shape.
type Model struct {
	Name     string // UpperCamelCase; used unchanged in all three languages
	Doc      string
	Source   string   // where the fact comes from, as written in the spec
	File     string   // spec file, relative to spec/
	Pointer  string   // JSON Pointer of the definition inside File
	Versions []string // the wire's versions that know it
	Kind     ModelKind
	Envelope bool // violations are reported as the wire's EnvelopeError when this model is the root
	Inferred bool // no source states the shape; it is a reading of them

	Fields    []*Field
	Closed    bool     // unlisted members are refused; otherwise they are kept and written back
	Forbidden []string // members an open record must not carry

	ExactlyOne []string // of these optional members one is present, null not counted
	AtMostOne  []string // of these optional members no two are present, null not counted

	Tag      string // the member whose value selects the variant
	Variants []*Variant

	Word   *Model // an Enum: what a string is judged by
	Object *Model // a Record: what an object is judged by

	Values []EnumValue
	Open   bool // unlisted values are kept and written back unchanged

	Type *Type
}

// Variant is one arm of a union. Its Record holds the tag as a Const field, in its declared place.
type Variant struct {
	TagValue string
	Record   *Model
	Deferred bool // known, but sending it is refused with violation "deferred"
}

// EnumValue is one member of an enumeration.
type EnumValue struct {
	Value string
	Doc   string
}

// Field is one member of a record, in table order: the order in which validation looks at them.
type Field struct {
	Name     string // on the wire; also the Python and TypeScript attribute unless a keyword
	Doc      string
	Type     *Type
	Versions []string // the versions that carry it, where fewer than the model's; else empty
	Required bool     // must be present
	Nullable bool     // null is legal
	Secret   bool     // to be kept out of what is printed
	Inferred bool     // no source states the member or its type; it is a reading of them
}

// TypeKind says which of Type's fields carry meaning.
type TypeKind string

// The kinds of type.
const (
	String  TypeKind = "string"
	Boolean TypeKind = "boolean"
	Integer TypeKind = "integer" // Minimum, Maximum always set
	Number  TypeKind = "number"  // any JSON number; Minimum, Maximum optional
	JSON    TypeKind = "json"    // any value, opaque
	Object  TypeKind = "object"  // any JSON object, opaque
	ID      TypeKind = "id"      // a JSON-RPC id: a string of 1 to MaxBytes bytes or an integer from 0 to Maximum
	Array   TypeKind = "array"   // Elem, MinItems, MaxItems, UniqueBy
	Map     TypeKind = "map"     // an object with free keys: Elem, KeyPattern
	Const   TypeKind = "const"   // exactly the string Const
	Ref     TypeKind = "ref"     // Ref
)

// Type is the shape of a field, an element or an alias.
type Type struct {
	Kind TypeKind

	MinBytes int    // shortest string in UTF-8 bytes
	MaxBytes *Bound // longest string in UTF-8 bytes of the decoded text; nil: the frame bound only
	Pattern  string // anchored regular expression in the subset common to RE2, Python and ECMAScript
	NotBlank bool   // at least one byte that is not ASCII white space
	Controls Controls

	Minimum      *int64
	Maximum      *int64
	MaximumLimit string // the limit Maximum comes from, or empty

	MaxEncodedBytes *Bound // longest compact encoding of a json, object or array value

	Elem       *Type
	MinItems   int
	MaxItems   *Bound
	Unique     bool   // elements (strings) must differ
	UniqueBy   string // elements (records) must differ in this member
	KeyPattern string

	Const string
	Ref   *Model
}

// Controls says which control characters (U+0000 to U+001F and U+007F to U+009F) a string may hold.
type Controls string

// The classes of control characters.
const (
	AnyControls  Controls = ""
	NoControls   Controls = "none"
	TextControls Controls = "text" // line feed and tab
	EditControls Controls = "edit" // line feed, tab and carriage return
)

// Bound is a maximum. Limit names the row of the wire's limit table it comes from, or is empty.
type Bound struct {
	Value int64
	Limit string
}

// Direction of a message.
type Direction string

// The directions.
const (
	HostToExtension Direction = "host_to_extension"
	ExtensionToHost Direction = "extension_to_host"
	ClientToServer  Direction = "client_to_server"
	ServerToClient  Direction = "server_to_client"
	Both            Direction = "both"
)

// Method is one row of the method table. A wire of clients and servers may use one name for a request and for
// a notification the other way.
type Method struct {
	At           Place
	Name         string
	Doc          string
	Source       string
	Versions     []string
	Notification bool
	Direction    Direction
	Gate         string        // feature, capability or manifest declaration that opens it; "-" for none; features joined by + open it together
	GateMode     GateMode      // server wires: what becomes of the gate where a connection named no feature
	Transports   []string      // server wires: "stdio", "websocket"; empty for what no server sends
	Durable      string        // server wires: "yes", "no", or "-" for what only reads
	Lane         string        // server wires: "legacy" for what is sent to older clients alone
	Inferred     bool          // no source states what it carries; it is a reading of them
	Offer        string        // contract wires: "required", "optional" or "unavailable"
	Terminal     string        // contract wires: terminal tag
	Parent       Parent        // how a message of an extension is tied to a request of the host
	Service      Service       // what an SDK calls it; zero for what the SDK does by itself
	Status       string        // "active", "foundation", "deferred" or "retired"
	Shapes       []MethodShape // the first holds for every version that no other one names
}

// GateMode says what becomes of a gate where a connection named no feature.
type GateMode string

// The modes.
const (
	OpenGate   GateMode = "open"   // it is open then
	StrictGate GateMode = "strict" // it is closed then too
)

// Gates returns the features that open the method together; none for a method without a gate.
func (m *Method) Gates() []string {
	if m.Gate == "-" || m.Gate == "" {
		return nil
	}
	return strings.Split(m.Gate, "+")
}

// Carries reports whether messages of the method have shapes at all: params, and a result behind a request.
func (m *Method) Carries() bool {
	first := m.Shapes[0]
	return first.Params != nil && (m.Notification || first.Result != nil)
}

// Parent says how a message of an extension is tied to a request of the host.
type Parent string

// The parent classes.
const (
	ParentNone       Parent = "none"       // to none
	ParentRequired   Parent = "required"   // to a live one
	ParentInitialize Parent = "initialize" // to initialize, before its answer
	ParentRetained   Parent = "retained"   // to a live one, or to a settled one together with its owner
	ParentSettled    Parent = "settled"    // to a settled one together with its owner
	ParentToolCall   Parent = "tool_call"  // to a live tool/call
	ParentOptional   Parent = "optional"   // to a live one, to an owner, or to neither
	ParentOwner      Parent = "owner"      // to an owner alone
)

// Service is the name of a method in an SDK, in words of lower case joined by underscores.
type Service struct{ Noun, Verb string }

// MethodShape is the pair of models of a method for some of its versions. A nil model means none: a
// notification has no result, a deferred method neither.
type MethodShape struct {
	Versions []string
	Params   *Model
	Result   *Type // a ref, an array of refs, or a nullable ref
	Nullable bool  // the result may be null
}

// ErrorCode is one row of the error table.
type ErrorCode struct {
	At      Place
	Name    string // "request_cancelled"
	Code    int64
	Message string // exact text on the wire where Fixed, else the customary one
	Fixed   bool   // the message must be sent exactly so
	Doc     string
	Source  string
}

// ViolationError maps a kind of violation to the error name it is reported as.
type ViolationError struct {
	Violation Violation
	Error     string
}

// Violation is the way a value breaks its model. The three languages share these names.
type Violation string

// The violations, in the order in which a single field is checked.
const (
	NotObject Violation = "not_object" // a record or union is not a JSON object
	Unknown   Violation = "unknown"    // a closed record carries an unlisted member
	Forbidden Violation = "forbidden"  // a member that this version forbids
	Missing   Violation = "missing"    // a required member is absent
	Null      Violation = "null"       // null where it is not legal
	WrongType Violation = "type"       // another JSON type
	Range     Violation = "range"      // a number outside its bounds
	Items     Violation = "items"      // too many or too few elements
	Bytes     Violation = "bytes"      // too many or too few UTF-8 bytes, or a blank string
	Value     Violation = "value"      // outside a closed enumeration, or not the constant
	Pattern   Violation = "pattern"    // outside its identifier class
	Duplicate Violation = "duplicate"  // elements that must differ are equal
	Tag       Violation = "tag"        // missing or unknown union tag
	Deferred  Violation = "deferred"   // a union variant that may not be sent
	BadID     Violation = "id"         // not a legal JSON-RPC id
)

// Violations lists every Violation in order.
var Violations = []Violation{
	NotObject, Unknown, Forbidden, Missing, Null, WrongType, Range, Items, Bytes, Value, Pattern, Duplicate, Tag, Deferred, BadID,
}

// Limit is one row of the limit table.
type Limit struct {
	At         Place
	Name       string
	Value      int64
	Unit       string // "bytes", "items", "ms", "count", "levels", "value"
	Negotiable bool
	Doc        string
	Source     string
}

// Feature is one negotiable feature of a feature wire.
type Feature struct {
	At        Place
	Name      string
	Versions  []string
	Required  bool     // the host requires it
	DependsOn []string // features that must be selected with it
	Offered   string   // when a host offers it
	Sets      []string // server wires: default sets that hold it: "no_tokens", "stdio"
	Origin    string   // server wires: "registry", "server" or "retired"
	Doc       string
	Source    string
}

// Capability is one capability of a contract wire.
type Capability struct {
	At     Place
	Name   string
	Offer  string   // "required", "optional" or "unavailable"
	Status string   // "foundation" or "deferred"
	Needs  []string // methods that must be selected with it
	Doc    string
	Source string
}

// Hook is one point at which a host asks extensions.
type Hook struct {
	At        Place
	Name      string
	Versions  []string
	Feature   string // feature or capability that opens it; "-" for none
	Payload   *Model
	Result    *Model
	Deadline  *Limit // on the wait for one process; nil where another bound rules
	Aggregate *Limit // on the wait for all processes together; nil for none
	Order     string // in which order processes are asked
	Merge     string // what becomes of several answers
	Failure   string // what becomes of a missing or malformed answer
	Deny      string // "honoured", "ignored" or "invalid"
	Doc       string
	Source    string
}

// Table is a named list of rows. Columns[0] is the key.
type Table struct {
	At      Place
	Name    string
	Doc     string
	Source  string
	Columns []string
	Rows    [][]string
}

// Level of a rule.
type Level string

// The levels.
const (
	Must   Level = "must"
	Should Level = "should"
	May    Level = "may"
)

// Area is one subject of a wire's rules, the middle part of their ids.
type Area struct {
	Wire string // name of the wire
	Name string // "CANCEL"
	Doc  string
}

// Rule is one normative sentence.
type Rule struct {
	ID     string
	Wire   string // name of the wire whose rule file holds it
	Area   string // the middle part of the id
	File   string // spec file, relative to spec/
	Level  Level
	Role   string   // "extension", "host", "manifest", "server" or "client"
	Wires  []string // API versions it binds
	Text   string
	Source string // sheet section, seed or settled reading ("S07", "feature 14.3", "canonical op 12")
	// NoPeer says why no faulty peer of its role can turn the rule red; empty where one must.
	NoPeer string
	// ProvenBy names a test or transcript in this repository that proves the rule: instead of a scenario
	// where there is NoPeer, beside one otherwise.
	ProvenBy string
	// Unproven says why nothing in this repository proves the rule yet; empty beside NoPeer, and for a rule
	// that a scenario proves.
	Unproven string
}
