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
	// Concurrency is how many tool calls the host may have in flight together. 0, and anything above what a
	// host offers, is what the host offers, at most 64. It has no effect on API 0.1, which negotiates nothing.
	Concurrency int
	// Log takes diagnostics, a line each; os.Stderr by default. Writes come one at a time.
	Log io.Writer
}

// Extension is the tools of one extension. Make one with New, add tools, then give it to Main. It may serve
// several sessions at once, as tests do; from the first on, no tool can be added.
type Extension struct {
	api         API
	dialect     dialect
	concurrency int
	log         *lineLog

	mu     sync.Mutex
	tools  []*tool // ascending by name
	hooks  sessionHooks
	frozen bool
}

// New returns an extension without tools. It panics if opts name an API version that does not exist or a
// negative concurrency.
func New(opts *Options) *Extension {
	if opts == nil {
		opts = &Options{}
	}
	e := &Extension{api: opts.API, concurrency: opts.Concurrency, log: &lineLog{out: opts.Log}}
	if e.api == "" {
		e.api = API04
	}
	if e.concurrency < 0 {
		panic(fmt.Sprintf("extension: a concurrency of %d is less than 1: use 0 for what the host offers", e.concurrency))
	}
	if e.log.out == nil {
		e.log.out = os.Stderr
	}
	var err error
	if e.dialect, err = dialectOf(e.api); err != nil {
		panic("extension: " + err.Error())
	}
	return e
}

// add puts a tool into the catalog.
func (e *Extension) add(t *tool) {
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
	at, taken := slices.BinarySearchFunc(e.tools, t.name, compareName)
	if taken {
		panic(misuse(t.name, "a tool of that name has been added"))
	}
	e.tools = slices.Insert(e.tools, at, t)
}

func compareName(t *tool, name string) int {
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

// catalog ends the adding of tools and returns them.
func (e *Extension) catalog() []*tool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.frozen = true
	return e.tools
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

// Tools returns the names of the tools, ascending: what contributes.tools of the manifest lists.
func (e *Extension) Tools() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	names := make([]string, 0, len(e.tools))
	for _, t := range e.tools {
		names = append(names, t.name)
	}
	return names
}
