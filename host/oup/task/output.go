package task

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

const (
	// segmentBytes is the size of one file of output; maxSegments of them are kept, the newest.
	segmentBytes = 4 << 20
	maxSegments  = 4
	segmentName  = "output-"
)

// output is what a task writes: whole UTF-8 characters in files of some size, under the offset of their first
// byte. What is no UTF-8 is replaced before it counts, so that offsets are those of the text that is read.
type output struct {
	root  *os.Root
	grown chan struct{} // has room for one; filled when there is more

	mu       sync.Mutex
	segments []segment // ascending, without a gap
	file     *os.File  // the last segment while it grows
	rest     []byte    // the beginning of a character
	trouble  error     // what is written since is lost
}

type segment struct{ from, size int64 }

func (s segment) name() string { return segmentName + strconv.FormatInt(s.from, 10) }

// openOutput opens what there is of the output.
func openOutput(root *os.Root) (*output, error) {
	o := &output{root: root, grown: make(chan struct{}, 1)}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("task output: %w", err)
	}
	for _, entry := range entries {
		text, ok := strings.CutPrefix(entry.Name(), segmentName)
		from, err := strconv.ParseInt(text, 10, 64)
		if info, infoErr := entry.Info(); ok && err == nil && infoErr == nil && info.Mode().IsRegular() {
			o.segments = append(o.segments, segment{from, info.Size()})
		}
	}
	slices.SortFunc(o.segments, func(a, b segment) int { return int(min(max(a.from-b.from, -1), 1)) })
	for i := len(o.segments) - 1; i > 0; i-- { // an interrupted removal leaves a gap: what is in front of it is lost
		if o.segments[i-1].from+o.segments[i-1].size != o.segments[i].from {
			o.segments = o.segments[i:]
			break
		}
	}
	return o, nil
}

// windowLocked is which bytes are kept.
func (o *output) windowLocked() (base, total int64) {
	if len(o.segments) == 0 {
		return 0, 0
	}
	last := o.segments[len(o.segments)-1]
	return o.segments[0].from, last.from + last.size
}

// Write takes what the task has written. It always takes all of it, so that the task is never held up by a disk
// that is full.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := append(o.rest, b...)
	keep := len(text) - incomplete(text)
	o.rest = slices.Clone(text[keep:])
	o.putLocked(strings.ToValidUTF8(string(text[:keep]), "\uFFFD"))
	return len(b), nil
}

// finish takes over what is left of a character and closes the file.
func (o *output) finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.putLocked(strings.ToValidUTF8(string(o.rest), "\uFFFD"))
	o.rest = nil
	if o.file != nil {
		o.trouble = errors.Join(o.trouble, o.file.Sync(), o.file.Close())
		o.file = nil
	}
	return o.trouble
}

func (o *output) putLocked(text string) {
	for text != "" && o.trouble == nil {
		if o.file == nil || o.segments[len(o.segments)-1].size >= segmentBytes {
			if o.trouble = o.nextLocked(); o.trouble != nil {
				return
			}
		}
		last := &o.segments[len(o.segments)-1]
		part := text
		if room := segmentBytes - last.size; int64(len(part)) > room {
			part = part[:room]
			part = part[:len(part)-incomplete([]byte(part))]
		}
		if part == "" { // no room for the character that comes next
			if o.trouble = o.nextLocked(); o.trouble != nil {
				return
			}
			continue
		}
		n, err := io.WriteString(o.file, part)
		if err != nil { // half a character may be there: it does not count
			n -= incomplete([]byte(part[:n]))
			_ = o.file.Truncate(last.size + int64(n))
		}
		last.size += int64(n)
		o.trouble, text = err, text[len(part):]
	}
	select {
	case o.grown <- struct{}{}:
	default:
	}
}

// nextLocked begins another segment and drops the oldest.
func (o *output) nextLocked() error {
	if o.file != nil {
		if err := o.file.Close(); err != nil {
			return err
		}
		o.file = nil
	}
	_, total := o.windowLocked()
	next := segment{from: total}
	file, err := o.root.OpenFile(next.name(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	o.file, o.segments = file, append(o.segments, next)
	for len(o.segments) > maxSegments {
		if err := o.root.Remove(o.segments[0].name()); err != nil {
			return err
		}
		o.segments = o.segments[1:]
	}
	return nil
}

// Stretch is a part of the output.
type Stretch struct {
	Text       string
	From, Next int64 // offsets
	Base       int64 // of the oldest byte that is kept
	Total      int64
}

// read reads at most so many bytes from an offset on. An offset outside moves to the nearest that is kept.
//
// OUP-TASK-016, OUP-TASK-017, OUP-TASK-021.
func (o *output) read(from, limit int64) (Stretch, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	base, total := o.windowLocked()
	from = min(max(from, base), total)
	s := Stretch{From: from, Next: from, Base: base, Total: total}
	text := make([]byte, 0, min(limit+utf8.UTFMax, total-from))
	for _, seg := range o.segments {
		at := from + int64(len(text)) - seg.from
		if at < 0 || at >= seg.size || len(text) == cap(text) {
			continue
		}
		part, err := o.readSegment(seg, at, min(int64(cap(text)-len(text)), seg.size-at))
		if err != nil {
			return Stretch{}, err
		}
		text = append(text, part...)
	}
	s.Text, s.From = whole(text, from, limit)
	s.Next = s.From + int64(len(s.Text))
	return s, nil
}

func (o *output) readSegment(seg segment, at, count int64) ([]byte, error) {
	file, err := o.root.Open(seg.name())
	if err != nil {
		return nil, fmt.Errorf("task output: %w", err)
	}
	defer func() { _ = file.Close() }()
	part := make([]byte, count)
	if _, err := file.ReadAt(part, at); err != nil {
		return nil, fmt.Errorf("task output: %w", err)
	}
	return part, nil
}

// whole takes whole characters out of bytes of a text that begin at an offset: at most limit bytes, and no more
// than fit into a frame.
func whole(text []byte, from, limit int64) (string, int64) {
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text, from = text[1:], from+1
	}
	if most := min(limit, oupwire.MaxFrameTextBytes); int64(len(text)) > most {
		text = text[:max(most, 0)]
	}
	text = text[:len(text)-incomplete(text)]
	for len(wirejson.AppendString(nil, text)) > maxEncodedText {
		text = text[:len(text)*3/4]
		text = text[:len(text)-incomplete(text)]
	}
	return string(text), from
}

// maxEncodedText bounds the JSON of a text, so that it fits into a frame with everything around it.
const maxEncodedText = oupwire.MaxTextFrameBytes - 128<<10

// incomplete counts the bytes at the end that begin a character and do not finish it.
func incomplete(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if at := text[len(text)-n]; utf8.RuneStart(at) {
			if at >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
