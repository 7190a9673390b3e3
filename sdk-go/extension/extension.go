package extension

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Options are the choices of an extension. The zero value of each field is its default, and a nil *Options
// is all defaults.
type Options struct {
	// API is the version to speak, the one that the manifest names; API04 by default.
	API API
	// Concurrency is how many requests the host may have in flight together. 0, and anything above what a
	// host offers, is what the host offers, at most 64. It has no effect on API 0.1, which negotiates nothing.
	Concurrency int
	// Log takes diagnostics, a line each; os.Stderr by default. Writes come one at a time.
	Log io.Writer
	// Uses lists what the extension wants beside what its registrations ask for anyway: features of API 0.2
	// and 0.4, such as featurewire.FeatureComposer, or capabilities of API 0.3. What a host does not offer is
	// left out; its services then return ErrNotNegotiated.
	Uses []string
	// UsesAll wants everything that the API has.
	UsesAll bool
	// DynamicTools lets the catalog change while the extension runs, see Scope.DynamicTools.
	DynamicTools bool
	// RuntimeCommands has the host take the commands as they are registered, whatever the manifest says.
	RuntimeCommands bool
}

// Extension is what one extension offers. Make one with New, add to it, then give it to Main. It may serve
// several sessions at once, as tests do; from the first on, nothing can be added.
type Extension struct {
	api     API
	dialect dialect
	options Options
	log     *lineLog

	mu     sync.Mutex
	plan   plan
	frozen bool
}

// New returns an extension that offers nothing yet. It panics if opts name an API version that does not exist,
// something to use that this version does not have, or a negative concurrency.
func New(opts *Options) *Extension {
	if opts == nil {
		opts = &Options{}
	}
	e := &Extension{api: opts.API, options: *opts, log: &lineLog{out: opts.Log}}
	if e.api == "" {
		e.api = API04
	}
	if opts.Concurrency < 0 {
		panic(fmt.Sprintf("extension: a concurrency of %d is less than 1: use 0 for what the host offers", opts.Concurrency))
	}
	if e.log.out == nil {
		e.log.out = os.Stderr
	}
	var err error
	if e.dialect, err = dialectOf(e.api); err != nil {
		panic("extension: " + err.Error())
	}
	if opts.DynamicTools {
		e.options.Uses = append(slices.Clone(opts.Uses), dynamicToolsFeature)
	}
	if opts.RuntimeCommands {
		e.options.Uses = append(slices.Clone(e.options.Uses), runtimeCommandsFeature)
	}
	for _, name := range e.options.Uses {
		if !e.api.has(name) {
			panic(fmt.Sprintf("extension: API %s has nothing called %q to use: take a constant of the wire's package", e.api, name))
		}
	}
	return e
}

// Add puts a tool into the static catalog. The name must be one that the manifest declares. Add panics if the
// extension is nil or already serving, if the name is taken or not a name, if the description is empty, and if
// the tool says what this API version cannot carry.
func (e *Extension) Add(t *Tool) {
	if e == nil {
		panic(misuse(t.name, "the extension is nil: make one with New"))
	}
	if err := e.dialect.checkTool(t); err != nil {
		panic(misuse(t.name, err.Error()))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frozen {
		panic(misuse(t.name, "the extension is already serving: add every tool first"))
	}
	at, taken := slices.BinarySearchFunc(e.plan.tools, t.name, compareName)
	if taken {
		panic(misuse(t.name, "a tool of that name has been added"))
	}
	e.plan.tools = slices.Insert(e.plan.tools, at, t)
}

func compareName(t *Tool, name string) int {
	switch {
	case t.name < name:
		return -1
	case t.name > name:
		return 1
	}
	return 0
}

// misuse is the text of a panic about a tool that cannot be added.
func misuse(name, problem string) string { return fmt.Sprintf("extension: tool %q: %s", name, problem) }

// register changes the plan. It panics with what is being registered if the extension is nil or serving, or if
// its API version is none of those that know it.
func (e *Extension) register(what string, versions []string, change func(*plan)) {
	if e == nil {
		panic("extension: " + what + ": the extension is nil: make one with New")
	}
	if !slices.Contains(versions, string(e.api)) {
		panic(fmt.Sprintf("extension: %s: API %s does not have it: use API %s", what, e.api, quotedList(versions)))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frozen {
		panic("extension: " + what + ": the extension is already serving: register everything first")
	}
	change(&e.plan)
}

// freeze ends the registering and returns what was registered.
func (e *Extension) freeze() *plan {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.frozen = true
	return &e.plan
}

// lineLog writes whole lines, one at a time.
type lineLog struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lineLog) printf(format string, args ...any) {
	line := fmt.Sprintf("extension: "+format+"\n", args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, line) // nobody is left to tell
}

// API returns the version that the extension speaks.
func (e *Extension) API() API { return e.api }

// Tools returns the names of the static tools, ascending: what contributes.tools of the manifest lists.
func (e *Extension) Tools() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return toolNames(e.plan.tools)
}

func toolNames(tools []*Tool) []string {
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}
