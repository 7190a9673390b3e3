package registry_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/model/scripted"
)

var fenced = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// TestDocs_blocksAreRead holds the page about models to the readers.
func TestDocs_blocksAreRead(t *testing.T) {
	page, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, block := range fenced.FindAllStringSubmatch(string(page), -1) {
		seen[block[1]]++
		switch block[1] {
		case "toml":
			_, err = registry.Parse("models.md", []byte(block[2]))
		case "yaml":
			_, err = scripted.Parse("models.md", []byte(block[2]))
		case "json":
			for line := range strings.Lines(block[2]) {
				if !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
		default:
			t.Errorf("nothing checks a block of %s", block[1])
		}
		if err != nil {
			t.Error(err)
		}
	}
	if seen["toml"] != 1 || seen["yaml"] != 1 || seen["json"] != 1 {
		t.Errorf("blocks are %v", seen)
	}
}
