// Package extension is what the author of an octet extension imports. An extension is a program that the
// host starts and talks to over stdin and stdout; this package owns that conversation, and the author
// writes tools:
//
//	type countArgs struct {
//		Text string `json:"text" jsonschema:"description=Text to count"`
//	}
//
//	func main() {
//		ext := extension.New(nil)
//		extension.AddTool(ext, "count", "Counts the words of a text",
//			func(ctx context.Context, call *extension.Call, args countArgs) (*extension.Result, error) {
//				return extension.Text(fmt.Sprintf("%d words", len(strings.Fields(args.Text)))), nil
//			})
//		extension.Main(ext)
//	}
//
// Beside the program lies its manifest, extension.toml, which names the same tools and the same API version:
// 0.4, or what Options.API says. The package exttest holds a host for tests, without a process.
//
// # Whose fault
//
// A mistake in the program, such as a tool name twice, panics while the program starts. A mistake of the
// host is answered with an error of the protocol or ends the session; it never reaches a tool and never
// ends the process with a stack. A tool that fails is neither: its error becomes a result that the model
// reads.
//
// # What a host can rely on
//
// Every call is answered once, within two seconds of its cancellation. Stdout carries the protocol and
// nothing else: Main moves what the program prints to stderr. When the host asks for the end, every running
// call is answered before the process exits; when stdin ends, the process exits.
package extension
