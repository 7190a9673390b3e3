// Package schedule decides by a seed what a wire leaves to whoever writes: where a stream of bytes is cut into
// writes, and in which order things are said that have no order of their own.
//
// A schedule belongs to one scenario. Its decisions depend on the seed of the run, on the name of the scenario
// and on what it was asked before, never on time: the same seed gives the same bytes in the same pieces.
package schedule

import (
	"hash/fnv"
	"math/rand/v2"
)

// Pace is how a stream of frames is cut into writes.
type Pace string

// The paces.
const (
	ByFrame  Pace = ""             // one write for a frame
	ByByte   Pace = "byte by byte" // one write for a byte
	InPieces Pace = "in pieces"    // writes of a length that the seed decides
	Together Pace = "together"     // one write for all frames up to the next wait
)

// maxPiece bounds a piece of a frame. A piece is most often shorter than a member of an envelope.
const maxPiece = 48

// whole is the length above which bytes are cut into few pieces: cutting a line of a megabyte into small ones
// would show nothing more.
const whole = 16 << 10

// Schedule draws decisions. It is not safe for use by several goroutines.
type Schedule struct{ rng *rand.Rand }

// New makes the schedule of a scenario.
func New(seed int64, scenario string) *Schedule {
	h := fnv.New64a()
	_, _ = h.Write([]byte(scenario)) // a hash cannot fail
	return &Schedule{rng: rand.New(rand.NewPCG(uint64(seed), h.Sum64()))}
}

// Below draws a number from 0 to n-1.
func (s *Schedule) Below(n int) int { return s.rng.IntN(n) }

// Cut cuts bytes into the pieces of a pace. No piece is empty.
func (s *Schedule) Cut(pace Pace, b []byte) [][]byte {
	var pieces [][]byte
	for len(b) > 0 {
		n := len(b)
		switch {
		case pace != ByByte && pace != InPieces:
		case n > whole:
			n = 1 + s.Below(n-1)
		case pace == ByByte:
			n = 1
		default:
			n = min(n, 1+s.Below(maxPiece))
		}
		pieces = append(pieces, b[:n])
		b = b[n:]
	}
	return pieces
}

// Weave brings strands into one order. What is in one strand keeps its order.
func Weave[T any](s *Schedule, strands ...[]T) []T {
	var out []T
	left := 0
	for _, strand := range strands {
		left += len(strand)
	}
	for ; left > 0; left-- {
		at := s.Below(left)
		for i, strand := range strands {
			if at < len(strand) {
				out = append(out, strand[0])
				strands[i] = strand[1:]
				break
			}
			at -= len(strand)
		}
	}
	return out
}
