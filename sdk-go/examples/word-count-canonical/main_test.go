package main

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func TestCountWords(t *testing.T) {
	host := exttest.Start(t, tools())
	for _, test := range []struct {
		text   string
		unique bool
		want   string
	}{
		{"one two two", false, "3 words"},
		{"one two two", true, "2 words"},
		{"one", false, "1 words"},
		{" höh\nhöh\n", true, "1 words"},
	} {
		result := host.Call("count_words", countArgs{test.text, test.unique})
		if result.Text != test.want || result.IsError || result.Structured != nil {
			t.Errorf("%q gives %q and %s, want %q", test.text, result.Text, result.Structured, test.want)
		}
	}
}

func TestTools_refuseAnEmptyText(t *testing.T) {
	host := exttest.Start(t, tools())
	for _, tool := range []string{"count_words", "count_slowly"} {
		result := host.Call(tool, map[string]any{"text": " \n"})
		if !result.IsError || result.Text != "text is empty: pass at least one word" {
			t.Errorf("%s gives %q, error %v", tool, result.Text, result.IsError)
		}
		if _, err := host.TryCall(tool, nil); err == nil || !strings.Contains(err.Error(), "text") {
			t.Errorf("%s without a text gives %v", tool, err)
		}
	}
}

func TestCountSlowly_countsEveryWord(t *testing.T) {
	host := exttest.Start(t, tools())
	if result := host.Call("count_slowly", slowArgs{"one two", 0}); result.Text != "2 words" {
		t.Errorf("%q", result.Text)
	}
}

func TestCountSlowly_stopsWhenCancelled(t *testing.T) {
	host := exttest.Start(t, tools())
	pending := host.Begin("count_slowly", slowArgs{"one two three", 10_000})
	pending.Cancel("user")
	if _, err := pending.Wait(); !exttest.IsCancelled(err) {
		t.Errorf("the call ended with %v, want a cancellation", err)
	}
}

func TestManifest_agreesWithTheProgram(t *testing.T) {
	exttest.CheckManifest(t, tools(), ".")
}

// The program as a host starts it: built, and spoken to over its pipes.
func TestProcess(t *testing.T) {
	program := filepath.Join(t.TempDir(), "word-count-canonical")
	if output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	run := exec.Command(program)
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for _, exchange := range []struct{ frame, want string }{
		{
			`{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"api_version":"0.3","capabilities":{},"contract":{"encoding":"octet-canonical-json-v1","limits":{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":256},"optional_capabilities":[],"optional_methods":[],"required_capabilities":["content_parts","core","request_cancellation","tool_call"],"required_methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"},"contributes":{"tools":["count_words","count_slowly"]},"extension":{},"flag_values":[],"host":{},"octet_version":"0.8.0","workspace":"/w"}}`,
			`"schema":"octet.extension.api/0.3"`,
		},
		{
			`{"id":2,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"text":"one two"},"context":{},"name":"count_words"}}`,
			`{"id":2,"jsonrpc":"2.0","result":{"content":[{"text":"2 words","type":"text"}],"is_error":false,"metadata":null}}`,
		},
		{`{"id":3,"jsonrpc":"2.0","method":"shutdown","params":{}}`, `{"id":3,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}`},
	} {
		if _, err := io.WriteString(in, exchange.frame+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := answers.ReadString('\n'); err != nil || !strings.Contains(answer, exchange.want) {
			t.Fatalf("%s is answered with %s (%v)", exchange.frame, answer, err)
		}
	}
	if err := run.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}
