package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads a file that anybody may have written: it is refused, or what was read is written and read as the
// same frames.
func FuzzRead(f *testing.F) {
	head := `{"format":"` + Format + `"}` + "\n"
	for _, seed := range []string{
		"", head, "{}\n", head + `{"lane":"to_subject","at_ms":1.5,"text":"{}","line_feed":true}` + "\n", head + `{"lane":"from_subject","base64":"/w=="}`,
		head + `{"lane":"from_subject","at_ms":1e300}`, head + `{"lane":"x"}`, head + "\n\n", head + `{"text":"a","base64":"YQ=="}`, head + `{"lane":"to_subject","text":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "a.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, frames, err := Read(path)
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := NewWriter(&again, h)
		for _, frame := range frames {
			w.Add(frame)
		}
		if err := os.WriteFile(path, again.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, second, err := Read(path)
		if err != nil || len(second) != len(frames) {
			t.Fatalf("%d frames are written, %d read: %v\n%s", len(frames), len(second), err, again.Bytes())
		}
		for i := range frames {
			if !bytes.Equal(frames[i].Bytes, second[i].Bytes) || frames[i].Lane != second[i].Lane || frames[i].Ended != second[i].Ended {
				t.Errorf("frame %d is %+v, read again %+v", i, frames[i], second[i])
			}
		}
	})
}
