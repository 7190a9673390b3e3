package hostmonitor

import (
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/rulebook"
)

// ruleset says which rule a wire has for each check. Empty: it has none, and what is found has no rule.
type ruleset struct {
	frame, bound, spelling                     string
	first, alone, versions, flags, contributes string
	ids, kind, method, answers                 string
	cancelTwice, cancelForeign, behindShutdown string
	frozenInit, frozenCancel, frozenCall       string
	wording                                    string
}

var featureRules = ruleset{
	frame: "EXT04-FRAME-011", bound: "EXT04-FRAME-012",
	first: "EXT04-INIT-008", alone: "EXT04-INIT-008", versions: "EXT04-INIT-009", flags: "EXT04-INIT-013", contributes: "EXT04-INIT-012",
	ids: "EXT04-ENV-014", method: "EXT04-ORDER-011", answers: "EXT04-ENV-015",
	cancelTwice: "EXT04-CANCEL-010", behindShutdown: "EXT04-SHUT-007",
}

var canonicalRules = ruleset{
	frame: "EXT03-FRAME-009", bound: "EXT03-FRAME-016", spelling: "EXT03-CANON-013",
	first: "EXT03-INIT-029", versions: "EXT03-INIT-037", flags: "EXT03-INIT-031", contributes: "EXT03-INIT-038",
	ids: "EXT03-ENV-022", kind: "EXT03-ENV-023", method: "EXT03-METHOD-008", answers: "EXT03-ORDER-015",
	cancelForeign: "EXT03-CANCEL-010", behindShutdown: "EXT03-SHUT-012", wording: "EXT03-ERR-012",
}

func rulesOf(d dialect.Dialect) ruleset {
	if d.Canonical() {
		return canonicalRules
	}
	r := featureRules
	if !d.Negotiates() {
		r.frozenInit, r.frozenCancel, r.frozenCall = "EXT01-INIT-003", "EXT01-CANCEL-002", "EXT01-CALL-001"
	}
	return r
}

// Rules lists the rules that a host of an API version can be found to break, sorted.
func Rules(d dialect.Dialect) []string {
	r := rulesOf(d)
	all := []string{
		r.frame, r.bound, r.spelling, r.first, r.alone, r.versions, r.flags, r.contributes, r.ids, r.kind, r.method, r.answers,
		r.cancelTwice, r.cancelForeign, r.behindShutdown, r.frozenInit, r.frozenCancel, r.frozenCall, r.wording,
	}
	if !d.Canonical() {
		for _, id := range offerRules {
			if rulebook.BindsID(id, d.API()) {
				all = append(all, id)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(id string) bool { return id == "" })
}
