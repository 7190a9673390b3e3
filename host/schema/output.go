package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Keywords that hold further schemas.
const (
	keywordType       = "type"
	keywordProperties = "properties"
	keywordItems      = "items"
	keywordAdditional = "additionalProperties"
)

var combinations = []string{"allOf", "anyOf", "oneOf"}

// ParametersOK reports whether the parameters of a tool of the feature wire are the schema of an object.
//
// Rule: EXT04-TOOL-003.
func ParametersOK(text json.RawMessage) error {
	document, err := wirejson.Parse(text, featurewire.MaxDepth)
	if err != nil {
		return err
	}
	defer document.Release()
	if !document.Root().Member(keywordType).TextEquals("object") {
		return errors.New(`parameters do not have the type "object"`)
	}
	return nil
}

// OutputOK reports whether a schema may describe structured content on the feature wire: its keywords
// are listed ones, its nodes are objects, and it stays within its bounds.
//
// Rules: EXT04-TOOL-004, EXT04-TOOL-005.
func OutputOK(text json.RawMessage) error {
	document, err := wirejson.Parse(text, featurewire.MaxOutputSchemaDepth)
	if err != nil {
		return fmt.Errorf("output schema of more than %d levels or no JSON: %w", featurewire.MaxOutputSchemaDepth, err)
	}
	defer document.Release()
	return outputNode(document.Root())
}

func outputNode(node wirejson.Value) error {
	if node.Kind() != wirejson.KindObject {
		return fmt.Errorf("output schema has a value of kind %s where a schema object is wanted", node.Kind())
	}
	for members := node.Members(); members.Next(); {
		keyword := string(members.Key())
		if !slices.Contains(featurewire.TableOutputSchemaKeywords, keyword) {
			return fmt.Errorf("output schema uses the keyword %q, which is not supported", keyword)
		}
		if err := outputMember(keyword, members.Value()); err != nil {
			return err
		}
	}
	return nil
}

func outputMember(keyword string, value wirejson.Value) error {
	switch {
	case keyword == keywordProperties:
		return outputProperties(value)
	case keyword == keywordItems:
		return outputNode(value)
	case keyword == keywordAdditional && value.Kind() != wirejson.KindBool:
		return outputNode(value)
	case slices.Contains(combinations, keyword):
		for elements := value.Elements(); elements.Next(); {
			if err := outputNode(elements.Value()); err != nil {
				return err
			}
		}
	}
	return nil
}

func outputProperties(value wirejson.Value) error {
	if value.Kind() != wirejson.KindObject {
		return fmt.Errorf("output schema has a value of kind %s as %s", value.Kind(), keywordProperties)
	}
	for members := value.Members(); members.Next(); {
		if length := len(members.Key()); length > featurewire.MaxOutputSchemaKeyBytes {
			return fmt.Errorf("output schema has a property name of %d bytes, want at most %d", length, featurewire.MaxOutputSchemaKeyBytes)
		}
		if err := outputNode(members.Value()); err != nil {
			return err
		}
	}
	return nil
}
