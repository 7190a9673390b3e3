//go:build !unix

package artifact

import "testing"

func pipe(*testing.T, string) {}
