package extension

import (
	"strconv"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// The Refuse functions make the error answers of the feature wire whose first word carries meaning. The
// detail follows it: what is wrong and what would be right, in lower case.
//
// Source: sheet 15.

// RefuseUnsupported refuses a method that is not negotiated or not served.
func RefuseUnsupported(method string) error { return refuse("unsupported_feature", method) }

// RefuseInvalid refuses what is malformed or comes at the wrong time.
func RefuseInvalid(detail string) error { return refuse("invalid_request", detail) }

// RefuseBounds refuses what is over a bound.
func RefuseBounds(detail string) error { return refuse("bounds_exceeded", detail) }

// RefuseOwner refuses what belongs to no active owner, or to one that is not in the foreground.
func RefuseOwner(detail string) error { return refuse("not_foreground_owner", detail) }

// RefuseBusy refuses to touch a resource that is pinned.
func RefuseBusy(detail string) error { return refuse("resource_busy", detail) }

// RefuseService refuses with the text of a service: an operation on agents, or no service at all.
func RefuseService(text string) error { return errorOf(featurewire.ErrNotForegroundOwner, text) }

// RefuseMalformed refuses malformed params for which no word is agreed, with a text.
func RefuseMalformed(text string) error { return errorOf(featurewire.ErrInvalidParams, text) }

// RefuseFailed says that an operation was admitted and failed.
func RefuseFailed(text string) error { return errorOf(featurewire.ErrInternalError, text) }

func errorOf(row wirejson.ErrorCode, text string) *peer.Error {
	e := peer.Fail(row, nil)
	e.Message = text
	return e
}

// refuse makes the error that a first word stands for.
func refuse(token, detail string) *peer.Error {
	for _, row := range featurewire.TableMessageTokens {
		if row.Token != token {
			continue
		}
		if e, ok := featurewire.ErrorByName(row.Error); ok {
			return errorOf(e, token+" "+detail)
		}
	}
	panic("extension: no error goes with the word " + strconv.Quote(token))
}
