// Command testee answers the vectors of a referee with the verdicts of the Go runtime and bindings: one
// request a line on stdin, one answer a line on stdout, in order. It stops at the end of stdin with status
// 0 and at a broken stream with status 1.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/runtime/frame"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "testee: %v\n", err)
		os.Exit(1)
	}
}

// maxRequestBytes bounds one request: a frame at the largest bound of a wire, in base64, with room to spare.
const maxRequestBytes = 16 << 20

// request is one line of the referee. Which members matter depends on the operation.
type request struct {
	Seq       int64          `json:"seq"`
	Op        string         `json:"op"`
	Wire      string         `json:"wire"`
	Bytes     []byte         `json:"base64"`
	Bound     int            `json:"bound"`
	Model     string         `json:"model"`
	Text      string         `json:"text"`
	API       string         `json:"api"`
	Offer     jsontext.Value `json:"offer"`
	Selection jsontext.Value `json:"selection"`
}

// answer is one line of ours.
type answer struct {
	Seq       int64    `json:"seq"`
	OK        bool     `json:"ok,omitzero"`
	Name      string   `json:"name,omitzero"`
	Protocol  int      `json:"protocol,omitzero"`
	Ops       []string `json:"ops,omitzero"`
	Wires     []string `json:"wires,omitzero"`
	Verdict   string   `json:"verdict,omitzero"`
	Encoded   *string  `json:"encoded,omitzero"`
	Pointer   *string  `json:"pointer,omitzero"`
	Violation string   `json:"violation,omitzero"`
	Error     string   `json:"error,omitzero"`
}

// The verdicts.
const (
	accept      = "accept"
	reject      = "reject"
	terminate   = "terminate"
	malformed   = "malformed"
	unsupported = "unsupported"
)

func serve(in io.Reader, out io.Writer) error {
	lines := frame.NewReader(in, frame.Feature, frame.Host, maxRequestBytes)
	buffered := bufio.NewWriter(out)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return buffered.Flush()
		}
		if err != nil {
			return errors.Join(err, buffered.Flush())
		}
		text, err := json.Marshal(answerTo(line))
		if err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if _, err := buffered.Write(append(text, '\n')); err != nil {
			return err
		}
		if !lines.Buffered() { // the referee may wait for this answer
			if err := buffered.Flush(); err != nil {
				return err
			}
		}
	}
}

func answerTo(line []byte) answer {
	var q request
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{Seq: q.Seq, Verdict: unsupported}
	}
	var a answer
	switch q.Op {
	case "hello":
		a = hello()
	case "frame":
		a = judgeFrame(q)
	case "model":
		a = judgeModel(q)
	case "envelope":
		a = judgeEnvelope(q)
	case "negotiate":
		a = judgeNegotiation(q)
	default:
		a = answer{Verdict: unsupported}
	}
	a.Seq = q.Seq
	return a
}

func hello() answer {
	return answer{
		OK: true, Name: "octet sdk-go", Protocol: 1, Ops: []string{"envelope", "frame", "model", "negotiate"},
		Wires: []string{canonicalwire.Wire, featurewire.Wire, manifestdoc.Wire, oupwire.Wire},
	}
}
