package extension_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/octet-dev/octet/sdk-go/extension"
)

const sayTool = `{"description":"Says it","name":"say","parameters":{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}}`

func TestServe_initialize(t *testing.T) {
	for api, want := range map[extension.API]string{
		extension.API01: `{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.1","commands":[],"tools":[` + sayTool + `]}}`,
		extension.API02: `{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.2","commands":[],"protocol":{"features":["request_cancellation","content_parts","request_progress"],"limits":{"max_concurrent_requests":64},"version":"0.2"},"tools":[` + sayTool + `]}}`,
		extension.API03: `{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.3","contract":{"capabilities":["content_parts","core","request_cancellation","tool_call"],"encoding":"octet-canonical-json-v1","limits":{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":256},"methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"},"tools":[` + sayTool + `]}}`,
		extension.API04: `{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.4","commands":[],"protocol":{"features":["request_cancellation","content_parts","request_progress"],"limits":{"max_concurrent_requests":64},"version":"0.4"},"tools":[` + sayTool + `]}}`,
	} {
		t.Run(string(api), func(t *testing.T) {
			l := dial(t, one(api, echo))
			l.send(initialize(api))
			l.want(want)
		})
	}
}

func TestServe_concurrencyIsSelected(t *testing.T) {
	ext := extension.New(&extension.Options{Concurrency: 3, Log: io.Discard})
	l := dial(t, ext)
	l.send(initialize(extension.API04))
	l.want(`{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.4","commands":[],"protocol":{"features":["request_cancellation","content_parts","request_progress"],"limits":{"max_concurrent_requests":3},"version":"0.4"},"tools":[]}}`)

	canonical := extension.New(&extension.Options{API: extension.API03, Concurrency: 3, Log: io.Discard})
	l = dial(t, canonical)
	l.send(initialize(extension.API03))
	l.want(`{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.3","contract":{"capabilities":["content_parts","core","request_cancellation","tool_call"],"encoding":"octet-canonical-json-v1","limits":{"max_concurrent_requests":3,"max_frame_bytes":65536,"max_tools":256},"methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"},"tools":[]}}`)
}

// A refused initialize is answered, and is the end.
func TestServe_initializeRefused(t *testing.T) {
	for _, test := range []struct {
		name        string
		api         extension.API
		frame, want string
	}{
		{
			"another version", extension.API04, initialize(extension.API02),
			`{"error":{"code":-32000,"data":{"expected":"0.4","received":"0.2"},"message":"unsupported API version: 0.2; this extension speaks 0.4"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"another version, whatever else is wrong", extension.API04, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"9.9"}}`,
			`{"error":{"code":-32000,"data":{"expected":"0.4","received":"9.9"},"message":"unsupported API version: 9.9; this extension speaks 0.4"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"the canonical version on the feature wire", extension.API01, initialize(extension.API03),
			`{"error":{"code":-32000,"data":{"expected":"0.1","received":"0.3"},"message":"unsupported API version: 0.3; this extension speaks 0.1"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"no version", extension.API04, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
			`{"error":{"code":-32602,"data":{"detail":"the required member \"api_version\" is absent; add it","pointer":"/api_version","violation":"missing"},"message":"Invalid params"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"an unsupported required feature", extension.API04,
			strings.Replace(initialize(extension.API04), `"content_parts"]`, `"content_parts","artifacts","made_up_v1"]`, 1),
			`{"error":{"code":-32000,"data":{"unsupported_features":["artifacts","made_up_v1"]},"message":"required API 0.4 features are unsupported: artifacts, made_up_v1"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"0.3: another version", extension.API03, `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"api_version":"0.4"}}`,
			`{"error":{"code":-32010,"data":{"expected":"0.3","received":"0.4"},"message":"extension API version mismatch"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"0.3: another schema", extension.API03, strings.Replace(initialize(extension.API03), "octet.extension.api/0.3", "octet.extension.api/0.9", 1),
			`{"error":{"code":-32010,"data":{"expected":"octet.extension.api/0.3","received":"octet.extension.api/0.9"},"message":"extension API version mismatch"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"0.3: another encoding", extension.API03, strings.Replace(initialize(extension.API03), "octet-canonical-json-v1", "octet-canonical-json-v2", 1),
			`{"error":{"code":-32602,"data":{"detail":"is another encoding than octet-canonical-json-v1","name":"octet-canonical-json-v2"},"message":"invalid params"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"0.3: a missing required method", extension.API03, strings.Replace(initialize(extension.API03), `,"tool/call"]`, `]`, 1),
			`{"error":{"code":-32011,"data":{"detail":"is a required method and missing","name":"tool/call"},"message":"extension capability mismatch"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"0.3: a limit of zero", extension.API03, strings.Replace(initialize(extension.API03), `"max_tools":256`, `"max_tools":0`, 1),
			`{"error":{"code":-32602,"data":{"detail":"must be at least 1","name":"max_tools"},"message":"invalid params"},"id":1,"jsonrpc":"2.0"}`,
		},
		{
			"0.3: an unlisted member", extension.API03, strings.Replace(initialize(extension.API03), `"workspace":"/w"`, `"workspace":"/w","x":1`, 1),
			`{"error":{"code":-32602,"data":{"detail":"InitializeRequest has no member \"x\"; leave it out","pointer":"/x","violation":"unknown"},"message":"invalid params"},"id":1,"jsonrpc":"2.0"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := dial(t, one(test.api, echo))
			l.send(test.frame)
			l.want(test.want)
			if err := l.end(); !errors.Is(err, extension.ErrRefused) {
				t.Errorf("served %v, want a refusal", err)
			}
		})
	}
}

func TestServe_catalogOverTheOfferIsRefused(t *testing.T) {
	ext := one(extension.API03, echo)
	extension.AddTool(ext, "again", "Says it again", echo)
	l := dial(t, ext)
	l.send(strings.Replace(initialize(extension.API03), `"max_tools":256`, `"max_tools":1`, 1))
	l.want(`{"error":{"code":-32012,"data":{"detail":"more tools than the selected limit","name":""},"message":"extension resource exhausted"},"id":1,"jsonrpc":"2.0"}`)
	if err := l.end(); !errors.Is(err, extension.ErrRefused) {
		t.Errorf("served %v, want a refusal", err)
	}
}

func TestServe_manifestThatDisagrees(t *testing.T) {
	for _, test := range []struct {
		api  extension.API
		list string
		want string
	}{
		{extension.API04, `"tools":["say"]`, ""},
		{extension.API04, `"tools":["count","say"]`, "the manifest declares the tools [count, say], the program has [say]"},
		{extension.API01, `"tools":[]`, "the manifest declares the tools [], the program has [say]"},
		{extension.API03, `"contributes":{"tools":["sing"]}`, "the manifest declares the tools [sing], the program has [say]"},
		{extension.API03, `"contributes":{"tools":["say"]}`, ""},
		{extension.API03, `"contributes":{}`, ""},
	} {
		var log bytes.Buffer
		ext := extension.New(&extension.Options{API: test.api, Log: &log})
		extension.AddTool(ext, "say", "Says it", echo)
		l := dial(t, ext)
		l.send(strings.NewReplacer(`"tools":[]`, test.list, `"contributes":{}`, test.list).Replace(initialize(test.api)))
		if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, `"result"`) {
			t.Fatalf("initialize: %s (%v)", got, err)
		}
		l.send(shutdown)
		if _, err := l.out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
		if text := log.String(); !strings.Contains(text, test.want) || (test.want == "") != (text == "") {
			t.Errorf("API %s with %s: stderr is %q, want %q in it", test.api, test.list, text, test.want)
		}
	}
}
