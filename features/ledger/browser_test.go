//go:build browser

package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/features/browser"
	"github.com/octet-dev/octet/features/verdict"
)

// A reader searches the ledger, filters it, and follows a link to a rule that was filtered out.
func TestHTML_inChromium(t *testing.T) {
	l, err := New(complete(func(id, api string) verdict.Class {
		if id == ruleOfExtensions && api == "0.2" {
			return verdict.Fail
		}
		return verdict.Pass
	}))
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := l.HTML(&page); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ledger.html")
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browser.New(t)
	b.Open("file://" + path)
	const visible = `[...document.querySelectorAll('tbody tr')].filter((r) => !r.hidden).map((r) => r.id).slice(0, 3).join(' ')`
	b.Expect("every rule is there", `document.querySelectorAll('tbody tr:not([hidden])').length`, float64(len(l.Rows)))
	b.Expect("nothing is empty", `document.getElementById('empty')`, nil)
	b.Shoot("ledger-top")

	b.Type("#search", ruleOfHosts+" differs")
	b.Expect("a search leaves what has every word", visible, ruleOfHosts)
	b.Type("#role", "extension")
	b.Expect("two filters leave what fits both", visible, "")
	b.Expect("the count says so", `document.getElementById('count').textContent.startsWith('0 of ')`, true)

	b.Run(`document.querySelector('form').reset(); document.querySelector('form').dispatchEvent(new Event('input'))`)
	b.Type("#state", "red somewhere")
	b.Expect("what is red somewhere", visible, ruleOfExtensions)
	b.Expect("its cell is told apart", `document.querySelector('tr:not([hidden]) td.fail').textContent`, "fail")
	b.Expect("its cell says where", `document.querySelector('tr:not([hidden]) td.fail').title`, "0.2: because")
	b.Shoot("ledger-red")

	b.Run(`location.hash = '#` + ruleOfManifests + `'`)
	b.Expect("a link shows a rule that was filtered out", `document.getElementById('`+ruleOfManifests+`').hidden`, false)
	b.Shoot("ledger-link")
}
