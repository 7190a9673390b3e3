package faultyhost

import fw "github.com/octet-dev/octet/generated/featurewire"

// askedAgents are faults in child agents.
var askedAgents = []Fault{
	{"spawns-without-a-key", "EXT04-AGENT-021", current, "leaves the key out of what it says of a new agent", miswrites(fw.MethodAgentSpawn, `"Look."`, `"idempotency_key":"k-1",`, ``)},
	{"spawns-again", "EXT04-AGENT-023", middle, "makes another agent for the same key", secondly(miswrites(fw.MethodAgentSpawn, `"Look."`, `"agent_id":"agent-1"`, `"agent_id":"agent-9"`))},
	{"spawns-for-any-input", "EXT04-AGENT-023", current, "takes a key for another task", miscodes(fw.MethodAgentSpawn, "Look elsewhere.", fw.CodeNotForegroundOwner, fw.CodeInvalidParams)},
	{"refuses-malformed-agents-otherwise", "EXT04-AGENT-015", middle, "refuses a malformed agent as one without an owner", refuses(fw.MethodAgentSpawn, "No policy.", "not_foreground_owner", "")},
	{"reads-any-task", "EXT04-AGENT-018", current, "refuses a long task as a failure", refuses(fw.MethodAgentSpawn, "mmmmmmmm", "internal_error", "")},
	{"selects-models-unasked", "EXT04-AGENT-020", middle, "takes a selection of a model without the feature", miswritesWhole(fw.MethodAgentSpawn, "Select.", spawned)},
	{"selects-providers", "EXT04-AGENT-020", current, "takes a provider without a model", miswritesWhole(fw.MethodAgentSpawn, "Select a provider.", spawned)},
	{"delivers-to-nobody", "EXT04-AGENT-016", current, "delivers to an agent that is not there", grants(fw.MethodAgentMessage, "/conform-none", `{"delivered_to":"x","delivery":"queued"}`)},
	{"delivers-otherwise", "EXT04-AGENT-031", middle, "delivers in a way of its own", miswrites(fw.MethodAgentMessage, "", `"queued"`, `"posted"`)},
	{"follows-up-otherwise", "EXT04-AGENT-032", current, "leaves the path of an agent out", grants(fw.MethodAgentFollowUp, "Once more.", `{"agent_id":"agent-1","delivery":"new_run"}`)},
	{"lists-without-errors", "EXT04-AGENT-035", middle, "leaves out whether the agents were stored", miswrites(fw.MethodAgentList, `"marker":35`, `"persistence_error":null,`, ``)},
	{"lists-without-counters", "EXT04-AGENT-036", current, "leaves out what agents did", miswrites(fw.MethodAgentList, `"marker":36`, `"turn_count":1`, `"turns":1`)},
	{"shows-sessions", "EXT04-AGENT-037", middle, "shows the session of an agent", miswrites(fw.MethodAgentList, `"marker":37`, `"agent-session:`, `"/sessions/`)},
	{"says-states-plainly", "EXT04-AGENT-027", current, "says the state of an agent as a word", miswrites(fw.MethodAgentList, `"marker":27`, `{"output":"done","state":"completed"}`, `"completed"`)},
	{"waits-without-a-snapshot", "EXT04-AGENT-038", middle, "answers a wait without the agents", grants(fw.MethodAgentWait, `"timeout_ms":100`, `{"timed_out":false}`)},
	{"refuses-short-waits", "EXT04-AGENT-039", current, "refuses a wait that is too short", refuses(fw.MethodAgentWait, `"timeout_ms":0`, "invalid_params", "")},
	{"interrupts-silently", "EXT04-AGENT-041", middle, "does not say how an agent stood", grants(fw.MethodAgentInterrupt, "", `{"agent_id":"agent-1","interrupt_requested":true}`)},
	{"spawns-without-end", "EXT04-AGENT-017", current, "makes any number of agents", miswritesWhole(fw.MethodAgentSpawn, "One more.", spawned)},
	{"finds-any-model", "EXT04-AGENT-028", middle, "does not look for the query", instead(fw.MethodAgentModels, "no such model", listsModels)},
	{"names-models-only", "EXT04-AGENT-029", current, "tells of a model its name alone", grants(fw.MethodAgentModels, `"limit":1`, `{"models":[{"model":"m"}],"truncated":false}`)},
	{"resolves-no-model", "EXT04-AGENT-022", middle, "does not say which model an agent has", instead(fw.MethodAgentSpawn, "Select nothing.", unresolved)},
	{"takes-foreign-owners-of-agents", "EXT04-AGENT-045", current, "takes another owner beside a live parent", miswritesWhole(fw.MethodAgentSpawn, "Foreign.", spawned)},
	{"ends-agents-with-calls", "EXT04-AGENT-046", current, "refuses an owner whose call was answered", refuses(fw.MethodAgentList, `"parent_request_id":1,`, "not_foreground_owner", "not_foreground_owner")},
	{"stops-silently", "EXT04-AGENT-048", current, "does not say that an agent was asked to stop", miswrites(fw.MethodAgentStop, "", `"shutdown_requested":true`, `"shutdown_requested":false`)},
	{"tells-no-cursor", "EXT04-AGENT-049", current, "leaves the cursor of events out", grants(fw.MethodAgentEvents, `"after_sequence":0}`, `{"agent_id":"agent-1","session_id":null,"events":[],"has_more":false,"status":{"state":"pending"}}`)},
	{"tells-events-once", "EXT04-AGENT-050", current, "takes events away", instead(fw.MethodAgentEvents, `"timeout_ms":0`, func(h *host, q question, _ [][]byte) [][]byte {
		return [][]byte{h.d.Result(q.id, map[string]any{
			"agent_id": "agent-1", "session_id": nil, "events": []any{map[string]any{"sequence": 1, "event": nil}}, "has_more": false, "next_sequence": 1,
			"status": map[string]any{"state": "pending"},
		})}
	})},
	{"waits-at-any-cursor", "EXT04-AGENT-051", current, "takes a cursor that lies ahead", grants(fw.MethodAgentEvents, `"after_sequence":1000000`, `{"agent_id":"agent-1","session_id":null,"events":[],"has_more":false,"next_sequence":1,"status":{"state":"pending"}}`)},
	{"cuts-waits-for-events", "EXT04-AGENT-052", current, "cuts a wait that is too long", grants(fw.MethodAgentEvents, `25001`, `{"agent_id":"agent-1","session_id":null,"events":[],"has_more":false,"next_sequence":1,"status":{"state":"pending"}}`)},
}

// spawned is an answer that tells of an agent.
func spawned(h *host, q question) []byte {
	return h.desk.services.Answer(h.message(q))[0]
}

// miswritesWhole answers by itself where a sound host refuses.
func miswritesWhole(method, with string, answer func(h *host, q question) []byte) quirk {
	return instead(method, with, func(h *host, q question, _ [][]byte) [][]byte { return [][]byte{answer(h, q)} })
}

func listsModels(h *host, q question, _ [][]byte) [][]byte {
	return [][]byte{spawned(h, q)}
}

// unresolved is the answer of the services, which know no models.
func unresolved(h *host, q question, _ [][]byte) [][]byte { return [][]byte{spawned(h, q)} }
