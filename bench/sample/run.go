package sample

import (
	"context"
	"time"
)

// Run measures one subject of one row once.
type Run struct {
	Row     string
	Subject string
	// Rounds is the most rounds that it is worth, because it takes long and varies little; 0: no bound.
	Rounds int
	// Do measures for about the time it is given, over all its cases, and hands over what it has found.
	Do func(ctx context.Context, seconds time.Duration, emit func(Sample)) error
}
