package wirejson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// PlainRun returns the length in bytes of the run at the start of s that a JSON string holds as it is: all
// before the first quotation mark, backslash, control character or byte that is no part of a well-formed
// UTF-8 sequence.
func PlainRun(s []byte) int {
	n := 0
	for {
		for n+8 <= len(s) {
			m := special(binary.LittleEndian.Uint64(s[n:]))
			if m != 0 {
				n += bits.TrailingZeros64(m) >> 3
				break
			}
			n += 8
			if n&0x38 == 0 { // once in eight words: a run this long is likely to go on
				n += longRun(s[n:])
			}
		}
		for n < len(s) && s[n] < utf8.RuneSelf && plain(s[n]) {
			n++
		}
		if n == len(s) || s[n] < utf8.RuneSelf {
			return n
		}
		for n < len(s) && s[n] >= utf8.RuneSelf {
			// The lead bytes that any two continuation bytes may follow need no general decoder.
			if c := s[n]; c > 0xE0 && c < 0xF0 && c != 0xED && n+2 < len(s) && s[n+1]&s[n+2]&0x80 != 0 && (s[n+1]|s[n+2])&0x40 == 0 {
				n += 3
				continue
			}
			_, size := utf8.DecodeRune(s[n:])
			if size == 1 {
				return n
			}
			n += size
		}
	}
}

// longRun returns the length of the run at the start of s, in steps of four words, of which none is looked at more closely
// until one has a mark. It is no good for short runs.
func longRun(s []byte) (n int) {
	for ; n+32 <= len(s); n += 32 {
		w := s[n : n+32 : n+32]
		marks := special(binary.LittleEndian.Uint64(w)) | special(binary.LittleEndian.Uint64(w[8:])) |
			special(binary.LittleEndian.Uint64(w[16:])) | special(binary.LittleEndian.Uint64(w[24:]))
		if marks != 0 {
			break
		}
	}
	return n
}

// special marks, with their high bit, the bytes of w that are not ASCII or do not stand for themselves. A
// byte above a marked one may be marked without reason, because the subtractions borrow, so only the lowest
// mark counts.
func special(w uint64) uint64 {
	const low, high = 0x0101010101010101, 0x8080808080808080
	quote := w ^ (low * '"')
	slash := w ^ (low * '\\')
	return ((w - low*0x20) | (quote - low) | (slash - low) | w) & high
}
