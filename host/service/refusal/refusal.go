// Package refusal answers malformed requests of the services whose error messages begin with a word that
// carries meaning: composer, shortcuts, session entries, injection, active tools, terminal, completion and
// remote UI.
//
// Rule: EXT04-ERR-006. Sheet: feature 15.
package refusal

import (
	"errors"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
)

// Of is the refusal for the error of a generated decoder: what is over a bound is told apart from what is
// malformed.
func Of(err error) error {
	var v *wirejson.Violation
	if !errors.As(err, &v) {
		return extension.RefuseInvalid(err.Error())
	}
	switch v.Kind {
	case wirejson.ByteCount, wirejson.ItemCount:
		return extension.RefuseBounds(v.Error())
	}
	return extension.RefuseInvalid(v.Error())
}
