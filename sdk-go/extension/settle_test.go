package extension_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

// hanging is a host that never answers what the extension asks of the composer.
func hanging() *exttest.Options {
	return &exttest.Options{Owner: &someOwner, Services: map[string]exttest.Service{"composer.get": exttest.Hang()}}
}

func getText(ctx context.Context, scope *extension.Scope) error {
	_, err := scope.Composer().Get(ctx)
	return err
}

func composing(api extension.API) *extension.Options {
	options := quietOptions(api)
	options.Uses = []string{featurewire.FeatureComposer}
	return options
}

// A cancelled call ends what it asks for at once, and the host is told.
func TestScope_cancelledCallEndsItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error, 1)
		host := exttest.StartWith(t, eager(extension.API04, getText, done), hanging())
		start := time.Now()
		call := host.Begin("do", nil)
		synctest.Wait()
		call.Cancel("user")
		if _, err := call.Wait(); !exttest.IsCancelled(err) {
			t.Errorf("the call gives %v", err)
		}
		if err := <-done; !errors.Is(err, extension.ErrCancelled) || !strings.Contains(err.Error(), "request cancelled: user") {
			t.Errorf("the request gives %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("all of it took %s", took)
		}
		synctest.Wait()
		if cancelled := host.Cancelled(); len(cancelled) != 1 || cancelled[0] != "c-1" {
			t.Errorf("the extension has cancelled %q, want c-1 once", cancelled)
		}
	})
}

// An answered call ends what was asked for on its behalf, without a word: the host knows.
func TestScope_answeredCallEndsItsRequests(t *testing.T) {
	for name, own := range map[string]bool{"context of the handler": true, "context of its own": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan error, 1)
				ext := extension.New(composing(extension.API04))
				extension.AddTool(ext, "leave", "Leaves a request behind", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
					if !own {
						ctx = context.WithoutCancel(ctx)
					}
					go func() { done <- getText(ctx, &call.Scope) }()
					time.Sleep(time.Millisecond) // until the request is on its way
					return nil, nil
				})
				host := exttest.StartWith(t, ext, hanging())
				host.Call("leave", nil)
				if err := <-done; !errors.Is(err, extension.ErrCancelled) {
					t.Errorf("the request gives %v", err)
				}
				synctest.Wait()
				if sent, cancelled := host.Sent(), host.Cancelled(); len(sent) != 1 || len(cancelled) != 0 {
					t.Errorf("sent %v, cancelled %q", sent, cancelled)
				}
			})
		})
	}
}

func TestScope_ownContextEndsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error, 1)
		act := func(ctx context.Context, scope *extension.Scope) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return getText(ctx, scope)
		}
		host := exttest.StartWith(t, eager(extension.API04, act, done), hanging())
		if result := host.Call("do", nil); result.IsError {
			t.Error(result.Text)
		}
		if err := <-done; !errors.Is(err, extension.ErrCancelled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request gives %v", err)
		}
		synctest.Wait()
		if cancelled := host.Cancelled(); len(cancelled) != 1 {
			t.Errorf("cancelled %q", cancelled)
		}
	})
}

// Behind an error answer nothing runs; behind a failed result it does.
func TestAfter_runsBehindResultsOnly(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(context.Context) error
		runs bool
	}{
		"failed result": {func(context.Context) error { return extension.Errorf("no luck") }, true},
		"cancelled":     {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := false
				ext := extension.New(composing(extension.API04))
				extension.AddTool(ext, "do", "Does it", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
					call.After(func(_ context.Context, scope *extension.Scope) error {
						ran = true
						if scope.Live() || scope.Context().Owner == nil || *scope.Context().Owner != someOwner {
							t.Errorf("live %t, context %+v", scope.Live(), scope.Context())
						}
						if err := errors.Join(scope.Progress("x", 0, 0, ""), scope.Output(extension.Stdout, "x")); !errors.Is(err, extension.ErrCallOver) {
							t.Errorf("progress behind the answer: %v", err)
						}
						return scope.Notify(extension.LevelInfo, "", "behind")
					})
					if !call.Live() {
						t.Error("the call is not live in its handler")
					}
					return nil, c.act(ctx)
				})
				host := exttest.StartWith(t, ext, hanging())
				call := host.Begin("do", nil)
				synctest.Wait()
				call.Cancel("user")
				_, _ = call.Wait()
				synctest.Wait()
				if ran != c.runs || len(host.Notifications()) != map[bool]int{true: 1}[c.runs] {
					t.Errorf("ran %t, notifications %v", ran, host.Notifications())
				}
			})
		})
	}
}

func TestAfter_errorsAndPanicsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		ext := extension.New(&extension.Options{Log: &log})
		extension.AddTool(ext, "do", "Does it", func(_ context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
			call.After(func(context.Context, *extension.Scope) error { return errors.New("too late") })
			call.After(func(context.Context, *extension.Scope) error { panic("oh no") })
			return nil, nil
		})
		host := exttest.Start(t, ext)
		host.Call("do", nil)
		synctest.Wait()
		for _, want := range []string{"after: too late", "after panicked: oh no"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log %q lacks %q", log.String(), want)
			}
		}
	})
}

// Shutdown ends what runs behind calls and in the session; Close of the test host fails if it does not.
func TestSession_shutdownEndsWhatRunsBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 2)
		wait := func(ctx context.Context, scope *extension.Scope) error {
			err := getText(ctx, scope)
			ended <- err
			return err
		}
		ext := extension.New(composing(extension.API04))
		ext.OnReady(func(ctx context.Context, session *extension.Scope) {
			<-ctx.Done()
			_, err := session.Invoke(context.WithoutCancel(ctx), "composer.get", nil)
			if !errors.Is(err, extension.ErrNoParent) {
				t.Errorf("the session gives %v", err)
			}
			ended <- extension.ErrCancelled
		})
		extension.AddTool(ext, "do", "Does it", func(_ context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
			call.After(wait)
			return nil, nil
		})
		host := exttest.StartWith(t, ext, hanging())
		host.Call("do", nil)
		synctest.Wait()
		start := time.Now()
		host.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("closing took %s", took)
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, extension.ErrCancelled) {
				t.Errorf("ended with %v", err)
			}
		}
	})
}

func TestOnReady_comesBehindInitialize(t *testing.T) {
	for _, api := range []extension.API{extension.API01, extension.API02, extension.API03, extension.API04} {
		synctest.Test(t, func(t *testing.T) {
			ready := 0
			ext := extension.New(composingOn(api))
			ext.OnReady(func(ctx context.Context, session *extension.Scope) {
				ready++
				if session.Live() || session.Owner() != nil || session.Workspace() != "/workspace" || session.Context().Workspace != "/workspace" {
					t.Errorf("API %s: the session is at %q: %+v", api, session.Workspace(), session.Context())
				}
				if err := session.Progress("x", 0, 0, ""); err == nil {
					t.Errorf("API %s: progress of no request was sent", api)
				}
			})
			host := exttest.Start(t, ext)
			synctest.Wait()
			if ready != 1 || len(host.Sent()) != 0 {
				t.Errorf("API %s: ready %d times, sent %v", api, ready, host.Sent())
			}
		})
	}
}

func composingOn(api extension.API) *extension.Options {
	if api == extension.API01 || api == extension.API03 {
		return quietOptions(api)
	}
	return composing(api)
}

// What a tool call alone may ask for, a command may not.
func TestScope_commandIsNoToolCall(t *testing.T) {
	done := make(chan error, 1)
	options := quietOptions(extension.API04)
	options.UsesAll = true
	ext := extension.New(options)
	ext.AddCommand(extension.Command{Name: "go", Description: "Goes", Run: func(ctx context.Context, call *extension.CommandCall, _ []string) (*extension.CommandResult, error) {
		done <- invoke("composition.context", `{}`)(ctx, &call.Scope)
		return nil, nil
	}})
	host := exttest.Start(t, ext)
	host.Command("go")
	if err := <-done; !errors.Is(err, extension.ErrNoParent) || len(host.Sent()) != 0 {
		t.Errorf("%v after %v", err, host.Sent())
	}
}

// What runs beside the calls ends before they are waited for, and the session behind it.
func TestSession_shutdownEndsWhatRunsBesideFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cleaned := make(chan struct{}), false
		ext := extension.New(quietOptions(extension.API04))
		ext.OnReady(func(ctx context.Context, _ *extension.Scope) {
			<-ctx.Done()
			close(ended)
			time.Sleep(time.Second) // longer than the connection lasts
			cleaned = true
		})
		extension.AddTool(ext, "wait", "Waits for what runs beside", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
			<-ended
			return nil, nil
		})
		host := exttest.Start(t, ext)
		call := host.Begin("wait", nil)
		synctest.Wait()
		host.Close()
		if _, err := call.Wait(); err != nil {
			t.Errorf("the call that waited for it gives %v", err)
		}
		if !cleaned {
			t.Error("Serve has returned before it")
		}
	})
}
