package call

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/octet-dev/octet/sdk-go/extension"
)

const loudName = "loud"

// Flood is what a loud extension must be called with.
const Flood = "flood"

// serveLoud is an extension that writes to standard error until its call is cancelled.
func serveLoud(in io.ReadCloser, out io.WriteCloser) error {
	ext := extension.New(nil)
	extension.AddTool(ext, toolName, toolDescription, func(ctx context.Context, _ *extension.Call, _ sayArgs) (*extension.Result, error) {
		for n := 0; ctx.Err() == nil; n++ {
			if _, err := fmt.Fprintf(os.Stderr, "line %d of a flood that nobody asked for\n", n); err != nil {
				return nil, err
			}
		}
		return nil, ctx.Err()
	})
	return ext.Serve(context.Background(), in, out)
}
