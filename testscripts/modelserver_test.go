package testscripts

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// modelServer is an extension on API 0.3 that serves a model: the model "echo" of the provider "acme". It
// reads the file that the user names, tells what was in it, and breaks off or ends when the user says so.
func modelServer() {
	ext := extension.New(&extension.Options{API: extension.API03, UsesAll: true})
	extension.AddTool(ext, "ping", "Answers", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
		return extension.Text("pong"), nil
	})
	ext.OnReady(func(ctx context.Context, session *extension.Scope) {
		for _, service := range []struct{ name, arguments string }{
			{"providers.register", `{"provider":{"id":"acme","label":"Acme","auth":{"kind":"none"}},"models":[{"id":"echo","api_name":"echo-1","protocol":"openai_chat","context_window":100000,"max_output_tokens":1000,"display_name":"Echo","capabilities":{"tools":true,"parallel_tool_calls":false,"structured_output":false,"reasoning":false}}]}`},
			{"providers.complete", `{}`},
		} {
			if _, err := session.Invoke(ctx, service.name, []byte(service.arguments)); err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", service.name, err)
			}
		}
	})
	ext.OnProviderStream(acceptInference, infer)
	extension.Main(ext)
}

// inference is what the extension looks at in a request.
type inference struct {
	Messages []struct {
		Role  string
		Parts []struct {
			Kind, Text string
			Content    []struct{ Text string }
		}
	}
	Tools []struct{ Name string }
}

func acceptInference(_ context.Context, request canonicalwire.ProviderStreamRequest) error {
	if strings.Contains(string(request.Request), "decline") {
		return &extension.Declined{Reason: "acme is closed"}
	}
	return nil
}

func infer(ctx context.Context, stream *extension.Inference) error {
	var asked inference
	if err := json.Unmarshal(stream.Request.Request, &asked); err != nil {
		return err
	}
	last := asked.Messages[len(asked.Messages)-1]
	send := func(kind canonicalwire.ProviderStreamEventKind, payload string) {
		if err := stream.Send(ctx, kind, json.RawMessage(payload)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	quoted := func(text string) string {
		q, _ := json.Marshal(text)
		return string(q)
	}
	send(canonicalwire.ProviderStreamEventKindStarted, `{}`)
	text := last.Parts[0].Text
	switch {
	case last.Role == "tool":
		send(canonicalwire.ProviderStreamEventKindTextDelta, `{"text":`+quoted("It says "+strings.TrimSpace(last.Parts[0].Content[0].Text))+`}`)
	case strings.Contains(text, "crash"):
		send(canonicalwire.ProviderStreamEventKindTextDelta, `{"text":"half an ans"}`)
		os.Exit(3)
	case strings.Contains(text, "fail"):
		return fmt.Errorf("acme cannot say that")
	default:
		send(canonicalwire.ProviderStreamEventKindToolCallStart, `{"id":"one","name":"read"}`)
		send(canonicalwire.ProviderStreamEventKindToolCallArgsDelta, `{"arguments":`+quoted(`{"path":`+quoted(text)+`}`)+`}`)
		send(canonicalwire.ProviderStreamEventKindToolCallEnd, `{}`)
	}
	send(canonicalwire.ProviderStreamEventKindUsage, `{"input_tokens":7,"output_tokens":3}`)
	send(canonicalwire.ProviderStreamEventKindFinished, `{}`)
	return nil
}
