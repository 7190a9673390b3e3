// Package services carries out the requests that are about the server and not about a session at work: profiles and
// their models, where work may be done, and how things stand.
//
// Sheet: OUP services 12, 13, 16 to 19, 23.
package services

import (
	"maps"
	"os"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/profile"
	"github.com/octet-dev/octet/host/oup/rpc"
)

// Rows are the handlers with what they work on.
type Rows struct {
	House    *house.House
	Profiles *profile.Store
	// Models are the models as a profile has them.
	Models func(profile string) (profile.Models, error)
	// Default is the model that a new session of a profile gets where the operator names none; empty: none.
	Default func(profile string) string
	// Model is the one that the operator named for every session; empty: none.
	Model   string
	Home    string // of the user
	Release string
	Started time.Time
	Token   bool // clients must show one
	Now     func() time.Time
}

// Handlers are the handlers by method.
func (r *Rows) Handlers() map[string]rpc.Handler {
	all := map[string]rpc.Handler{}
	for _, group := range []map[string]rpc.Handler{r.models(), r.people(), r.places(), r.states()} {
		maps.Copy(all, group)
	}
	return all
}

// kinds are the codes of details that services use, by their word.
var kinds = func() map[string]wirejson.ErrorCode {
	codes := map[string]wirejson.ErrorCode{}
	for _, row := range oupwire.TableServiceErrorKinds {
		for _, e := range oupwire.Errors {
			if e.Name == row.Error {
				codes[row.Kind] = e
			}
		}
	}
	return codes
}()

// refuse makes an error whose detail is a word of the table, which says the code too. It panics on a word that the
// table does not have.
func refuse(call *rpc.Call, kind, message string) *rpc.Error {
	code, known := kinds[kind]
	if !known {
		panic("oup services: the table has no kind " + kind)
	}
	e := rpc.Fail(code, call.Method+": "+message)
	e.Data = oupwire.ErrorData{Kind: kind, Method: wirejson.Some(call.Method)}
	return e
}

func invalid(call *rpc.Call, err error) *rpc.Error {
	return rpc.Fail(oupwire.ErrInvalidParams, call.Method+": "+err.Error())
}

func notFound(call *rpc.Call, kind, id string, err error) *rpc.Error {
	e := rpc.Fail(oupwire.ErrResourceNotFound, call.Method+": "+err.Error())
	e.Data = oupwire.NotFoundErrorData{ResourceType: kind, Identifier: id}
	return e
}

// writable reports whether a file can be made in a directory.
func writable(directory string) bool {
	probe, err := os.CreateTemp(directory, ".octet-probe-*")
	if err != nil {
		return false
	}
	_ = probe.Close()
	return os.Remove(probe.Name()) == nil
}
