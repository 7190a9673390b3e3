//go:build browser

package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/features/browser"
)

// A reader follows a red cell to its rule, from there to the frames, and sees the byte; and filters rules.
func TestHTML_inChromium(t *testing.T) {
	r, _ := sample(false)
	text, offset, frame := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, 35, 1
	r.Scenarios[1].Frames[1].Text, r.Scenarios[1].Frames[1].Base64, r.Scenarios[1].Frames[1].Size = &text, nil, len(text)
	r.Scenarios[1].Findings[0].Offset, r.Scenarios[1].Findings[0].Frame = &offset, &frame
	path := filepath.Join(t.TempDir(), "report.html")
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browser.New(t)
	b.Open("file://" + path)
	b.Expect("the verdict stands at the top", `document.getElementById('verdict').textContent`, "not conformant")
	b.Shoot("report-top")

	b.Click(`a.cell[href="#X-A-002"]`)
	b.Expect("a cell opens its rule", `document.getElementById('X-A-002').open`, true)
	b.Click(`#X-A-002 a[href^="#scenario-"]`)
	b.Expect("a finding opens its scenario", `document.getElementById('scenario-1').open`, true)
	b.Expect("the guilty frame is open", `document.querySelector('#scenario-1 .guilty details').open`, true)
	b.Expect("its byte is marked", `document.querySelector('#scenario-1 .guilty mark').textContent`, string(text[offset]))
	b.Expect("its JSON is shown in lines", `document.querySelector('#scenario-1 .guilty .pretty').textContent.split('\n').length > 4`, true)
	b.Expect("the host's frame is left of the extension's",
		`document.querySelector('#scenario-1 .frame.host').getBoundingClientRect().right < document.querySelector('#scenario-1 .frame.extension').getBoundingClientRect().left`, true)
	b.Shoot("report-scenario")

	visible := `[...document.querySelectorAll('.rule')].filter((r) => !r.hidden).length`
	b.Click(`button[data-filter="pass"]`)
	b.Expect("the filter leaves rules of one verdict", visible, float64(1))
	b.Click(`a.cell[href="#X-A-003"]`)
	b.Expect("a cell shows a rule that was filtered out", visible, float64(4))
	b.Click(`button[data-filter="errored"]`)
	b.Expect("an empty filter says so", `document.getElementById('none').hidden`, false)
	b.Click(`button[data-filter="errored"]`)
	b.Expect("a second click takes the filter back", visible, float64(4))
}
