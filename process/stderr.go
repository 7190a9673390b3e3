package process

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"time"
)

// Defaults of StderrOptions.
const (
	DefaultLineBytes = 8 << 10
	DefaultTailLines = 200
	DefaultTailBytes = 64 << 10
)

// headLines is how many of the first lines are kept: a program that dies of an error often names it in
// front of a long trace.
const headLines = 8

// StderrOptions bound what is kept of standard error. Zero values mean the defaults.
type StderrOptions struct {
	// LineBytes is the longest line kept; the rest of a longer one is dropped.
	LineBytes int
	// TailLines and TailBytes bound the newest lines that are kept.
	TailLines, TailBytes int
	// OnLine is called for every line, in order, from one goroutine. While it runs nothing is drained.
	OnLine func(Line)
}

// Line is one line of standard error without its line end, as valid UTF-8.
type Line struct {
	Text string
	Cut  bool // it was longer than the bound
}

// Tail is what is kept of standard error.
type Tail struct {
	First []Line // the very first ones, at most headLines; they may also stand in Lines
	Lines []Line // the newest ones, oldest first
	Bytes int64  // everything written so far
	Total int64  // lines written so far, an unfinished last one not counted
}

// Dropped counts the lines that are no longer kept.
func (t Tail) Dropped() int64 { return t.Total - int64(len(t.Lines)) }

// String joins the kept lines, each with a newline.
func (t Tail) String() string {
	var b strings.Builder
	for _, line := range t.Lines {
		b.WriteString(line.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// drain reads standard error to its end.
type drain struct {
	file *os.File
	opts StderrOptions
	done chan struct{}
	more chan struct{} // something was read; room for one

	mu    sync.Mutex // guards the fields below
	first []Line
	lines []Line // a queue: the oldest first
	size  int    // bytes of the texts in lines
	bytes int64
	total int64
}

func newDrain(file *os.File, opts StderrOptions) *drain {
	if opts.LineBytes <= 0 {
		opts.LineBytes = DefaultLineBytes
	}
	if opts.TailLines <= 0 {
		opts.TailLines = DefaultTailLines
	}
	if opts.TailBytes <= 0 {
		opts.TailBytes = DefaultTailBytes
	}
	d := &drain{file: file, opts: opts, done: make(chan struct{}), more: make(chan struct{}, 1)}
	go d.run()
	return d
}

func (d *drain) run() {
	defer close(d.done)
	s := splitter{limit: d.opts.LineBytes, emit: d.add}
	buf := make([]byte, 4<<10)
	for {
		n, err := d.file.Read(buf)
		d.count(n)
		s.write(buf[:n])
		if err != nil {
			s.flush()
			return
		}
	}
}

func (d *drain) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes += int64(n)
	select {
	case d.more <- struct{}{}:
	default:
	}
}

func (d *drain) counted() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bytes
}

func (d *drain) add(line Line) {
	d.keep(line)
	if d.opts.OnLine != nil {
		d.opts.OnLine(line)
	}
}

func (d *drain) keep(line Line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total++
	if len(d.first) < headLines {
		d.first = append(d.first, line)
	}
	d.lines = append(d.lines, line)
	d.size += len(line.Text)
	for len(d.lines) > 1 && (len(d.lines) > d.opts.TailLines || d.size > d.opts.TailBytes) {
		d.size -= len(d.lines[0].Text)
		d.lines[0] = Line{}
		d.lines = d.lines[1:]
	}
}

func (d *drain) tail() Tail {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Tail{First: append([]Line(nil), d.first...), Lines: append([]Line(nil), d.lines...), Bytes: d.bytes, Total: d.total}
}

// finish waits for the end of the stream, or until grace fires and what lay in the pipe was read, and closes the pipe.
// It returns after the last callback.
func (d *drain) finish(grace <-chan time.Time) {
	select {
	case <-d.done:
	case <-grace:
		d.rest()
	}
	closeFiles(d.file)
	<-d.done
}

// maxRest is more than a pipe holds. Who escaped and goes on talking is listened to no longer.
const maxRest = 1 << 20

// rest waits until the pipe is empty: on a busy machine the last words of a tree may be read late.
func (d *drain) rest() {
	for most := d.counted() + maxRest; unread(d.file) > 0 && d.counted() < most; {
		select {
		case <-d.more:
		case <-d.done:
			return
		}
	}
}

// splitter cuts a stream into bounded lines.
type splitter struct {
	limit int
	emit  func(Line)
	part  []byte // the unfinished line, at most limit bytes
	cut   bool
	open  bool // bytes of an unfinished line have been seen
}

func (s *splitter) write(b []byte) {
	for len(b) > 0 {
		line, rest, complete := bytes.Cut(b, []byte{'\n'})
		s.append(line)
		if !complete {
			return
		}
		s.open = true
		s.flush()
		b = rest
	}
}

func (s *splitter) append(b []byte) {
	if len(b) == 0 {
		return
	}
	s.open = true
	if room := s.limit - len(s.part); len(b) > room {
		b = b[:room]
		s.cut = true
	}
	s.part = append(s.part, b...)
}

func (s *splitter) flush() {
	if !s.open {
		return
	}
	text := strings.ToValidUTF8(strings.TrimSuffix(string(s.part), "\r"), "\uFFFD")
	line := Line{Text: text, Cut: s.cut}
	s.part, s.cut, s.open = s.part[:0], false, false
	s.emit(line)
}
