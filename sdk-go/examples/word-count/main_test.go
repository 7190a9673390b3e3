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
		counts counts
	}{
		{"one two two", false, "3 words", counts{3, 11, 1}},
		{"one two two", true, "2 words", counts{2, 11, 1}},
		{"one", false, "1 words", counts{1, 3, 1}},
		{" höh\nhöh\n", true, "1 words", counts{1, 9, 3}},
	} {
		result := host.Call("count_words", countArgs{test.text, test.unique})
		var got counts
		if err := result.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if result.Text != test.want || result.IsError || got != test.counts {
			t.Errorf("%q gives %q and %+v, want %q and %+v", test.text, result.Text, got, test.want, test.counts)
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

func TestCountSlowly_reportsEachWord(t *testing.T) {
	host := exttest.Start(t, tools())
	result := host.Call("count_slowly", slowArgs{"one two", 0})
	want := []exttest.Progress{{Message: "one", Current: 1, Total: 2, Unit: "words"}, {Message: "two", Current: 2, Total: 2, Unit: "words"}}
	if result.Text != "2 words" || len(result.Progress) != 2 || result.Progress[0] != want[0] || result.Progress[1] != want[1] {
		t.Errorf("%q with progress %+v", result.Text, result.Progress)
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
	program := filepath.Join(t.TempDir(), "word-count")
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
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"0.4","octet_version":"0.8.0","extension":{"name":"word-count","version":"1.0.0","manifest_path":"/x/extension.toml","source":"explicit"},"workspace":"/w","capabilities":{"filesystem":"none","process":false,"network":false},"contributes":{"tools":["count_words","count_slowly"],"commands":[],"hooks":[],"ui":[],"context":false,"tool_renderers":[],"notifications":false,"confirmations":false},"host":{},"protocol":{"version":"0.4","required_features":["request_cancellation","content_parts"],"optional_features":[],"limits":{"max_concurrent_requests":64}}}}`,
			`"features":["request_cancellation","content_parts"]`,
		},
		{
			`{"jsonrpc":"2.0","id":2,"method":"tool/call","params":{"name":"count_words","arguments":{"text":"one two"},"context":{"workspace":"/w","execution_scope":null,"host":{}}}}`,
			`{"id":2,"jsonrpc":"2.0","result":{"content":[{"text":"2 words","type":"text"}],"is_error":false,"structured_content":{"characters":7,"lines":1,"words":2}}}`,
		},
		{`{"jsonrpc":"2.0","id":3,"method":"shutdown","params":{}}`, `{"id":3,"jsonrpc":"2.0","result":{}}`},
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
