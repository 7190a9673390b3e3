package call

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// toolName is the tool of every subject: it gives its text back.
const (
	toolName        = "say"
	toolDescription = "Gives the text back."
)

type sayArgs struct {
	Text string `json:"text"`
}

func tools() *extension.Extension {
	ext := extension.New(nil)
	extension.AddTool(ext, toolName, toolDescription, func(_ context.Context, _ *extension.Call, args sayArgs) (*extension.Result, error) {
		return extension.Text(args.Text), nil
	})
	return ext
}

func serveOctet(in io.ReadCloser, out io.WriteCloser) error {
	return tools().Serve(context.Background(), in, out)
}

// octet is a connection of a host, as the extension package of the host has it: every result is decoded with its model.
type octet struct{ conn *peer.Conn }

func dialOctet(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (client, error) {
	version := featurewire.Version04
	profile, err := peer.FeatureProfile(frame.Host, version)
	if err != nil {
		return nil, err
	}
	conn := peer.New(peer.Options{
		Profile: profile,
		Source:  frame.NewReader(out, profile.Wire, frame.Extension, profile.MaxFrameBytes),
		Sink:    frame.NewWriter(in, profile.Wire, frame.Host, profile.MaxFrameBytes),
		Hangup:  func() { _ = in.Close(); _ = out.Close() },
	})
	conn.Start()
	_, err = conn.Do(ctx, peer.Call{
		Method: featurewire.MethodInitialize, Params: offer(version),
		Install: func([]byte) error {
			agreement := &negotiation.Agreement{Version: version, Features: required(version)}
			conn.Install(peer.Session{Open: agreement.Open()})
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", explained(err))
	}
	return octet{conn}, nil
}

func (o octet) Close() error { return o.conn.Close() }

// required are the features that the spec demands of every extension of a version.
func required(version string) []string {
	var list []string
	for i := range featurewire.Features {
		if f := &featurewire.Features[i]; f.Required && contains(f.Versions, version) {
			list = append(list, f.Name)
		}
	}
	return list
}

func contains(list []string, want string) bool {
	for _, one := range list {
		if one == want {
			return true
		}
	}
	return false
}

func offer(version string) peer.Value {
	needs := []featurewire.FeatureName{}
	for _, name := range required(version) {
		needs = append(needs, featurewire.FeatureName(name))
	}
	return featurewire.InitializeParams{
		APIVersion: featurewire.ApiVersion(version), OctetVersion: manifest.OctetVersion().String(), Workspace: "/w",
		Extension: featurewire.ExtensionIdentity{
			Name: toolName, Version: "1.0.0", ManifestPath: "/w/extension.toml", Source: featurewire.ExtensionSourceExplicit,
		},
		Capabilities: featurewire.CapabilityGrants{Filesystem: featurewire.FilesystemGrantNone},
		Contributes: featurewire.Contributes{
			Tools: []featurewire.ToolName{toolName}, Commands: []featurewire.CommandName{}, Hooks: []string{},
			UI: []featurewire.UiSurface{}, ToolRenderers: []featurewire.ToolName{},
		},
		Protocol: featurewire.ProtocolOffer{
			Version: version, RequiredFeatures: needs, OptionalFeatures: []featurewire.FeatureName{},
			Limits: featurewire.ProtocolOfferLimits{MaxConcurrentRequests: featurewire.MaxConcurrentRequests},
		},
	}
}

func params(text string) featurewire.ToolCallParams {
	arguments := canonical.AppendString(append(make([]byte, 0, len(text)+16), `{"text":`...), text)
	return featurewire.ToolCallParams{
		Name: toolName, Arguments: append(arguments, '}'),
		Context: featurewire.ExecutionContext{Workspace: "/w", ExecutionScope: wirejson.Null[string]()},
	}
}

func (o octet) Call(ctx context.Context, text string) error {
	raw, err := o.conn.Call(ctx, featurewire.MethodToolCall, params(text))
	if err != nil {
		return err
	}
	result, err := featurewire.DecodeToolCallResult(raw)
	o.conn.Recycle(raw)
	if err != nil {
		return err
	}
	part, is := result.Content[0].(featurewire.TextPart)
	if !is {
		return fmt.Errorf("the first part is no text but %T", result.Content[0])
	}
	return same(part.Text, text)
}

// explained adds the data of an error answer, which says where the fault lies.
func explained(err error) error {
	var answer *peer.Error
	if errors.As(err, &answer) && answer.Data != nil {
		return fmt.Errorf("%w: %s", err, answer.Data)
	}
	return err
}
