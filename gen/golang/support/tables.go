package wirejson

// Direction says who sends a method.
type Direction string

// The directions.
const (
	HostToExtension Direction = "host_to_extension"
	ExtensionToHost Direction = "extension_to_host"
	ClientToServer  Direction = "client_to_server"
	ServerToClient  Direction = "server_to_client"
	BothDirections  Direction = "both"
)

// Parent says how a message of an extension is tied to a request of the host.
type Parent string

// The parent classes. Methods that extensions do not send have none.
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

// Method is one row of a wire's method table.
type Method struct {
	Name         string
	Versions     []string // API versions that know it
	Notification bool     // never answered
	Direction    Direction
	Gate         string   // feature, capability or declaration that opens it; "-" for none; features joined by + open it together
	GateStrict   bool     // server wires: the gate is closed too where a connection named no feature
	Transports   []string // server wires: "stdio", "websocket"; none for what no server sends
	Durable      string   // server wires: "yes", "no", or "-" for what only reads
	Lane         string   // server wires: "legacy" for what is sent to older clients alone
	Offer        string   // contract wires: "required", "optional" or "unavailable"
	Terminal     string   // contract wires: how it ends
	Status       string   // "active", "foundation", "deferred" or "retired"
	Parent       Parent   // how a message of an extension is tied to a request of the host
	Service      string   // what an SDK calls it, noun and verb joined by a full stop; empty for none
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
	Sets      []string // server wires: default sets that hold it, "no_tokens" and "stdio"
	Origin    string   // server wires: "registry" for what clients ask for, "server" for what servers add, "retired"
}

// Hook is one point at which a host asks extensions.
type Hook struct {
	Name        string
	Versions    []string // API versions that know it
	Feature     string   // feature or capability that opens it; "-" for none
	Payload     string   // model
	Result      string   // model
	DeadlineMS  int64    // the wait for one process; 0 where another bound rules
	AggregateMS int64    // the wait for all processes together; 0 for none
	Deny        string   // what becomes of a disposition to deny: "honoured", "ignored" or "invalid"
}

// Capability is one capability of a contract wire.
type Capability struct {
	Name   string
	Offer  string   // "required", "optional" or "unavailable"
	Status string   // "foundation" or "deferred"
	Needs  []string // methods that must be selected with it
}
