package manifest

import (
	"fmt"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// flags judges the defaults of flags.
func (j *judge) flags() {
	for i := range j.doc.elements("contributes", "flags") {
		pointer := fmt.Sprintf("/contributes/flags/%d", i)
		value, kind := j.doc.values[pointer+"/default"], j.doc.values[pointer+"/type"]
		if value == nil || kind == nil || j.broken(pointer+"/type") {
			continue
		}
		rule, message := defaultProblem(j.doc.elementName(pointer), manifestdoc.FlagType(kind.Text), value)
		if rule != "" {
			j.error(rule, "flags", pointer+"/default", message, "write a default of the type "+kind.Text)
		}
	}
}

// defaultProblem judges one default; an empty rule means that it is fine.
func defaultProblem(name string, kind manifestdoc.FlagType, value *tomltree.Node) (rule, message string) {
	switch kind {
	case manifestdoc.FlagTypeBoolean:
		if value.Kind != tomltree.Boolean {
			return "MAN-FLAG-006", wrongFlag(name, "a boolean")
		}
	case manifestdoc.FlagTypeString:
		if value.Kind != tomltree.String {
			return "MAN-FLAG-006", wrongFlag(name, "a string")
		}
		if err := stringFlag(name, value.Text); err != nil {
			return "MAN-FLAG-007", err.Error()
		}
	case manifestdoc.FlagTypeInteger:
		if value.Kind != tomltree.Integer {
			return "MAN-FLAG-006", wrongFlag(name, "an integer")
		}
		if err := integerFlag(name, value.Int); err != nil {
			return "MAN-FLAG-008", err.Error()
		}
	}
	return "", ""
}

func wrongFlag(name, want string) string {
	return fmt.Sprintf("extension flag `%s` value must be %s", name, want)
}

func stringFlag(name, value string) error {
	if len(value) > manifestdoc.MaxFlagStringBytes {
		return fmt.Errorf("extension flag `%s` string value exceeds %d bytes", name, manifestdoc.MaxFlagStringBytes)
	}
	return nil
}

// integerFlag takes integers beyond 64 bits as the nearest one, which is out of range too.
func integerFlag(name string, value int64) error {
	if value < -manifestdoc.MaxPortableJSONInteger || value > manifestdoc.MaxPortableJSONInteger {
		return fmt.Errorf("extension flag `%s` integer value exceeds the portable JSON range", name)
	}
	return nil
}
