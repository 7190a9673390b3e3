package progress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/tool"
)

// blocked is a sink whose person looks away until release is called; seen is complete after Close.
func blocked(t *testing.T) (s *Sink, seen *[]tool.Progress, release func()) {
	t.Helper()
	gate := make(chan struct{})
	seen = &[]tool.Progress{}
	s = NewSink(func(p tool.Progress) {
		<-gate
		*seen = append(*seen, p)
	})
	s.Put(tool.Progress{Message: "first"})
	synctest.Wait() // the first is with the person now, and the queue is empty
	return s, seen, func() { close(gate) }
}

// Output comes in chunks within their bound, and not a byte is lost while there is room.
//
// EXT04-PROG-016.
func TestSink_cutsOutput(t *testing.T) {
	for _, size := range []int{1, featurewire.MaxProgressOutputBytes, featurewire.MaxProgressOutputBytes + 1, 3*featurewire.MaxProgressOutputBytes + 5} {
		var got []tool.Progress
		s := NewSink(func(p tool.Progress) { got = append(got, p) })
		data := bytes.Repeat([]byte("x"), size)
		s.Put(tool.Progress{Stream: "stdout", Data: data})
		if dropped := s.Close(); dropped != 0 {
			t.Errorf("%d bytes: %d pieces dropped", size, dropped)
		}
		total := 0
		for _, p := range got {
			if len(p.Data) > featurewire.MaxProgressOutputBytes || p.Stream != "stdout" {
				t.Errorf("%d bytes: a piece of %d bytes on %q", size, len(p.Data), p.Stream)
			}
			total += len(p.Data)
		}
		if want := (size + featurewire.MaxProgressOutputBytes - 1) / featurewire.MaxProgressOutputBytes; total != size || len(got) != want {
			t.Errorf("%d bytes came as %d in %d pieces, want %d pieces", size, total, len(got), want)
		}
	}
}

// A person who looks away holds nothing up: the queue keeps its bound, small output is merged, and what
// finds no room is dropped and counted.
//
// EXT04-PROG-016.
func TestSink_neverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen, release := blocked(t)
		chunk := bytes.Repeat([]byte("x"), featurewire.MaxProgressOutputBytes)
		for range featurewire.MaxProgressMessages + 3 {
			s.Put(tool.Progress{Stream: "stdout", Data: chunk})
		}
		release()
		if dropped := s.Close(); dropped != 3 {
			t.Errorf("dropped %d pieces, want 3", dropped)
		}
		if len(*seen) != 1+featurewire.MaxProgressMessages {
			t.Errorf("the person saw %d pieces, want %d", len(*seen), 1+featurewire.MaxProgressMessages)
		}
	})
}

func TestSink_mergesSmallOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen, release := blocked(t)
		for range 2 * featurewire.MaxProgressMessages {
			s.Put(tool.Progress{Stream: "stderr", Data: []byte("line\n")})
		}
		s.Put(tool.Progress{Stream: "stdout", Data: []byte("out")})
		s.Put(tool.Progress{Stream: "stderr", Data: []byte("end")})
		release()
		if dropped := s.Close(); dropped != 0 {
			t.Errorf("dropped %d", dropped)
		}
		if len(*seen) != 4 || string((*seen)[1].Data) != strings.Repeat("line\n", 2*featurewire.MaxProgressMessages) ||
			string((*seen)[2].Data) != "out" || string((*seen)[3].Data) != "end" {
			t.Errorf("the person saw %d pieces: %+v", len(*seen), *seen)
		}
	})
}

// Whoever puts output in keeps its buffer.
func TestSink_keepsNoBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen, release := blocked(t)
		buffer := []byte("one|two")
		s.Put(tool.Progress{Stream: "stdout", Data: buffer[:3]})
		s.Put(tool.Progress{Stream: "stdout", Data: []byte("!")})
		if string(buffer) != "one|two" {
			t.Errorf("the buffer was written to: %q", buffer)
		}
		copy(buffer, "xxxxxxx")
		release()
		s.Close()
		if string((*seen)[1].Data) != "one!" {
			t.Errorf("the person saw %q", (*seen)[1].Data)
		}
	})
}

// A decoration takes the place of the one before it and leaves a state alone.
//
// EXT04-PROG-014.
func TestSink_decorationReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen, release := blocked(t)
		s.Put(tool.Progress{Label: "old", Detail: "of old"})
		s.Put(tool.Progress{Message: "half"})
		s.Put(tool.Progress{Label: "new"})
		s.Put(tool.Progress{Message: "done"})
		release()
		s.Close()
		if len(*seen) != 3 || (*seen)[1].Label != "new" || (*seen)[1].Detail != "" || (*seen)[2].Message != "done" {
			t.Errorf("the person saw %+v", *seen)
		}
		s.Put(tool.Progress{Message: "late"})
		s.Close()
		if len(*seen) != 3 {
			t.Error("news came behind Close")
		}
	})
}
