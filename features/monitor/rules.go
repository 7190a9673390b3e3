package monitor

import (
	"maps"
	"reflect"
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/spelling"
	"github.com/octet-dev/octet/generated/featurewire"
)

// ruleset says which rule a wire has for each check. An empty id: the wire has none, and nothing is
// reported.
type ruleset struct {
	spelling map[spelling.Class]string

	lineFeed, frameBound, firstFrameBound, notAnObject, stray         string
	beforeInitialize, duringInitialize, afterShutdown, owedAtShutdown string
	version, envelopeMember, neither, both, kind, nullResult          string
	nullID, changedID, unknownID, twice                               string
	errorShape, errorMember, errorCode, errorMessage                  string
	parseErrorSent, unknownMethodData, versionData, cancelData        string
	needlessCancel, behindShutdown, interrupted                       string

	notOpen, notificationID, requestID, numericID, ownID, reusedID, ownWaiting, foreignCancel, cancelTwice string

	progressGate, progressRequest, progressSequence, progressFirst, progressType string
	progressStatus, progressOutput, progressChunk                                string
	noticeGate, noticeShape, noticeParent, noticeEscape                          string

	initShape, initVersion, initNames, catalog, toolMembers, toolName, toolTwice string
	toolDescription, toolParameters, outputSchema, outputSchemaSize, command     string
	protocolVersion, featuresMissing, featuresUnoffered, featuresTwice           string
	concurrency, lifecycleEvents, featureAlone, featureUnknown                   string
	contractMembers, contractIdentity, capabilityMissing, capabilityUnoffered    string
	methodMissing, methodUnoffered, selectedTwice, methodOwner, hookPair         string
	hooksWanted, hooksUnwanted, limits, limitOver                                string

	resultMembers, content, isError, metadata, partType, partArtifact, textPart string
	structuredPresence, structuredSchema, structuredSize, shutdownResult        string

	frozenProgress, frozenCancel, frozenSchema, frozenProtocol, frozenResult, frozenParent string

	insideInitialize string // the method that may come before the answer to initialize; no rule
}

func rulesOf(d dialect.Dialect) ruleset {
	switch {
	case d.Canonical():
		return canonicalRules
	case d.Negotiates():
		return featureRules
	default:
		return frozenRules()
	}
}

var canonicalRules = ruleset{
	spelling: map[spelling.Class]string{
		spelling.NotJSON:         "EXT03-CANON-011",
		spelling.Empty:           "EXT03-FRAME-003",
		spelling.ByteOrderMark:   "EXT03-FRAME-008",
		spelling.InvalidUTF8:     "EXT03-FRAME-007",
		spelling.CarriageReturn:  "EXT03-FRAME-002",
		spelling.MoreValues:      "EXT03-FRAME-004",
		spelling.WhiteSpace:      "EXT03-CANON-001",
		spelling.KeyOrder:        "EXT03-CANON-002",
		spelling.DuplicateKey:    "EXT03-CANON-003",
		spelling.ShortEscape:     "EXT03-CANON-004",
		spelling.ControlEscape:   "EXT03-CANON-005",
		spelling.NeedlessEscape:  "EXT03-CANON-006",
		spelling.LoneSurrogate:   "EXT03-CANON-007",
		spelling.Fraction:        "EXT03-CANON-008",
		spelling.Exponent:        "EXT03-CANON-008",
		spelling.NegativeZero:    "EXT03-CANON-008",
		spelling.IntegerTooLarge: "EXT03-CANON-009",
		spelling.TooDeep:         "EXT03-CANON-010",
	},
	lineFeed: "EXT03-FRAME-001", frameBound: "EXT03-FRAME-005", firstFrameBound: "EXT03-FRAME-006",
	notAnObject: "EXT03-PROC-001", stray: "EXT03-PROC-001",
	beforeInitialize: "EXT03-ORDER-001", duringInitialize: "EXT03-ORDER-002",
	afterShutdown: "EXT03-SHUT-003", owedAtShutdown: "EXT03-SHUT-004",
	version: "EXT03-ENV-001", envelopeMember: "EXT03-ENV-002", neither: "EXT03-ENV-004", both: "EXT03-ENV-003",
	kind: "EXT03-ENV-004", nullResult: "EXT03-ENV-005",
	nullID: "EXT03-ENV-006", changedID: "EXT03-ENV-006", unknownID: "EXT03-ORDER-007", twice: "EXT03-ORDER-006",
	errorShape: "EXT03-ERR-001", errorMember: "EXT03-ERR-003", errorCode: "EXT03-ERR-001", errorMessage: "EXT03-ERR-002",
	parseErrorSent: "EXT03-ERR-005", unknownMethodData: "EXT03-ERR-006", versionData: "EXT03-ERR-007", cancelData: "EXT03-ERR-008",

	notOpen: "EXT03-ORDER-004", foreignCancel: "EXT03-CANCEL-009", notificationID: "EXT03-ENV-026", requestID: "EXT03-ENV-026",
	ownID: "EXT03-ENV-024", reusedID: "EXT03-ENV-025",

	initShape: "EXT03-INIT-003", initVersion: "EXT03-INIT-002", initNames: "EXT03-INIT-009", catalog: "EXT03-INIT-004",
	toolMembers: "EXT03-INIT-005", toolName: "EXT03-INIT-006", toolTwice: "EXT03-INIT-007", toolDescription: "EXT03-INIT-008",
	contractMembers: "EXT03-CONTRACT-001", contractIdentity: "EXT03-CONTRACT-002",
	capabilityMissing: "EXT03-CONTRACT-003", capabilityUnoffered: "EXT03-CONTRACT-004",
	methodMissing: "EXT03-CONTRACT-005", methodUnoffered: "EXT03-CONTRACT-006", selectedTwice: "EXT03-CONTRACT-007",
	methodOwner: "EXT03-CONTRACT-008", hookPair: "EXT03-CONTRACT-009", hooksWanted: "EXT03-CONTRACT-010", hooksUnwanted: "EXT03-CONTRACT-011",
	limits: "EXT03-CONTRACT-012", limitOver: "EXT03-CONTRACT-013",

	resultMembers: "EXT03-TOOL-001", content: "EXT03-TOOL-002", isError: "EXT03-TOOL-003", metadata: "EXT03-TOOL-004",
	partType: "EXT03-TOOL-005", textPart: "EXT03-TOOL-006", shutdownResult: "EXT03-SHUT-001", behindShutdown: "EXT03-SHUT-008",
}

var featureRules = ruleset{
	spelling: map[spelling.Class]string{
		spelling.NotJSON:        "EXT04-FRAME-001",
		spelling.ByteOrderMark:  "EXT04-FRAME-001",
		spelling.MoreValues:     "EXT04-FRAME-001",
		spelling.InvalidUTF8:    "EXT04-FRAME-003",
		spelling.Empty:          "EXT04-FRAME-008",
		spelling.CarriageReturn: "EXT04-FRAME-008",
		spelling.WhiteSpace:     "EXT04-FRAME-009",
	},
	lineFeed: "EXT04-FRAME-002", frameBound: "EXT04-FRAME-004", notAnObject: "EXT04-FRAME-001", stray: "EXT04-FRAME-001",
	beforeInitialize: "EXT04-ORDER-001", duringInitialize: "EXT04-ORDER-001",
	afterShutdown: "EXT04-SHUT-004", owedAtShutdown: "EXT04-SHUT-003",
	version: "EXT04-ENV-001", neither: "EXT04-ENV-002", both: "EXT04-ENV-002", kind: "EXT04-ENV-001",
	nullID: "EXT04-ENV-003", changedID: "EXT04-ENV-004", unknownID: "EXT04-ENV-004", twice: "EXT04-ENV-006",
	errorShape: "EXT04-ENV-008", errorCode: "EXT04-ERR-005", cancelData: "EXT04-CANCEL-009", needlessCancel: "EXT04-CANCEL-007",

	notOpen: "EXT04-ORDER-005", requestID: "EXT04-ENV-020", cancelTwice: "EXT04-CANCEL-016", notificationID: "EXT04-ENV-011", numericID: "EXT04-ENV-012", ownID: "EXT04-ENV-009",
	reusedID: "EXT04-ENV-010", ownWaiting: "EXT04-LIMIT-002", foreignCancel: "EXT04-CANCEL-008",

	progressGate: "EXT04-PROG-001", progressRequest: "EXT04-PROG-002", progressSequence: "EXT04-PROG-003", progressFirst: "EXT04-PROG-007",
	progressType: "EXT04-PROG-004", progressStatus: "EXT04-PROG-005", progressOutput: "EXT04-PROG-006", progressChunk: "EXT04-PROG-008",
	noticeGate: "EXT04-NOTE-001", noticeShape: "EXT04-NOTE-002", noticeParent: "EXT04-NOTE-003", noticeEscape: "EXT04-NOTE-004",

	initShape: "EXT04-INIT-002", initVersion: "EXT04-INIT-002", initNames: "EXT04-INIT-003",
	toolDescription: "EXT04-TOOL-002", toolParameters: "EXT04-TOOL-003", outputSchema: "EXT04-TOOL-004", outputSchemaSize: "EXT04-TOOL-005",
	command:         "EXT04-TOOL-006",
	protocolVersion: "EXT04-NEG-001", featuresMissing: "EXT04-NEG-002", featuresUnoffered: "EXT04-NEG-003", featuresTwice: "EXT04-NEG-004",
	concurrency: "EXT04-NEG-005", lifecycleEvents: "EXT04-NEG-006", featureAlone: "EXT04-NEG-020", featureUnknown: "EXT04-NEG-007",

	resultMembers: "EXT04-RESULT-004", content: "EXT04-RESULT-001", isError: "EXT04-RESULT-004", metadata: "EXT04-RESULT-008",
	partType: "EXT04-RESULT-002", partArtifact: "EXT04-RESULT-003",
	structuredPresence: "EXT04-RESULT-005", structuredSchema: "EXT04-RESULT-006", structuredSize: "EXT04-RESULT-007",
	shutdownResult: "EXT04-SHUT-002", interrupted: "EXT04-SHUT-006",
	insideInitialize: featurewire.MethodShortcutRegister,
}

// frozenRules are the feature wire's with the differences of API 0.1.
func frozenRules() ruleset {
	r := featureRules
	r.frozenProgress, r.frozenCancel, r.needlessCancel = "EXT01-PROG-001", "EXT01-CANCEL-001", "EXT01-CANCEL-001"
	r.interrupted = ""
	r.frozenParent, r.insideInitialize = "EXT01-CONFIRM-001", ""
	r.frozenSchema, r.frozenProtocol, r.frozenResult = "EXT01-TOOL-001", "EXT01-INIT-001", "EXT01-RESULT-001"
	return r
}

// Rules lists the rules that the monitor of an API version can find broken, sorted.
func Rules(d dialect.Dialect) []string {
	set := map[string]bool{}
	rules := rulesOf(d)
	for _, id := range rules.spelling {
		set[id] = true
	}
	v := reflect.ValueOf(rules)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && f.String() != "" {
			set[f.String()] = true
		}
	}
	delete(set, rules.insideInitialize)
	more := serviceRules
	if d.Canonical() {
		more = contractRules
	}
	for _, id := range more() {
		set[id] = true
	}
	maps.DeleteFunc(set, func(id string, _ bool) bool { return !rulebook.BindsID(id, d.API()) })
	return slices.Sorted(maps.Keys(set))
}
