package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/transcript"
)

func TestParseFrame_time(t *testing.T) {
	f, err := transcript.ParseFrame([]byte(`{"lane":"host","at_ms":1.5,"text":"x"}`), 3)
	if err != nil || f.At != 1500*time.Microsecond {
		t.Errorf("got %v, %v", f.At, err)
	}
	for _, wrong := range []string{"-1", "1e300"} {
		if _, err := transcript.ParseFrame([]byte(`{"lane":"host","at_ms":`+wrong+`,"text":"x"}`), 0); err == nil || !strings.Contains(err.Error(), "at_ms is ") {
			t.Errorf("at_ms %s: got %v", wrong, err)
		}
	}
}

func TestRead_saysWhatToDoWithALongOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	_, _, err := transcript.Read(path)
	if err == nil || !strings.HasSuffix(err.Error(), "its first lines are a transcript as well: head -n 10000 "+path+" > first.jsonl") {
		t.Errorf("got %v", err)
	}
}
