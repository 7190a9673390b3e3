package sample

import (
	"context"
	"time"
)

// Run measures one subject of one row once.
type Run struct {
	Row     string
	Subject string
	// Do measures for about the time it is given, over all its cases, and hands over what it has found.
	Do func(ctx context.Context, seconds time.Duration, emit func(Sample)) error
}
