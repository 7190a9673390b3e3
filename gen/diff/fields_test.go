package diff

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/model"
)

// The parts of the model: what Compare looks at, and behind a bar what it leaves out on purpose. A new part
// of the model belongs into one of the two, with a curated pair in the first case.
var modelParts = map[reflect.Type]string{
	reflect.TypeFor[model.Spec]():           "Wires | Areas Rules",
	reflect.TypeFor[model.Wire]():           "Name Family Versions EnvelopeError VersionError MaxDepth Models Methods Errors Violations Limits Features Capabilities Hooks Tables Files | Module Title Doc",
	reflect.TypeFor[model.Model]():          "Versions Kind Envelope Fields Closed Forbidden ExactlyOne AtMostOne Tag Variants Word Object Values Open Type Name File Pointer | Doc Source Inferred",
	reflect.TypeFor[model.Variant]():        "TagValue Record Deferred |",
	reflect.TypeFor[model.EnumValue]():      "Value | Doc",
	reflect.TypeFor[model.Field]():          "Name Type Versions Required Nullable | Doc Secret Inferred",
	reflect.TypeFor[model.Type]():           "Kind MinBytes MaxBytes Pattern NotBlank Controls Minimum Maximum MaximumLimit MaxEncodedBytes Elem MinItems MaxItems Unique UniqueBy KeyPattern Const Ref |",
	reflect.TypeFor[model.Bound]():          "Value Limit |",
	reflect.TypeFor[model.Method]():         "At Name Versions Notification Direction Gate GateMode Transports Durable Lane Offer Terminal Parent Status Shapes | Doc Source Service Inferred",
	reflect.TypeFor[model.MethodShape]():    "Versions Params Result Nullable |",
	reflect.TypeFor[model.ErrorCode]():      "At Name Code Message Fixed | Doc Source",
	reflect.TypeFor[model.ViolationError](): "Violation Error |",
	reflect.TypeFor[model.Limit]():          "At Name Value Unit Negotiable | Doc Source",
	reflect.TypeFor[model.Feature]():        "At Name Versions Required DependsOn Offered Sets Origin | Doc Source",
	reflect.TypeFor[model.Capability]():     "At Name Offer Status Needs | Doc Source",
	reflect.TypeFor[model.Hook]():           "At Name Versions Feature Payload Result Deadline Aggregate Order Merge Failure Deny | Doc Source",
	reflect.TypeFor[model.Table]():          "At Name Columns Rows | Doc Source",
}

func TestCompare_knowsEveryPartOfTheModel(t *testing.T) {
	for typ, list := range modelParts {
		known := strings.Fields(strings.Replace(list, "|", " ", 1))
		var have []string
		for i := range typ.NumField() {
			have = append(have, typ.Field(i).Name)
		}
		slices.Sort(known)
		slices.Sort(have)
		if !slices.Equal(known, have) {
			t.Errorf("%s has the parts %v, Compare knows %v: teach it the new ones", typ, have, known)
		}
	}
}
