package extension

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/runtime/frame"
)

// scripted is an extension whose every byte the test writes: it answers each line it reads with the next
// of the texts, keeps what it read in the file seen, and ends with its input.
type scripted struct {
	api, contributes string
	answers          []string
	options          Options
}

func (s scripted) start(t *testing.T) (x *Extension, seen func() string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncd \"$OCTET_EXTENSION_DIR\"\n: >seen\n"
	files := map[string]string{
		"extension.toml": "name = \"demo\"\nversion = \"1.2.3\"\napi_version = \"" + s.api + "\"\n[entrypoint]\ncommand = \"run\"\n[contributes]\n" + s.contributes + "\n",
	}
	for n, answer := range s.answers {
		name := fmt.Sprint("answer", n)
		files[name] = answer
		script += "read -r line || exit 0\necho \"$line\" >>seen\ncat " + name + "\n"
	}
	files["run"] = script + "cat >>seen\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	source, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.options.Deadlines = fast
	x, err = Start(t.Context(), source, s.options)
	if x != nil {
		t.Cleanup(func() { x.Close() })
	}
	return x, func() string {
		text, err := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have been ended before its first word
			t.Fatal(err)
		}
		return string(text)
	}, err
}

// Until the contract stands, the offered bound holds in both directions, whatever will be selected.
func TestFrames_offeredBoundHoldsUntilTheContractStands(t *testing.T) {
	answer := func(size int) string {
		const head = `{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.3","contract":{"capabilities":["content_parts","core","request_cancellation","tool_call"],` +
			`"encoding":"octet-canonical-json-v1","limits":{"max_concurrent_requests":4,"max_frame_bytes":1000,"max_tools":1},` +
			`"methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"},` +
			`"tools":[{"description":"","name":"a","parameters":{"description":"`
		const tail = `","type":"object"}}]}}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail + "\n"
	}
	t.Run("EXT03-FRAME-016 reads", func(t *testing.T) {
		t.Parallel()
		x, seen, err := scripted{api: "0.3", contributes: `tools = ["a"]`, answers: []string{answer(1048576)}}.start(t)
		if err != nil {
			t.Fatalf("an answer of exactly the bound: %v", err)
		}
		if got := x.Agreement().MaxFrameBytes; got != 1000 {
			t.Errorf("frames of %d bytes are agreed on, want the selected 1000", got)
		}
		if !strings.Contains(seen(), `"max_frame_bytes":1048576`) {
			t.Errorf("the offer is %.600s", seen())
		}
	})
	t.Run("EXT03-FRAME-016 reads no more", func(t *testing.T) {
		t.Parallel()
		_, _, err := scripted{api: "0.3", contributes: `tools = ["a"]`, answers: []string{answer(1048577)}}.start(t)
		wantFailure(t, err, Protocol, "extension message exceeded 1048576 bytes")
	})
	t.Run("EXT03-FRAME-016 writes no more", func(t *testing.T) {
		t.Parallel()
		var flags, values []string
		for n := range 64 {
			flags = append(flags, fmt.Sprintf(`{ name = "f%d", type = "string", default = "" }`, n))
			values = append(values, fmt.Sprintf("f%d=%s", n, strings.Repeat("\x01", 4096))) // each byte takes six
		}
		_, seen, err := scripted{
			api: "0.3", contributes: "flags = [" + strings.Join(flags, ", ") + "]", answers: []string{answer(1000)}, options: Options{Flags: values},
		}.start(t)
		failure := wantFailure(t, err, Initialize, "the request exceeds 1048576 bytes")
		var fault *frame.Error
		if !errors.As(failure, &fault) || fault.From != frame.Host {
			t.Errorf("the cause is %v, want a frame of the host", failure.Cause)
		}
		if got := seen(); got != "" {
			t.Errorf("the extension saw %.100s, want nothing", got)
		}
	})
}

// Only progress of a running call counts, and only while its sequence grows.
func TestProgress_thatIsIgnored(t *testing.T) {
	progress := func(id, sequence, message string) string {
		return `{"jsonrpc":"2.0","method":"$/progress","params":{"request_id":` + id + `,"sequence":` + sequence + `,"event":{"type":"status","message":"` + message + `"}}}` + "\n"
	}
	for _, api := range []string{"0.2", "0.4"} {
		t.Run("EXT04-PROG-010 "+api, func(t *testing.T) {
			t.Parallel()
			result := func(id string) string {
				return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"done"}],"is_error":false,"metadata":null}}` + "\n"
			}
			var got, diagnosed []string
			x, _, err := scripted{
				api: api, contributes: `tools = ["a"]`,
				options: Options{Diagnose: func(text string) { diagnosed = append(diagnosed, text) }},
				answers: []string{
					`{"jsonrpc":"2.0","id":1,"result":{"api_version":"` + api + `","tools":[{"name":"a","description":"A.","parameters":{"type":"object"}}],"commands":[],` +
						`"protocol":{"version":"` + api + `","features":["request_cancellation","content_parts","request_progress"],"limits":{"max_concurrent_requests":4}}}}` + "\n",
					progress("2", "3", "first") + progress("2", "3", "same") + progress("2", "2", "lower") + progress("2", "9", "second") + progress("2", "4", "lower again") +
						progress("1", "1", "of initialize") + progress("3", "1", "of no request") + progress(`"2"`, "1", "of another id") + progress("2", "10", "third") +
						result("2") + progress("2", "11", "behind the answer"),
					progress("2", "12", "of the call before") + progress("3", "1", "of the next") + result("3"),
				},
			}.start(t)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := x.Call(t.Context(), Request{Tool: "a", Progress: func(p Progress) { got = append(got, p.Message) }}); err != nil {
					t.Fatal(err)
				}
			}
			x.Close()
			if want := []string{"first", "second", "third", "of the next"}; !slices.Equal(got, want) {
				t.Errorf("progress %q, want %q", got, want)
			}
			diagnosed = slices.DeleteFunc(diagnosed, func(text string) bool { return !strings.HasPrefix(text, "progress is dropped: ") })
			want := []string{
				"sequence 3 of request 2 does not grow", "sequence 2 of request 2 does not grow", "sequence 4 of request 2 does not grow",
				"request 1 is not running", "request 3 is not running", `request "2" is not running`,
				"request 2 is not running", "request 2 is not running",
			}
			for n, text := range diagnosed {
				diagnosed[n] = strings.TrimPrefix(text, "progress is dropped: ")
			}
			if !slices.Equal(diagnosed, want) {
				t.Errorf("diagnosed %q, want %q", diagnosed, want)
			}
		})
	}
}
