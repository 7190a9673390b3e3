package main

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
)

var catalog = []any{
	object{
		"description": "Counts the letters of a text.", "name": "letters",
		"output_schema": object{"properties": object{"letters": object{"type": "integer"}}, "required": []any{"letters"}, "type": "object"},
		"parameters":    object{"additionalProperties": false, "properties": object{"text": object{"type": "string"}}, "required": []any{"text"}, "type": "object"},
	},
	object{"description": "Waits until it is cancelled.", "name": "idle", "parameters": object{"properties": object{}, "type": "object"}},
	object{
		"description": "Says a letter many times.", "name": "repeat",
		"parameters": object{"properties": object{"times": object{"type": "integer"}}, "required": []any{"times"}, "type": "object"},
	},
}

var (
	requiredCapabilities = []string{"content_parts", "core", "request_cancellation", "tool_call"}
	optionalCapabilities = []string{
		"event_bus", "lifecycle_events", "migration.adapter.v1", "provider_auth", "provider_catalog", "provider_stream", "session_lifecycle", "theme_selection",
	}
	requiredMethods = map[string]string{
		"$/cancelRequest": "request_cancellation", "initialize": "core", "shutdown": "core", "tool/call": "tool_call",
	}
	optionalMethods = map[string]string{
		"hook/run": "lifecycle_events", "migration/detect": "migration.adapter.v1", "migration/import": "migration.adapter.v1",
		"provider/auth/request": "provider_auth", "provider/auth/revoke": "provider_auth",
		"provider/stream": "provider_stream", "provider/event": "provider_stream", "provider/cancel": "provider_stream",
		"providers/register": "provider_catalog", "providers/update": "provider_catalog", "providers/unregister": "provider_catalog", "providers/complete": "provider_catalog",
		"session/create": "session_lifecycle", "session/fork": "session_lifecycle", "session/switch": "session_lifecycle", "session/reload": "session_lifecycle",
		"theme/select": "theme_selection",
		"bus/declare":  "event_bus", "bus/subscribe": "event_bus", "bus/unsubscribe": "event_bus", "bus/publish": "event_bus", "bus/event": "event_bus", "bus/lifecycle": "event_bus",
	}
)

// start answers initialize, or refuses it and ends.
func (p *peer) start(id, params any) {
	selection, f := choose(params)
	if f == nil {
		limits := selection["contract"].(object)["limits"].(object)
		offered, _ := whole(limits["max_frame_bytes"])
		p.frame, p.most = offered, limits["max_concurrent_requests"].(int)
		if p.say(object{"id": id, "result": selection}) {
			p.ready = true
			return
		}
		p.frame = 1 << 20
		f = &exhausted
	}
	p.refuse(id, *f)
	os.Exit(1)
}

func choose(params any) (object, *failure) {
	m, _ := params.(object)
	version, is := m["api_version"].(string)
	if is && version != api {
		return nil, &failure{-32010, "extension API version mismatch", object{"expected": api, "received": version}}
	}
	offer, isOffer := m["contract"].(object)
	limits, hasLimits := offer["limits"].(object)
	flags, hasFlags := m["flag_values"].([]any)
	if !is || !isOffer || !hasLimits || !hasFlags ||
		!exactly(m, "api_version", "capabilities", "contract", "contributes", "extension", "flag_values", "host", "octet_version", "workspace") ||
		!exactly(offer, "encoding", "limits", "optional_capabilities", "optional_methods", "required_capabilities", "required_methods", "schema") ||
		!exactly(limits, "max_concurrent_requests", "max_frame_bytes", "max_tools") ||
		!isText(m["workspace"]) || !isText(m["octet_version"]) || !isText(offer["schema"]) || !isText(offer["encoding"]) {
		return nil, &invalidParams
	}
	if len(flags) > 64 {
		return nil, &exhausted
	}
	for _, flag := range flags {
		if f, is := flag.(object); !is || !exactly(f, "name", "value") || !isText(f["name"]) {
			return nil, &invalidParams
		}
	}
	for _, judge := range []func() *failure{
		func() *failure { return judgeIdentity(offer) },
		func() *failure { return judgeNames(offer) },
		func() *failure { return judgeLimits(limits) },
	} {
		if f := judge(); f != nil {
			return nil, f
		}
	}
	concurrent, _ := whole(limits["max_concurrent_requests"])
	return object{
		"api_version": api, "tools": catalog,
		"contract": object{
			"capabilities": texts(requiredCapabilities), "encoding": offer["encoding"], "schema": offer["schema"],
			"methods": []any{"$/cancelRequest", "initialize", "shutdown", "tool/call"},
			"limits":  object{"max_concurrent_requests": min(concurrent, 12), "max_frame_bytes": limits["max_frame_bytes"], "max_tools": limits["max_tools"]},
		},
	}, nil
}

func judgeIdentity(offer object) *failure {
	if offer["schema"] != "octet.extension.api/0.3" {
		return &failure{-32010, "extension API version mismatch", object{"expected": "octet.extension.api/0.3", "received": offer["schema"]}}
	}
	if offer["encoding"] != "octet-canonical-json-v1" {
		return &invalidParams
	}
	return nil
}

func judgeNames(offer object) *failure {
	var must, may [2][]string // of capabilities and of methods
	for i, kind := range []struct {
		what        string
		most, bytes int
	}{{"capabilities", 32, 64}, {"methods", 64, 128}} {
		for list, into := range map[string]*[]string{"required_": &must[i], "optional_": &may[i]} {
			names, is := offer[list+kind.what].([]any)
			switch {
			case !is:
				return &invalidParams
			case len(names) > kind.most:
				return &exhausted
			}
			for _, item := range names {
				name, is := item.(string)
				if !is || name == "" || len(name) > kind.bytes {
					return &invalidParams
				}
				*into = append(*into, name)
			}
		}
	}
	offered := slices.Concat(must[0], may[0])
	if !same(must[0], requiredCapabilities) || !same(must[1], keysOf(requiredMethods)) || repeated(offered) || repeated(slices.Concat(must[1], may[1])) {
		return &mismatch
	}
	for _, name := range may[0] {
		if !slices.Contains(optionalCapabilities, name) {
			return &mismatch
		}
	}
	for _, name := range may[1] {
		if gate := optionalMethods[name]; gate == "" || !slices.Contains(offered, gate) {
			return &mismatch
		}
	}
	// The session hooks come with their method or not at all.
	if slices.Contains(may[0], "lifecycle_events") != slices.Contains(may[1], "hook/run") {
		return &mismatch
	}
	return nil
}

func judgeLimits(limits object) *failure {
	for name, top := range map[string]int{"max_concurrent_requests": 64, "max_frame_bytes": 1 << 20, "max_tools": 256} {
		switch n, is := whole(limits[name]); {
		case !is || n < 1:
			return &invalidParams
		case n > top:
			return &exhausted
		}
	}
	return nil
}

// exactly reports whether an object has these members and no other, none of them null.
func exactly(m object, names ...string) bool {
	for _, name := range names {
		if m[name] == nil {
			return false
		}
	}
	return len(m) == len(names)
}

func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func repeated(names []string) bool {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func keysOf(v any) []string {
	var keys []string
	switch v := v.(type) {
	case object:
		for key := range v {
			keys = append(keys, key)
		}
	case map[string]string:
		for key := range v {
			keys = append(keys, key)
		}
	}
	return keys
}

func isObject(v any) bool { _, is := v.(object); return is }

func isText(v any) bool { _, is := v.(string); return is }

func whole(v any) (int, bool) {
	n, is := v.(json.Number)
	i, err := strconv.Atoi(string(n))
	return i, is && err == nil
}

func texts(names []string) []any {
	var out []any
	for _, name := range names {
		out = append(out, name)
	}
	return out
}
