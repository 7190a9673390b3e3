package transcript_test

import (
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
