package chaos

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/octet-dev/octet/host/fixture"
)

// fault is one way to break things. Strike comes while calls run; what it leaves is settled by the caller. It
// returns whether the host has ended.
type fault struct {
	name   string
	weight int
	strike func(p *player, ctx context.Context) (ended bool, err error)
}

// faults are all there are. Those that make the campaign wait are rare.
var faults = []fault{
	{"kill the host", 12, killHost},
	{"kill the host and its group", 4, killHostGroup},
	{"shut the host down in mid-call", 4, closeHost(false)},
	{"shut the host down on a signal", 3, closeHost(true)},
	{"kill an extension", 10, killExtension},
	{"crash in a call", 8, tool("crash")},
	{"exit in a call", 5, tool("quit")},
	{"close standard output", 5, tool("mute")},
	{"half a frame and exit", 6, tool("half")},
	{"half a frame and no more", 3, tool("stall")},
	{"a line without end", 3, tool("flood")},
	{"never answer", 2, hang},
	{"stop an extension", 2, stop},
	{"flood standard error", 5, tool("noise")},
	{"leave processes and die", 7, spawnAnd(killExtension)},
	{"leave processes and be reloaded", 5, spawnAnd(reload)},
	{"leave processes with the host killed", 4, spawnAnd(killHost)},
	{"reload in mid-call", 10, reload},
	{"reload twice at once", 3, reloadTwice},
	{"reload one that will not go", 2, reloadStubborn},
	{"reload into one that fails", 5, reloadBroken},
	{"crash into one that fails", 5, crashBroken},
	{"cancel many in mid-call", 10, cancelMany},
	{"break a rule of the result", 4, tool("wrong")},
}

// any is an extension.
func (p *player) any() string { return extensionName(apis[p.random.IntN(len(apis))]) }

// moment lets a little time pass, so that faults meet calls in every state.
func (p *player) moment() {
	time.Sleep(time.Duration(p.random.IntN(20_000)) * time.Microsecond)
}

func killHost(p *player, ctx context.Context) (bool, error) {
	p.moment()
	if err := p.process.Process.Kill(); err != nil {
		return true, err
	}
	return true, p.ended(ctx, true)
}

func killHostGroup(p *player, ctx context.Context) (bool, error) {
	p.moment()
	if err := syscall.Kill(-p.process.Process.Pid, syscall.SIGKILL); err != nil {
		return true, err
	}
	return true, p.ended(ctx, true)
}

func closeHost(signal bool) func(*player, context.Context) (bool, error) {
	return func(p *player, ctx context.Context) (bool, error) {
		p.moment()
		if _, err := p.ask(order{Op: opClose, Signal: signal}); err != nil {
			return true, err
		}
		return true, p.ended(ctx, false)
	}
}

// signal sends one to an extension; that it has gone already is part of the game.
func (p *player) signal(s syscall.Signal) {
	p.mu.Lock()
	pid := p.leaders[p.any()]
	p.mu.Unlock()
	if pid > 1 {
		_ = syscall.Kill(pid, s)
	}
}

func killExtension(p *player, _ context.Context) (bool, error) {
	p.moment()
	p.signal(syscall.SIGKILL)
	return false, nil
}

// stop leaves a process that neither reads nor ends.
func stop(p *player, _ context.Context) (bool, error) {
	p.signal(syscall.SIGSTOP)
	for _, api := range apis {
		p.call(extensionName(api), "slow")
	}
	return false, nil
}

func tool(name string) func(*player, context.Context) (bool, error) {
	return func(p *player, _ context.Context) (bool, error) {
		p.moment()
		p.call(p.any(), name)
		p.moment()
		return false, nil
	}
}

func hang(p *player, _ context.Context) (bool, error) {
	id := p.call(p.any(), "hang")
	p.moment()
	p.cancel(id)
	return false, nil
}

func spawnAnd(then func(*player, context.Context) (bool, error)) func(*player, context.Context) (bool, error) {
	return func(p *player, ctx context.Context) (bool, error) {
		for range 2 {
			p.call(p.any(), "spawn")
		}
		p.moment()
		return then(p, ctx)
	}
}

func reload(p *player, _ context.Context) (bool, error) {
	p.reload(p.any())
	p.moment()
	return false, nil
}

func reloadTwice(p *player, _ context.Context) (bool, error) {
	extension := p.any()
	p.reload(extension)
	p.moment()
	p.reload(extension)
	return false, nil
}

// reloadStubborn replaces a generation that ignores every request to end.
func reloadStubborn(p *player, ctx context.Context) (bool, error) {
	extension := p.any()
	if err := p.next(extension, fixture.IgnoreShutdown, fixture.IgnoreTerminate, fixture.IgnoreCancel); err != nil {
		return false, err
	}
	p.reload(extension)
	if err := p.settle(); err != nil {
		return false, err
	}
	if err := p.next(extension); err != nil {
		return false, err
	}
	p.call(extension, "echo")
	p.reload(extension)
	return false, nil
}

// broken are starts that fail.
var broken = []string{fixture.CrashAtStart, fixture.RefuseInitialize, fixture.WrongTools, fixture.GarbageAtStart, fixture.NoCatalog, fixture.TraceAtStart}

func (p *player) breakStart(extension string) error {
	return p.next(extension, broken[p.random.IntN(len(broken))])
}

func reloadBroken(p *player, _ context.Context) (bool, error) {
	extension := p.any()
	if err := p.breakStart(extension); err != nil {
		return false, err
	}
	// It may have died meanwhile, and is parked then until its starts work again.
	err := p.finish(p.reload(extension))
	return false, errors.Join(err, p.next(extension))
}

func crashBroken(p *player, _ context.Context) (bool, error) {
	extension := p.any()
	if err := p.breakStart(extension); err != nil {
		return false, err
	}
	p.call(extension, "crash")
	p.moment()
	time.Sleep(100 * time.Millisecond)
	return false, p.next(extension)
}

func cancelMany(p *player, _ context.Context) (bool, error) {
	var ids []int
	for range 20 {
		ids = append(ids, p.call(p.any(), []string{"slow", "echo", "record", "count"}[p.random.IntN(4)]))
	}
	p.moment()
	for _, id := range ids {
		p.cancel(id)
	}
	return false, nil
}
