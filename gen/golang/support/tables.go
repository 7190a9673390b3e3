package wirejson

// Direction says who sends a method.
type Direction string

// The directions.
const (
	HostToExtension Direction = "host_to_extension"
	ExtensionToHost Direction = "extension_to_host"
	BothDirections  Direction = "both"
)

// Method is one row of a wire's method table.
type Method struct {
	Name         string
	Versions     []string // API versions that know it
	Notification bool     // never answered
	Direction    Direction
	Gate         string // feature, capability or declaration that opens it; "-" for none
	Offer        string // contract wires: "required", "optional" or "unavailable"
	Terminal     string // contract wires: how it ends
	Status       string // "active", "foundation" or "deferred"
	Shapes       []MethodShape
}

// Shape returns the models of the method in an API version.
func (m *Method) Shape(version string) (MethodShape, bool) {
	for _, s := range m.Shapes {
		for _, v := range s.Versions {
			if v == version {
				return s, true
			}
		}
	}
	return MethodShape{}, false
}

// MethodShape names the models of a method in some API versions. An empty name means none.
type MethodShape struct {
	Versions []string
	Params   string
	Result   string
	// ResultArray says that the result is an array of Result; ResultNullable that it may be null.
	ResultArray    bool
	ResultNullable bool
}

// ErrorCode is one row of a wire's error table.
type ErrorCode struct {
	Name    string
	Code    int64
	Message string // exact text on the wire where Fixed, else the customary one
	Fixed   bool
}

// Limit is one row of a wire's limit table.
type Limit struct {
	Name       string
	Value      int64
	Unit       string // "bytes", "items", "ms", "count", "levels" or "value"
	Negotiable bool
}

// Feature is one negotiable feature of a feature wire.
type Feature struct {
	Name      string
	Versions  []string // API versions that know it
	Required  bool     // the host requires it
	DependsOn []string // features that must be selected with it
	Offered   string   // when a host offers it
}

// Capability is one capability of a contract wire.
type Capability struct {
	Name   string
	Offer  string   // "required", "optional" or "unavailable"
	Status string   // "foundation" or "deferred"
	Needs  []string // methods that must be selected with it
}
