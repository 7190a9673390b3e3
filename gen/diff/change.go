package diff

// Verdict says what a change does to a peer that is not changed.
type Verdict string

// The verdicts, from good to bad.
const (
	Compatible Verdict = "compatible"
	Unknown    Verdict = "unknown"
	Breaking   Verdict = "breaking"
)

// worse reports whether v is a worse verdict than o.
func (v Verdict) worse(o Verdict) bool { return v.rank() > o.rank() }

func (v Verdict) rank() int {
	switch v {
	case Breaking:
		return 2
	case Unknown:
		return 1
	default:
		return 0
	}
}

// Role is a side of a wire. Of a document the author of an extension is the extension.
type Role string

// The roles.
const (
	Extension Role = "extension"
	Host      Role = "host"
	Client    Role = "client"
	Server    Role = "server"
)

// Direction says what the changed peer does with the message.
type Direction string

// The directions.
const (
	Read  Direction = "read"  // it reads what an unchanged peer wrote
	Write Direction = "write" // it writes what an unchanged peer reads
)

// Side is one of the two specs.
type Side string

// The sides.
const (
	Old Side = "old"
	New Side = "new"
)

// Place is where a row or shape is written: in NEW if it is there, else in OLD.
type Place struct {
	Side    Side
	File    string // relative to spec/
	Pointer string // JSON Pointer
}

// Change is one difference between two specs, judged for one role and direction.
type Change struct {
	Wire      string
	Versions  []string // the API versions this holds for, ascending; empty for a wire without versions
	Place     Place
	Subject   string // "ToolCallParams.name", "method tool/call"
	Kind      string // "member_added", see the Kind constants
	Reason    string // what changed, as a clause
	Role      Role
	Direction Direction
	Verdict   Verdict
	Note      string   // why the verdict is unknown, or what makes it compatible; may be empty
	Frozen    bool     // a version that is released already is changed
	Witness   *Witness // of a breaking change
}

// Witness proves that a change is breaking.
type Witness struct {
	Of      string   // what Text is: "params of tool/call", "a frame", "Manifest"
	Text    string   // JSON: legal on side Writer, refused on the other
	Writer  Side     // Old for direction read, New for write
	Given   []string // what else holds, such as which feature is negotiated; may be empty
	Pointer string   // where in Text the reader stops
	Refusal string   // what the reader says
}

// Overall returns the worst verdict. Frozen says that a change of a released version is breaking.
func Overall(changes []Change, frozen bool) Verdict {
	worst := Compatible
	for _, c := range changes {
		v := c.Verdict
		if frozen && c.Frozen {
			v = Breaking
		}
		if v.worse(worst) {
			worst = v
		}
	}
	return worst
}

// The kinds of change.
const (
	KindWire       = "wire"
	KindVersion    = "version"
	KindMethod     = "method"
	KindMessage    = "message"      // request or notification
	KindGate       = "gate"         // what opens a method or hook
	KindParent     = "parent"       // how a message is tied to a request
	KindTerminal   = "terminal"     // how a method ends
	KindParams     = "params"       // a method has params or not
	KindModel      = "model"        // a shape that no message carries
	KindShape      = "shape"        // another JSON type or kind of shape
	KindMember     = "member"       // listed or not
	KindRequired   = "required"     // must be present
	KindNullable   = "nullable"     // null is legal
	KindClosed     = "closed"       // unlisted members
	KindForbidden  = "forbidden"    // a member that must not be there
	KindExactlyOne = "exactly_one"  // exclusive members
	KindAtMostOne  = "at_most_one"  // exclusive members
	KindVariant    = "variant"      // an arm of a union
	KindValue      = "value"        // a value of an enumeration, or a constant
	KindOpen       = "open"         // unlisted values
	KindMinBytes   = "min_bytes"    // of a string
	KindMaxBytes   = "max_bytes"    // of a string
	KindNotBlank   = "not_blank"    // of a string
	KindControls   = "controls"     // of a string
	KindPattern    = "pattern"      // of a string
	KindMinimum    = "minimum"      // of a number
	KindMaximum    = "maximum"      // of a number
	KindMinItems   = "min_items"    // of an array
	KindMaxItems   = "max_items"    // of an array
	KindUnique     = "unique"       // of an array
	KindUniqueBy   = "unique_by"    // of an array
	KindEncoded    = "encoded"      // bytes of the compact encoding
	KindKeyPattern = "key_pattern"  // of a map
	KindLimit      = "limit"        // a row of the limit table
	KindError      = "error"        // a row of the error table
	KindViolation  = "violation"    // which error a broken shape is reported as
	KindFeature    = "feature"      // a row of the feature table
	KindDepends    = "depends"      // what must be selected together
	KindOffered    = "offered"      // when a feature is offered
	KindCapability = "capability"   // a row of the capability table
	KindOffer      = "method_offer" // whether a contract offers a method
	KindHook       = "hook"         // a row of the hook table
	KindHookRule   = "hook_rule"    // its order, merge, failure, denial or time
	KindTable      = "table"        // a fixed table
	KindTransport  = "transport"    // where a method is spoken
	KindDurable    = "durable"      // whether a message or an effect is kept
	KindLane       = "lane"         // which clients a notification is for
	KindSets       = "sets"         // which default sets hold a feature
)
