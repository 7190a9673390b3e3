package sample

import (
	"bytes"
	"strings"
	"testing"
)

func TestSamples_comeBackAsTheyWereWritten(t *testing.T) {
	want := Sample{Row: "r", Subject: "a, b <c>", Case: "100 B", Metric: Throughput, Value: 1.5, Count: 3}
	var text bytes.Buffer
	if err := Write(&text, want); err != nil {
		t.Fatal(err)
	}
	want.Unit = "MB/s"
	got, err := Read(&text)
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRead_refusesWhatTheContractDoesNotList(t *testing.T) {
	for text, want := range map[string]string{
		"not JSON":                               "no sample",
		`{"row":"r","metric":"p51","unit":"us"}`: `"p51"`,
		`{"row":"r","metric":"p50","unit":"ms"}`: `in "ms"`,
	} {
		if _, err := Read(strings.NewReader(text + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}
