package model

import (
	"math/bits"

	"github.com/octet-dev/octet/host/conversation"
)

// Cost is what a usage costs in microdollars, rounded up. Reasoning costs as much as output.
func (p Price) Cost(u conversation.Usage) int64 {
	return portion(u.Input, p.Input) + portion(u.Output, p.Output) + portion(u.Reasoning, p.Output) +
		portion(u.CacheRead, p.CacheRead) + portion(u.CacheWrite, p.CacheWrite)
}

// portion is the price of some tokens, at most what fits.
func portion(tokens, perMillion int64) int64 {
	if tokens <= 0 || perMillion <= 0 {
		return 0
	}
	const million, most = 1_000_000, 1 << 60
	high, low := bits.Mul64(uint64(tokens), uint64(perMillion))
	if high >= million {
		return most
	}
	quotient, rest := bits.Div64(high, low, million)
	if rest > 0 {
		quotient++
	}
	return int64(min(quotient, most))
}
