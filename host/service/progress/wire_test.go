package progress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/tool"
)

// A decoration of a live call reaches the person whole, or not at all and with a diagnostic.
//
// EXT04-PROG-014, EXT04-PROG-015.
func TestSink_decorationsOfAnExtension(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		rig := extensiontest.Start(t, extensiontest.Setup{API: api})
		var seen []tool.Progress
		sink := NewSink(func(p tool.Progress) { seen = append(seen, p) })
		sequence := 0
		rig.DuringCall(extension.Request{Progress: func(p extension.Progress) { sink.Put(Of(p)) }}, func(id int64) {
			decorate := func(members string) {
				sequence++
				rig.Tell(featurewire.MethodProgress, fmt.Sprintf(`{"request_id":%d,"sequence":%d,"event":{"type":"decoration"%s}}`, id, sequence, members))
			}
			label, detail := strings.Repeat("l", featurewire.MaxProgressLabelBytes), strings.Repeat("d", featurewire.MaxProgressDetailBytes)
			decorate(`,"label":"` + label + `","detail":"` + detail + `"`)
			for _, bad := range []string{
				``, `,"label":""`, `,"label":7`, `,"label":"` + label + `l"`, `,"label":"x","detail":"` + detail + `d"`, `,"label":"a\u0007"`, `,"label":"a\n"`, `,"label":"a\u009b"`, `,"label":"x","detail":"a\u001b[31m"`,
			} {
				decorate(bad)
			}
		})
		sink.Close()
		if len(seen) != 1 || len(seen[0].Label) != featurewire.MaxProgressLabelBytes || len(seen[0].Detail) != featurewire.MaxProgressDetailBytes {
			t.Errorf("API %s: the person saw %d pieces: %.300v", api, len(seen), seen)
		}
		rig.X.Close()
		if !rig.Diagnosed("progress is dropped") {
			t.Errorf("API %s: diagnostics %q", api, rig.Diagnostics())
		}
	}
}

func TestOf(t *testing.T) {
	n := int64(3)
	status := Of(extension.Progress{Message: "m", Current: &n, Total: &n, Unit: "files"})
	if status.Message != "m" || *status.Current != 3 || *status.Total != 3 || status.Unit != "files" {
		t.Errorf("%+v", status)
	}
	output := Of(extension.Progress{Stream: "stdout", Data: []byte("x")})
	if output.Stream != "stdout" || string(output.Data) != "x" {
		t.Errorf("%+v", output)
	}
}
