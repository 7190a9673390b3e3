package faultyhost

import fw "github.com/octet-dev/octet/generated/featurewire"

// askedPeople are faults in questions to a person, secrets and leave.
var askedPeople = []Fault{
	{"confirms-by-word", "EXT04-CONFIRM-002", current, "answers a confirmation with a word", grants(fw.MethodConfirmationRequest, "Plain?", `{"confirmed":"no"}`)},
	{"confirms-for-nobody", "EXT04-CONFIRM-003", frozen, "confirms what nobody was asked", grants(fw.MethodConfirmationRequest, "Alone?", `{"confirmed":true}`)},
	{"confirms-by-default", "EXT04-CONFIRM-005", middle, "takes the suggestion for the answer", grants(fw.MethodConfirmationRequest, "By default?", `{"confirmed":true}`)},
	{"refuses-undeclared-confirmations", "EXT04-CONFIRM-004", current, "refuses a confirmation that the manifest does not declare", refuses(fw.MethodConfirmationRequest, "", "unknown_method", "unsupported_feature")},
	{"takes-any-confirmation", "EXT04-CONFIRM-008", current, "answers a malformed confirmation", grants(fw.MethodConfirmationRequest, `"default":"yes"`, `{"confirmed":false}`)},
	{"confirms-for-settled-calls", "EXT04-CONFIRM-008", middle, "answers a confirmation without an active parent", grants(fw.MethodConfirmationRequest, `"parent_request_id":1,`, `{"confirmed":false}`)},
	{"gates-input", "EXT04-INPUT-002", current, "opens input by a feature", refuses(fw.MethodInputRequest, "Undeclared?", "unknown_method", "unsupported_feature")},
	{"invents-input", "EXT04-INPUT-003", middle, "answers an empty text for who is not there", grants(fw.MethodInputRequest, "Anybody?", `{"value":""}`)},
	{"asks-blanks", "EXT04-INPUT-004", current, "asks a person nothing", grants(fw.MethodInputRequest, `" \t"`, `{"value":null}`)},
	{"asks-at-any-length", "EXT04-INPUT-004", middle, "asks a person at any length", grants(fw.MethodInputRequest, "pppppppp", `{"value":null}`)},
	{"takes-any-input", "EXT04-INPUT-007", current, "answers malformed input requests", grants(fw.MethodInputRequest, "Secret?", `{"value":null}`)},
	{"asks-for-nobody", "EXT04-INPUT-007", middle, "asks without an active parent", grants(fw.MethodInputRequest, "Parent?", `{"value":null}`)},
	{"leaves-questions-open", "EXT04-INPUT-006", current, "does not tell that a question is over with its call", quirk{does: leavesOpen}},
	{"leaves-questions-open", "EXT04-INPUT-006", middle, "does not tell that a question is over with its call", quirk{does: leavesOpen}},
	{"says-nothing-of-too-many", "EXT04-LIMIT-006", current, "says nothing of one question too many", ignores(fw.MethodConfirmationRequest, "One too many?")},
	{"words-too-many-otherwise", "EXT04-LIMIT-006", frozen, "refuses one question too many without the word for it", refuses(fw.MethodConfirmationRequest, "One too many?", "invalid_params", "")},
	{"gates-snapshots", "EXT04-PRES-007", current, "refuses snapshots for want of a feature", answersNotices(fw.MethodPresentationUpdate)},
	{"names-secrets", "EXT04-SECRET-003", current, "gives a secret under another member", grants(fw.MethodSecretGet, "peer_key", `{"secret":"x"}`)},
	{"gives-undeclared-secrets", "EXT04-SECRET-004", middle, "gives secrets that the manifest does not declare", grants(fw.MethodSecretGet, "peer_other", `{"value":"x"}`)},
	{"looks-any-name-up", "EXT04-SECRET-004", current, "looks any name up", refuses(fw.MethodSecretGet, "nnnnnnnn", "secret_unavailable", "")},
	{"gives-secrets-to-the-settled", "EXT04-SECRET-005", middle, "gives secrets to what is answered", grants(fw.MethodSecretGet, `"parent_request_id":1,`, `{"value":"x"}`)},
	{"tells-lost-secrets", "EXT04-SECRET-006", current, "says which secret is missing", refuses(fw.MethodSecretGet, "peer_lost", "secret_unavailable", "peer_lost")},
	{"decides-otherwise", "EXT04-POLICY-003", current, "answers a decision of its own", grants(fw.MethodPolicyEvaluate, `"look"`, `{"decision":"maybe"}`)},
	{"takes-tokens-unselected", "EXT04-POLICY-005", middle, "takes an approval although approvals were not selected", grants(fw.MethodPolicyEvaluate, "00000000", `{"decision":"deny"}`)},
	{"approves-other-intents", "EXT04-POLICY-006", current, "takes an approval for another intent", grants(fw.MethodPolicyEvaluate, `"three"`, `{"decision":"allow"}`)},
	{"denies-the-approved", "EXT04-POLICY-007", middle, "denies what was approved", grants(fw.MethodPolicyEvaluate, `"operation":"one","kind"`, `{"decision":"deny"}`)},
	{"approves-twice", "EXT04-POLICY-008", current, "takes an approval twice", grants(fw.MethodPolicyEvaluate, `"target":{}},"approval_token"`, `{"decision":"allow"}`)},
}
