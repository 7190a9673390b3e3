package faultypeer

import "github.com/octet-dev/octet/generated/canonicalwire"

// contractVariant is a sound peer of the canonical wire that is odd.
func contractVariant(name, doc string, q quirk) Fault { return variant("0.3", name, doc, q) }

var canonicalVariants = []Fault{
	contractVariant("contracts-nothing", "selects no optional service", acting("select-nothing")),
	contractVariant("numbers-its-requests", "numbers its requests as its host does", acting("number-requests")),
	contractVariant("asks-at-once", "uses every service right behind its answer to initialize", quirk{
		acts: when("initialized", func(p *peer) { p.useContract(func() {}) }),
	}),
	contractVariant("joins-late", "joins the bus when it is first called", acting("join-late")),
	contractVariant("declines-streams", "accepts no stream", change(canonicalwire.MethodProviderStream, func(m obj) {
		m["result"].(obj)["accepted"] = false
		m["result"].(obj)["reason"] = "the model rests"
	}).also(quirk{does: "keep-quiet"})),
	contractVariant("has-opinions", "denies what begins and defers what ends", quirk{contributes: hooks, message: func(p *peer, what string, m obj) {
		if r, ok := m["result"].(obj); ok && what == canonicalwire.MethodHookRun {
			kind := canonicalwire.DispositionKindDeny
			if p.served%2 == 0 {
				kind = canonicalwire.DispositionKindDefer
			}
			r["disposition"] = obj{"kind": string(kind), "reason": "not now"}
		}
	}}),
	contractVariant("gives-reasons", "gives a reason for what needs none", quirk{contributes: hooks, message: func(_ *peer, what string, m obj) {
		if r, ok := m["result"].(obj); ok && what == canonicalwire.MethodHookRun {
			r["disposition"].(obj)["reason"] = "welcome"
		}
	}}),
	contractVariant("ends-at-nonsense", "ends when it cannot understand a notice of the bus", acting("end-at-nonsense")),
	contractVariant("imports-nothing", "detects no setup", acting("import-nothing")),
	contractVariant("declares-little", "leaves out every member that may be left out", quirk{message: declareLittle}),
}

// also adds an act to a quirk.
func (q quirk) also(more quirk) quirk {
	q.does = more.does
	return q
}

// declareLittle leaves out what is optional in messages of services.
func declareLittle(_ *peer, what string, m obj) {
	params, _ := m["params"].(obj)
	switch what {
	case canonicalwire.MethodProvidersRegister, canonicalwire.MethodProvidersUpdate:
		params["provider"].(obj)["auth"] = obj{"kind": string(canonicalwire.ProviderAuthKindNone)}
		params["models"] = []any{}
	case canonicalwire.MethodProviderAuthRequest, canonicalwire.MethodProviderAuthRevoke:
		delete(params, "scopes")
	case canonicalwire.MethodBusPublish:
		params["payload"] = obj{"title": ""}
	}
}
