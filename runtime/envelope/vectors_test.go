package envelope

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/frame"
)

type vector struct {
	ID      string
	Text    string
	Hex     string
	Bound   int
	Verdict string
}

var repeat = regexp.MustCompile(`@@REP:(.*?):([0-9]+)@@`)

func (v vector) bytes(t *testing.T) []byte {
	if v.Hex != "" {
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		return b
	}
	return []byte(repeat.ReplaceAllStringFunc(v.Text, func(m string) string {
		part := repeat.FindStringSubmatch(m)
		n, _ := strconv.Atoi(part[2])
		return strings.Repeat(part[1], n)
	}))
}

// vectors reads a vector file of the spec; floor is how many it must hold, so that an emptied file
// cannot pass.
func vectors(t *testing.T, name string, floor int) []vector {
	data, err := os.ReadFile("../../spec/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) < floor {
		t.Fatalf("%s holds %d vectors, want at least %d", name, len(file.Vectors), floor)
	}
	return file.Vectors
}

// judgeFrame is the verdict of a frame vector on the bytes of one stream.
func judgeFrame(wire frame.Wire, stream []byte, bound int) string {
	if bound == 0 {
		bound = 1 << 20
	}
	payload, err := frame.NewReader(bytes.NewReader(stream), wire, frame.Extension, bound).Next()
	var fault *frame.Error
	var e Envelope
	switch {
	case errors.As(err, &fault):
		return "terminate"
	case err == io.EOF:
		return "accept" // blank lines only
	case err != nil:
		return err.Error()
	case wire == frame.Canonical && canonical.Check(payload) == nil:
		return "accept"
	case wire == frame.Feature && Read(wire, payload, &e) == nil && e.Reason != NotObject:
		return "accept"
	}
	return "reject"
}

func TestFrames_giveTheVerdictsOfTheSpec(t *testing.T) {
	for wire, file := range map[frame.Wire]string{frame.Canonical: "canonical-frames.json", frame.Feature: "feature-frames.json"} {
		for _, v := range vectors(t, file, 70) {
			if got := judgeFrame(wire, v.bytes(t), v.Bound); got != v.Verdict {
				t.Errorf("%s: %.80q judged %s, want %s", v.ID, v.Text+v.Hex, got, v.Verdict)
			}
		}
	}
}

func TestRead_givesTheVerdictsOfTheSpec(t *testing.T) {
	for wire, file := range map[frame.Wire]string{frame.Canonical: "canonical-envelopes.json", frame.Feature: "feature-envelopes.json"} {
		for _, v := range vectors(t, file, 60) {
			var e Envelope
			err := Read(wire, v.bytes(t), &e)
			if e.Kind.String() != v.Verdict {
				t.Errorf("%s: %.80q is %v (%v, %v), want %s", v.ID, v.Text, e.Kind, e.Reason, err, v.Verdict)
			}
			if err == nil && (e.Kind == Invalid) != (e.Reason != 0) {
				t.Errorf("%s: kind %v with reason %v", v.ID, e.Kind, e.Reason)
			}
			for _, side := range []frame.Side{frame.Host, frame.Extension} {
				if e.Reason != 0 && e.Reason.Rule(wire, side) == "" {
					t.Errorf("%s: reason %q has no rule for the %s", v.ID, e.Reason, side)
				}
			}
		}
	}
}
