package peer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/frame"
)

// The benchmarks run the extension side as a process of its own: this test binary again, told by the
// environment what to be.
const roleVariable = "OCTET_PEER_BENCH_ROLE"

func playRole(role string) {
	switch role {
	case "echo":
		in := bufio.NewReaderSize(os.Stdin, 64<<10)
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if _, err := os.Stdout.Write(line); err != nil {
				return
			}
		}
	case "0.3", "0.4":
		p := CanonicalProfile(frame.Extension)
		handle := serve03
		if role == "0.4" {
			p, _ = FeatureProfile(frame.Extension, role)
			handle = serve04
		}
		c := New(Options{
			Profile: p,
			Source:  frame.NewReader(os.Stdin, p.Wire, frame.Host, p.MaxFrameBytes),
			Sink:    frame.NewWriter(os.Stdout, p.Wire, frame.Extension, p.MaxFrameBytes),
			Handle:  handle,
		})
		c.Install(Session{Open: []string{"tool/call"}, MaxConcurrent: 64})
		c.Start()
		_ = c.Wait()
	}
}

func serve03(_ context.Context, r *Request) (Value, error) {
	q, err := canonicalwire.DecodeToolCallParams(r.Params)
	if err != nil {
		return nil, err
	}
	return canonicalwire.ToolCallResult{
		Content: []canonicalwire.ContentPart{canonicalwire.TextPart{Text: q.Name}},
	}, nil
}

func serve04(_ context.Context, r *Request) (Value, error) {
	q, err := featurewire.DecodeToolCallParams(r.Params)
	if err != nil {
		return nil, err
	}
	return featurewire.ToolCallResult{
		Content: []featurewire.ContentPart{featurewire.TextPart{Text: q.Name}},
	}, nil
}

// start runs this binary in a role and returns its pipes.
func start(b *testing.B, role string) (io.WriteCloser, io.ReadCloser) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return in, out
}

func argument(size int) string {
	return `{"arguments":{"text":"` + strings.Repeat("x", size) + `"},` +
		`"context":{"execution_scope":null,"host":{},"workspace":"/w"},"name":"word_count"}`
}

var sizes = []int{100, 10 << 10}

// echoer returns one bare round trip of a frame: no JSON, no peer, the same pipes.
func echoer(b *testing.B, size int) func() {
	in, out := start(b, "echo")
	line := []byte(`{"id":1,"jsonrpc":"2.0","method":"tool/call","params":` + argument(size) + "}\n")
	buf := make([]byte, len(line))
	return func() {
		if _, err := in.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(out, buf); err != nil || !bytes.Equal(buf[:8], line[:8]) {
			b.Fatal(err)
		}
	}
}

func dial(b *testing.B, version string) *Conn {
	b.Helper()
	in, out := start(b, version)
	p := CanonicalProfile(frame.Host)
	if version == "0.4" {
		p, _ = FeatureProfile(frame.Host, version)
	}
	c := New(Options{
		Profile: p,
		Source:  frame.NewReader(out, p.Wire, frame.Extension, p.MaxFrameBytes),
		Sink:    frame.NewWriter(in, p.Wire, frame.Host, p.MaxFrameBytes),
		Hangup:  func() { in.Close(); out.Close() },
	})
	c.Install(Session{Open: []string{"tool/call"}, MaxConcurrent: 64})
	c.Start()
	b.Cleanup(func() { c.Close() })
	return c
}

// decode reads a result as a host does.
func decode(version string, result []byte) error {
	if version == "0.3" {
		_, err := canonicalwire.DecodeToolCallResult(result)
		return err
	}
	_, err := featurewire.DecodeToolCallResult(result)
	return err
}

// The budget of a lone call is a multiple of a bare echo over the same kind of pipes. Both are timed
// in turns, so that whatever else the machine does hits both.
func BenchmarkCall_lone(b *testing.B) {
	for _, version := range []string{"0.3", "0.4"} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%dB", version, size), func(b *testing.B) {
				echo := echoer(b, size)
				c := dial(b, version)
				params := Raw(argument(size))
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				call := func() {
					result, err := c.Call(ctx, "tool/call", params)
					if err == nil {
						err = decode(version, result)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				const block = 64
				var echoes, calls []time.Duration
				b.ReportAllocs()
				for b.Loop() {
					echoes = append(echoes, timed(block, echo)...)
					calls = append(calls, timed(block, call)...)
				}
				slices.Sort(echoes)
				slices.Sort(calls)
				for _, q := range []int{10, 50} {
					e, k := echoes[len(echoes)*q/100], calls[len(calls)*q/100]
					b.ReportMetric(float64(e), fmt.Sprintf("echo-p%d-ns", q))
					b.ReportMetric(float64(k), fmt.Sprintf("call-p%d-ns", q))
					b.ReportMetric(float64(k)/float64(e), fmt.Sprintf("x-echo-p%d", q))
				}
			})
		}
	}
}

func timed(n int, f func()) []time.Duration {
	f() // wakes the other process
	all := make([]time.Duration, n)
	for i := range all {
		start := time.Now()
		f()
		all[i] = time.Since(start)
	}
	return all
}

func BenchmarkCall_64inFlight(b *testing.B) {
	for _, version := range []string{"0.3", "0.4"} {
		b.Run(version, func(b *testing.B) {
			c := dial(b, version)
			params := Raw(argument(100))
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			work := make(chan struct{}, b.N)
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			for range 64 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for range work {
						result, err := c.Call(ctx, "tool/call", params)
						if err == nil {
							err = decode(version, result)
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				}()
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
