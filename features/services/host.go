// Package services answers what an extension asks of its host while it runs, as a sound host does: with a
// result that follows from what was asked before, or with the refusal that a host would give. Nothing is shown
// to anybody and nothing outside the directories of the run is touched.
package services

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/subject"
	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// View is what a host knows of the conversation.
type View interface {
	// Result is the result of initialize; nil before it.
	Result() json.RawMessage
	// Refusal names the error with which the message of a frame is refused; empty if it is served.
	Refusal(frame int) string
}

// Host is the host's side of one connection. It is safe for concurrent use.
type Host struct {
	dialect dialect.Dialect
	x       dialect.Extension
	view    View

	mu        sync.Mutex        // guards the fields below
	handed    map[string]string // methods that are answered by a file, and the member that describes it
	n         int               // things given so far; numbers them
	composer  string
	session   string
	agents    []fw.AgentRecord
	files     map[string]string // locators by ticket, lease or blob
	resources []fw.ResourceRef  // registered and not released
	surfaces  []string          // open ones, oldest first
	completes bool              // autocomplete is registered
	shortcuts []string          // ids of registered ones
	catalogs  []map[string]Tool // by revision, once anything was registered
	contract  contract
	behind    [][]byte          // what follows the answer that is being made
	asked     map[string]bool   // methods of requests that have come
	refusing  map[string]string // names of errors by method
	waiting   map[string]bool   // methods that are left unanswered
	held      []subject.Message // what they have asked
}

// Tool is a definition as far as a host needs it to call the tool.
type Tool struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// New makes the host of one connection.
func New(d dialect.Dialect, x dialect.Extension, view View) *Host {
	return &Host{
		dialect: d, x: x, view: view, handed: map[string]string{}, files: map[string]string{}, session: "conform",
		contract: newContract(), asked: map[string]bool{}, refusing: map[string]string{}, waiting: map[string]bool{},
	}
}

// AnswerByFile makes the host hand over what composing calls may use as a file of the scratch directory, as it
// does with an answer that is too large for a frame. The member of the result describes the file.
func (h *Host) AnswerByFile(method, member string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handed[method] = member
}

// Answer returns the response to a message of the extension and what follows it; nil if it deserves none.
func (h *Host) Answer(m subject.Message) [][]byte {
	if m.IsResponse() || !h.dialect.Spellable(m.ID) {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked[m.Method] = true
	if h.waiting[m.Method] || h.waiting[Everything] {
		h.held = append(h.held, m)
		return nil
	}
	h.behind = nil
	return append([][]byte{h.response(m)}, h.behind...)
}

// response is the answer to one request.
func (h *Host) response(m subject.Message) []byte {
	if name := h.view.Refusal(m.Frame.Index); name != "" {
		return h.dialect.Refuse(m.ID, name, m.Method)
	}
	if member := h.handed[m.Method]; member != "" {
		file, err := h.hand(composition.AppendJSON(nil))
		if err != nil {
			return h.dialect.Refuse(m.ID, "internal_error", m.Method)
		}
		return h.dialect.Result(m.ID, dialect.Object{member: json.RawMessage(file.AppendJSON(nil))})
	}
	if name := cmp.Or(h.refusing[m.Method], h.refusing[Everything]); name != "" {
		return h.dialect.Refuse(m.ID, name, m.Method)
	}
	table := served
	if h.dialect.Canonical() {
		table = contractServed
	}
	serve := table[m.Method]
	if serve == nil {
		return h.dialect.Refuse(m.ID, "unknown_method", m.Method)
	}
	result, refusal := serve(h, m.Fields["params"])
	if refusal != "" {
		return h.dialect.Refuse(m.ID, refusal, m.Method)
	}
	return h.dialect.Result(m.ID, json.RawMessage(result.AppendJSON(nil)))
}

// handler serves one method: a result, or the name of the error that refuses it.
type handler func(h *Host, params []byte) (wirejson.Encoder, string)

// serving makes a handler of a function that takes the params as their model.
func serving[P any](decode func([]byte) (P, error), serve func(h *Host, params P) (wirejson.Encoder, string)) handler {
	return func(h *Host, params []byte) (wirejson.Encoder, string) {
		p, err := decode(params)
		if err != nil {
			return nil, "invalid_params"
		}
		return serve(h, p)
	}
}

// granting makes a handler that answers every request with the same result.
func granting(result wirejson.Encoder) handler {
	return func(*Host, []byte) (wirejson.Encoder, string) { return result, "" }
}

// next numbers something that the host gives.
func (h *Host) next(noun string) string {
	h.n++
	return fmt.Sprintf("%s-%d", noun, h.n)
}

// initial is the catalog of the initialize result.
func (h *Host) initial() map[string]Tool {
	var r struct {
		Tools []Tool `json:"tools"`
	}
	// A result that cannot be read has no tools.
	_ = json.Unmarshal(h.view.Result(), &r)
	catalog := map[string]Tool{}
	for _, t := range r.Tools {
		catalog[t.Name] = t
	}
	return catalog
}

// publish makes a new revision of the catalog and describes it.
func (h *Host) publish(change func(catalog map[string]Tool)) (revision int64, names []fw.ToolName) {
	if h.catalogs == nil {
		h.catalogs = append(h.catalogs, h.initial())
	}
	catalog := maps.Clone(h.catalogs[len(h.catalogs)-1])
	change(catalog)
	h.catalogs = append(h.catalogs, catalog)
	for _, name := range slices.Sorted(maps.Keys(catalog)) {
		names = append(names, fw.ToolName(name))
	}
	return int64(len(h.catalogs) - 1), names
}

// Revision is the newest revision of the catalog.
func (h *Host) Revision() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(len(h.catalogs)-1, 0)
}

// Former returns tools of the revision before the newest that are no longer as they were there, those taken out
// first, and then its others; nil while nothing was registered.
func (h *Host) Former() []Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.catalogs) < 2 {
		return nil
	}
	before, newest := h.catalogs[len(h.catalogs)-2], h.catalogs[len(h.catalogs)-1]
	var out, kept []Tool
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now, there := newest[name]; there && string(now.Parameters) == string(before[name].Parameters) {
			kept = append(kept, before[name])
			continue
		}
		out = append(out, before[name])
	}
	return append(out, kept...)
}

// Resources are the references that the extension has registered and not released.
func (h *Host) Resources() []fw.ResourceRef {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.resources)
}

// Surfaces are those that the extension has opened and not closed, oldest first.
func (h *Host) Surfaces() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.surfaces)
}

// Completes reports whether the extension has registered for autocomplete.
func (h *Host) Completes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.completes
}

// Shortcuts are the ids of those that the extension has registered.
func (h *Host) Shortcuts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.shortcuts)
}
