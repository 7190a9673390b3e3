package agent

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/octet-dev/octet/host/tool"
)

// Defaults of Options.
const (
	defaultAttempts  = 5
	defaultBase      = time.Second
	defaultMost      = 30 * time.Second
	defaultPatience  = 10 * time.Minute
	defaultNetwork   = 15 * time.Second
	defaultReserve   = 16384
	defaultKeep      = 20000
	defaultWarmings  = 3
	defaultContinues = 0.5
)

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (o Options) complete() (Options, error) {
	switch {
	case o.Provider == nil:
		return o, errors.New("an agent needs a provider")
	case o.Model.Model == "":
		return o, errors.New("an agent needs a model")
	case o.Tools == nil:
		return o, errors.New("an agent needs a source of tools; it may yield none")
	case o.Session == nil:
		return o, errors.New("an agent needs a session")
	case o.Permission == nil:
		return o, errors.New("an agent needs a permission gate")
	}
	if o.Interface == "" {
		o.Interface = Direct
	}
	if o.Visible == nil {
		o.Visible = tool.Snapshot.Tools
	}
	if o.Hooks == nil {
		o.Hooks = NoHooks{}
	}
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	o.Retry = o.Retry.complete()
	orElse(&o.Compaction.Reserve, defaultReserve)
	orElse(&o.Compaction.Keep, defaultKeep)
	orElse(&o.Warming.Most, defaultWarmings)
	orElse(&o.Warming.Continuation, defaultContinues)
	return o, nil
}

func (r Retry) complete() Retry {
	orElse(&r.Attempts, defaultAttempts)
	orElse(&r.Base, defaultBase)
	orElse(&r.Most, defaultMost)
	orElse(&r.Patience, defaultPatience)
	orElse(&r.Network, defaultNetwork)
	return r
}

// orElse puts a default where nothing was said.
func orElse[T comparable](field *T, otherwise T) {
	var zero T
	if *field == zero {
		*field = otherwise
	}
}
