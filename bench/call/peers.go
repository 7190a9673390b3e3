package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	sourcegraph "github.com/sourcegraph/jsonrpc2"
	exp "golang.org/x/exp/jsonrpc2"
)

// What the libraries without a protocol of their own carry: as much as octet does.
type (
	request struct {
		Name      string  `json:"name"`
		Arguments sayArgs `json:"arguments"`
	}
	part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	response struct {
		Content []part `json:"content"`
	}
)

// method is what they call; their own documents use such words.
const method = "call"

func say(r request) response { return response{[]part{{"text", r.Arguments.Text}}} }

func asked(text string) request { return request{toolName, sayArgs{text}} }

func (r response) check(text string) error {
	if len(r.Content) != 1 {
		return fmt.Errorf("%d parts came back", len(r.Content))
	}
	return same(r.Content[0].Text, text)
}

func serveJrpc2(in io.ReadCloser, out io.WriteCloser) error {
	methods := handler.Map{method: handler.New(func(_ context.Context, r request) (response, error) { return say(r), nil })}
	return jrpc2.NewServer(methods, &jrpc2.ServerOptions{Concurrency: 64}).Start(channel.Line(in, out)).Wait()
}

type jrpc2Client struct{ *jrpc2.Client }

func dialJrpc2(_ context.Context, in io.WriteCloser, out io.ReadCloser) (client, error) {
	return jrpc2Client{jrpc2.NewClient(channel.Line(out, in), nil)}, nil
}

func (c jrpc2Client) Call(ctx context.Context, text string) error {
	var r response
	if err := c.CallResult(ctx, method, asked(text), &r); err != nil {
		return err
	}
	return r.check(text)
}

func serveSourcegraph(in io.ReadCloser, out io.WriteCloser) error {
	handle := sourcegraph.HandlerWithError(func(_ context.Context, _ *sourcegraph.Conn, r *sourcegraph.Request) (any, error) {
		var q request
		if err := json.Unmarshal(*r.Params, &q); err != nil {
			return nil, err
		}
		return say(q), nil
	})
	conn := sourcegraph.NewConn(context.Background(), sourcegraph.NewPlainObjectStream(joined(in, out)), sourcegraph.AsyncHandler(handle))
	<-conn.DisconnectNotify()
	return nil
}

type sourcegraphClient struct{ *sourcegraph.Conn }

func dialSourcegraph(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (client, error) {
	none := sourcegraph.HandlerWithError(func(context.Context, *sourcegraph.Conn, *sourcegraph.Request) (any, error) { return nil, nil })
	return sourcegraphClient{sourcegraph.NewConn(ctx, sourcegraph.NewPlainObjectStream(joined(out, in)), none)}, nil
}

func (c sourcegraphClient) Call(ctx context.Context, text string) error {
	var r response
	if err := c.Conn.Call(ctx, method, asked(text), &r); err != nil {
		return err
	}
	return r.check(text)
}

// dialer hands out streams that are open already.
type dialer struct{ stream io.ReadWriteCloser }

func (d dialer) Dial(context.Context) (io.ReadWriteCloser, error) { return d.stream, nil }

func serveExp(in io.ReadCloser, out io.WriteCloser) error {
	handle := exp.HandlerFunc(func(_ context.Context, r *exp.Request) (any, error) {
		var q request
		if err := json.Unmarshal(r.Params, &q); err != nil {
			return nil, err
		}
		return say(q), nil
	})
	conn, err := exp.Dial(context.Background(), dialer{joined(in, out)}, exp.ConnectionOptions{Framer: exp.RawFramer(), Handler: handle})
	if err != nil {
		return err
	}
	return conn.Wait()
}

type expClient struct {
	conn *exp.Connection
	in   io.Closer
}

func dialExp(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (client, error) {
	conn, err := exp.Dial(ctx, dialer{joined(out, in)}, exp.ConnectionOptions{Framer: exp.RawFramer()})
	return expClient{conn, in}, err
}

func (c expClient) Call(ctx context.Context, text string) error {
	var r response
	if err := c.conn.Call(ctx, method, asked(text)).Await(ctx, &r); err != nil {
		return err
	}
	return r.check(text)
}

func (c expClient) Close() error { return c.in.Close() }

func serveMCP(in io.ReadCloser, out io.WriteCloser) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: toolName, Description: toolDescription},
		func(_ context.Context, _ *mcp.CallToolRequest, args sayArgs) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: args.Text}}}, nil, nil
		})
	return server.Run(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
}

type mcpClient struct{ *mcp.ClientSession }

func dialMCP(ctx context.Context, in io.WriteCloser, out io.ReadCloser) (client, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	session, err := c.Connect(ctx, &mcp.IOTransport{Reader: out, Writer: in}, nil)
	return mcpClient{session}, err
}

func (c mcpClient) Call(ctx context.Context, text string) error {
	result, err := c.CallTool(ctx, &mcp.CallToolParams{Name: toolName, Arguments: sayArgs{text}})
	if err != nil {
		return err
	}
	if len(result.Content) != 1 {
		return fmt.Errorf("%d parts came back", len(result.Content))
	}
	got, is := result.Content[0].(*mcp.TextContent)
	if !is {
		return errors.New("no text came back")
	}
	return same(got.Text, text)
}
