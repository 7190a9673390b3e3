package ledger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/oup/ledger"
)

// FuzzOpen changes the bytes of a ledger that a kill has left behind, or cuts them: it opens or is refused, and what is
// replayed then is a beginning of what was appended, unchanged.
func FuzzOpen(f *testing.F) {
	directory := f.TempDir()
	l, err := ledger.Open(f.Context(), directory)
	if err != nil {
		f.Fatal(err)
	}
	var kept []ledger.Stored
	for n := range 40 {
		kept = append(kept, add(f, l, event("s", n))...)
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(directory)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(directory, e.Name())); err != nil {
			f.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(true, uint32(0), []byte{}, uint32(0))
	f.Add(true, uint32(40), []byte{1, 2, 3}, uint32(0))
	f.Add(true, uint32(0), []byte{}, uint32(5000))
	f.Add(false, uint32(16), []byte{0xff, 0xff}, uint32(0))
	f.Add(false, uint32(4200), []byte("torn"), uint32(0))
	f.Add(false, uint32(100), []byte{}, uint32(3000))
	f.Fuzz(func(t *testing.T, log bool, at uint32, over []byte, cut uint32) {
		here := t.TempDir()
		for name, data := range files {
			data = append([]byte{}, data...)
			if log == strings.HasSuffix(name, "-wal") && len(data) > 0 {
				copy(data[int(at)%len(data):], over)
				data = data[:len(data)-int(cut)%len(data)]
			}
			if err := os.WriteFile(filepath.Join(here, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := ledger.Open(t.Context(), here)
		if err != nil {
			return
		}
		defer func() { _ = l.Close() }()
		n := 0
		_, _ = l.Replay(t.Context(), "s", nil, func(s ledger.Stored) error {
			if n >= len(kept) || s.Seq != kept[n].Seq || string(s.Body) != string(kept[n].Body) || s.Method != kept[n].Method {
				t.Errorf("event %d is replayed as %+v", n+1, s)
			}
			n++
			return nil
		})
	})
}

// FuzzDecodeCursor reads a cursor as it stands in a frame of a client.
func FuzzDecodeCursor(f *testing.F) {
	for _, seed := range []string{`{"stream":"s","seq":1}`, `{}`, `null`, `{"stream":"s","seq":-1}`, `{"stream":1,"seq":1.5}`, `{"stream":"s","seq":9223372036854775808}`, `[`} {
		f.Add([]byte(seed))
	}
	l, err := ledger.Open(f.Context(), f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = l.Close() })
	add(f, l, event("s", 0), event("s", 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ledger.DecodeCursor(text)
		if err != nil {
			return
		}
		_, err = l.Replay(t.Context(), "s", &c, func(s ledger.Stored) error {
			if s.Seq <= c.Seq {
				t.Errorf("the cursor %d is followed by %d", c.Seq, s.Seq)
			}
			return nil
		})
		if whole := c.Stream == "s" && c.Seq >= 0 && c.Seq <= 2; whole != (err == nil) {
			t.Errorf("a replay behind %+v ends with %v", c, err)
		}
	})
}
