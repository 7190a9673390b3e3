package toolschema

import (
	"slices"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/octet-dev/octet/generated/wirejson"
)

// Problem is the first place at which a value breaks a schema.
type Problem struct {
	Kind    wirejson.ViolationKind
	Pointer string // RFC 6901, from the root of the value; "" is the root. A missing member is where it would be
	Detail  string
}

// Error gives the place and what is wrong there.
func (p *Problem) Error() string { return "at " + strconv.Quote(p.Pointer) + ": " + p.Detail }

// firstProblem returns the leaf with the smallest pointer, and of those at one place the one with the
// smallest text, so that equal values give equal messages.
func firstProblem(err error) error {
	invalid, ok := err.(*santhosh.ValidationError)
	if !ok {
		return &Problem{Kind: wirejson.WrongValue, Detail: err.Error()}
	}
	printer := message.NewPrinter(language.English)
	var first *Problem
	var visit func(*santhosh.ValidationError)
	visit = func(e *santhosh.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		p := problemAt(e, printer)
		if first == nil || p.Pointer < first.Pointer || (p.Pointer == first.Pointer && p.Detail < first.Detail) {
			first = p
		}
	}
	visit(invalid)
	return first
}

// problemAt names a broken keyword as the models of the wire name what they have too.
func problemAt(e *santhosh.ValidationError, printer *message.Printer) *Problem {
	p := &Problem{Kind: wirejson.WrongValue, Pointer: pointer(e.InstanceLocation), Detail: e.ErrorKind.LocalizedString(printer)}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		name := slices.Min(k.Missing)
		p.Kind, p.Pointer = wirejson.Missing, p.Pointer+pointer([]string{name})
		p.Detail = "the required member " + strconv.Quote(name) + " is absent; add it"
	case *kind.AdditionalProperties:
		name := slices.Min(k.Properties)
		p.Kind, p.Pointer = wirejson.Unknown, p.Pointer+pointer([]string{name})
		p.Detail = "the member " + strconv.Quote(name) + " is not in the schema; leave it out"
	case *kind.Type:
		switch {
		case k.Got == "null":
			p.Kind = wirejson.NullValue
		case slices.Contains(k.Want, "object"):
			p.Kind = wirejson.NotObject
		default:
			p.Kind = wirejson.WrongType
		}
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		p.Kind = wirejson.OutOfRange
	case *kind.MinItems, *kind.MaxItems:
		p.Kind = wirejson.ItemCount
	case *kind.MinLength, *kind.MaxLength:
		p.Kind = wirejson.ByteCount
	case *kind.Pattern:
		p.Kind = wirejson.WrongClass
	case *kind.UniqueItems:
		p.Kind = wirejson.Duplicate
	}
	return p
}

func pointer(tokens []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(escape.Replace(token))
	}
	return b.String()
}
