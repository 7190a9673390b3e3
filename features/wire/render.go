package wire

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RenderOptions bound a rendering. Zero values mean the defaults.
type RenderOptions struct {
	Frames int // frames shown; the first few and the last ones are kept
	Bytes  int // payload bytes shown per frame
	Mark   int // index of the frame to point at; -1 for none
}

const (
	defaultFrames = 24
	defaultBytes  = 400
	headFrames    = 4 // shown of the beginning when the middle is left out
)

// Render writes the frames as two lanes, one line each: time, lane, payload. Bytes that are not printable
// UTF-8 are shown as \xNN, so the text is safe for a terminal.
func Render(w io.Writer, frames []Frame, opts RenderOptions) error {
	if opts.Frames <= 0 {
		opts.Frames = defaultFrames
	}
	if opts.Bytes <= 0 {
		opts.Bytes = defaultBytes
	}
	for i, f := range frames {
		if left := leftOut(len(frames), opts.Frames); left > 0 {
			if i == headFrames {
				if _, err := fmt.Fprintf(w, "      ... %d frames left out\n", left); err != nil {
					return err
				}
			}
			if i >= headFrames && i < headFrames+left {
				continue
			}
		}
		if _, err := fmt.Fprintln(w, Line(f, opts.Bytes, f.Index == opts.Mark)); err != nil {
			return err
		}
	}
	return nil
}

func leftOut(total, shown int) int {
	if total <= shown || shown <= headFrames {
		return 0
	}
	return total - shown
}

// Line is one frame on one line, at most limit payload bytes of it.
func Line(f Frame, limit int, marked bool) string {
	arrow := "-->"
	if f.Lane == FromSubject {
		arrow = "<--"
	}
	mark := "  "
	if marked {
		mark = "> "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%4d %8.1fms %s ", mark, f.Index, float64(f.At.Microseconds())/1000, arrow)
	b.WriteString(Printable(f.Bytes, limit))
	if f.Size > limit || f.Cut() {
		fmt.Fprintf(&b, " ... (%d bytes)", f.Size)
	}
	if !f.Ended {
		b.WriteString(" (no line feed)")
	}
	return b.String()
}

// Printable shows at most limit bytes. Control characters, line separators and invalid UTF-8 become
// escapes; everything else stays.
func Printable(b []byte, limit int) string {
	if len(b) > limit {
		b = b[:limit]
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, `\x%02x`, b[0])
		case !strconv.IsPrint(r):
			q := strconv.QuoteRune(r)
			out.WriteString(q[1 : len(q)-1])
		default:
			out.Write(b[:n])
		}
		b = b[n:]
	}
	return out.String()
}
