package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// playEcho writes every line back, which is the least that any extension does.
func playEcho() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		text, err := in.ReadSlice('\n')
		if err != nil {
			os.Exit(0)
		}
		if _, err := os.Stdout.Write(text); err != nil {
			os.Exit(1)
		}
	}
}

// child is a process of the test binary with its pipes.
func child(b *testing.B, role string) (io.WriteCloser, *bufio.Reader) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{roleVariable + "=" + role}
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
		_ = in.Close()
		_ = cmd.Wait()
	})
	answers := bufio.NewReaderSize(out, 1<<20)
	if role != bareEcho {
		if _, err := answers.ReadSlice('\n'); err != nil { // printed before Main
			b.Fatal(err)
		}
	}
	return in, answers
}

// timed runs one exchange over and over and reports the median.
func timed(b *testing.B, exchange func() error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		started := time.Now()
		if err := exchange(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkCall compares a tool call between a Go host and a Go extension, both with full validation, with
// a bare echo of the same frame over the same kind of pipes. Budgets are ratios of the two, within one run.
func BenchmarkCall(b *testing.B) {
	for name, size := range map[string]int{"100B": 100, "10KiB": 10 << 10} {
		text := strings.Repeat("word ", size/5)
		request := call(extension.API04, 7, "say", `{"text":"`+text+`"}`) + "\n"
		b.Run("bare-echo/"+name, func(b *testing.B) {
			in, answers := child(b, bareEcho)
			timed(b, func() error {
				if _, err := io.WriteString(in, request); err != nil {
					return err
				}
				_, err := answers.ReadSlice('\n')
				return err
			})
		})
		b.Run("tool-call/"+name, func(b *testing.B) {
			in, answers := child(b, string(extension.API04))
			conn := benchHost(b, in, answers)
			arguments, err := json.Marshal(textArgs{text})
			if err != nil {
				b.Fatal(err)
			}
			params := featurewire.ToolCallParams{Name: "say", Arguments: arguments, Context: featurewire.ExecutionContext{
				Workspace: "/w", ExecutionScope: wirejson.Null[string](),
			}}
			timed(b, func() error {
				raw, err := conn.Call(context.Background(), featurewire.MethodToolCall, params)
				if err != nil {
					return err
				}
				_, err = featurewire.DecodeToolCallResult(raw)
				return err
			})
		})
	}
}

// benchHost is a host that has negotiated with the extension.
func benchHost(b *testing.B, in io.WriteCloser, out io.Reader) *peer.Conn {
	b.Helper()
	profile, err := peer.FeatureProfile(frame.Host, string(extension.API04))
	if err != nil {
		b.Fatal(err)
	}
	conn := peer.New(peer.Options{
		Profile: profile,
		Source:  frame.NewReader(out, profile.Wire, frame.Extension, profile.MaxFrameBytes),
		Sink:    frame.NewWriter(in, profile.Wire, frame.Host, profile.MaxFrameBytes),
		Hangup:  func() { _ = in.Close() },
	})
	conn.Start()
	b.Cleanup(func() { _ = conn.Close() })
	_, after, _ := strings.Cut(initialize(extension.API04), `"params":`)
	_, err = conn.Do(context.Background(), peer.Call{
		Method: featurewire.MethodInitialize,
		Params: peer.Raw(strings.TrimSuffix(after, "}")),
		Install: func([]byte) error {
			agreement := &negotiation.Agreement{Version: string(extension.API04), Features: []string{featurewire.FeatureRequestCancellation}}
			conn.Install(peer.Session{Open: agreement.Open()})
			return nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return conn
}
