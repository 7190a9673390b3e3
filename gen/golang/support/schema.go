package wirejson

// Schema holds the descriptors of all models of one wire. It is built by generated code and never
// changes.
type Schema struct {
	Models   []Model
	MaxDepth int // the deepest legal level of a value, the root having level 0
	// ErrorNames says how each violation is reported; EnvelopeError replaces it for envelope models.
	ErrorNames    []ErrorName
	EnvelopeError string
	// VersionError replaces EnvelopeError for the member jsonrpc; empty where it does not.
	VersionError string
}

// ErrorName says which row of the error table a violation is reported as.
type ErrorName struct {
	Kind ViolationKind
	Name string
}

func (s *Schema) errorName(kind ViolationKind) string {
	for _, e := range s.ErrorNames {
		if e.Kind == kind {
			return e.Name
		}
	}
	return ""
}

// Find returns the index of a model by name.
func (s *Schema) Find(name string) (int, bool) {
	for i := range s.Models {
		if s.Models[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// Shape says which members of a Model carry meaning.
type Shape uint8

// The shapes.
const (
	RecordShape Shape = iota // Fields, Closed, Forbidden
	UnionShape               // Tag, Variants
	EnumShape                // Values, Open
	AliasShape               // Type
	ChoiceShape              // Word, Object
)

// Model describes one model.
type Model struct {
	Name      string
	Shape     Shape
	Envelope  bool // violations are reported as the schema's EnvelopeError
	Closed    bool // unlisted members are refused
	Open      bool // unlisted values are legal
	Fields    []Field
	Forbidden []string
	// Of the members ExactlyOne names one is present, of those AtMostOne names no two; null does not count.
	ExactlyOne, AtMostOne []string
	Tag                   string
	Variants              []Variant
	Values                []string
	// The arms of a choice, indices into Schema.Models: an enumeration for strings, a record for objects.
	Word, Object int
	Type         Type
}

// Field describes one member of a record. Fields stand in the order in which they are checked.
type Field struct {
	Name     string
	Required bool
	Nullable bool
	Type     Type
}

// Variant is one arm of a union.
type Variant struct {
	Tag      string
	Model    int // index into Schema.Models
	Deferred bool
}

// TypeKind says which members of a Type carry meaning.
type TypeKind uint8

// The kinds of type.
const (
	StringType TypeKind = iota
	BooleanType
	IntegerType
	NumberType
	JSONType
	ObjectType
	IDType
	ArrayType
	MapType
	ConstType
	RefType
)

// Type describes the legal values of a member, an element or an alias.
type Type struct {
	Kind TypeKind
	Ref  int // of a RefType: index into Schema.Models

	MinBytes int
	MaxBytes Bound
	NotBlank bool
	Controls Controls
	Const    string
	Pattern  *Pattern // of a string, or of the keys of a map

	HasMin, HasMax bool
	Min, Max       int64
	MaxLimit       string // the limit Max comes from

	MaxEncodedBytes Bound

	Elem     *Type
	MinItems int
	MaxItems Bound
	Unique   bool
	UniqueBy string
}

// Controls says which control characters a string may hold.
type Controls uint8

// The classes of control characters: U+0000 to U+001F and U+007F to U+009F.
const (
	AnyControls  Controls = iota
	NoControls            // none
	TextControls          // line feed and tab
	EditControls          // line feed, tab and carriage return
)

// Bound is a maximum; 0 means none.
type Bound struct {
	Max   int
	Limit string // the limit it comes from, for messages
}
