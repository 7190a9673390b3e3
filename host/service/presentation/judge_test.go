package presentation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// decoded reads a snapshot that keeps its model.
func decoded(t *testing.T, text string) featurewire.PresentationSnapshot {
	t.Helper()
	s, err := featurewire.DecodePresentationSnapshot([]byte(text))
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s
}

// chain is a tree of so many levels.
func chain(levels int) string {
	var nodes []string
	for i := range levels {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(`,"parent_id":"n%d"`, i-1)
		}
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","state":"active","label":"x"%s}`, i, parent))
	}
	return `{"revision":0,"collection":{"kind":"tree","title":"t","nodes":[` + strings.Join(nodes, ",") + `]}}`
}

// sized is a snapshot whose encoding has so many bytes: bodies are bounded, so details of activities fill it.
func sized(t *testing.T, bytes int) string {
	t.Helper()
	const head, tail = `{"revision":0,"status":{"detail":"`, `","label":"x","state":"active"}}`
	text := head + strings.Repeat("x", bytes-len(head)-len(tail)) + tail
	if n := len(decoded(t, text).AppendJSON(nil)); n != bytes {
		t.Fatalf("the snapshot has %d bytes, want %d", n, bytes)
	}
	return text
}

func referring(address string) string {
	quoted := wirejson.AppendString(nil, address)
	return fmt.Sprintf(`{"revision":0,"activities":[{"id":"a","kind":"k","state":"active","summary":"s","references":[{"kind":"url","id":%s}]}]}`, quoted)
}

func TestJudge(t *testing.T) {
	const collection = `{"revision":0,"collection":{"kind":"%s","title":"t","nodes":[%s]%s}}`
	node := func(id, more string) string { return fmt.Sprintf(`{"id":%q,"state":"active","label":"x"%s}`, id, more) }
	for _, c := range []struct{ name, text, fault string }{
		{"least", `{"revision":0}`, ""},
		{"at the bytes", sized(t, featurewire.MaxPresentationBytes), ""},
		{"over the bytes", sized(t, featurewire.MaxPresentationBytes+1), "262145 bytes, more than 262144"},
		{"at the levels", chain(featurewire.MaxPresentationLevels), ""},
		{"over the levels", chain(featurewire.MaxPresentationLevels + 1), "deeper than 16 levels"},
		{"a circle", fmt.Sprintf(collection, "tree", node("a", `,"parent_id":"b"`)+","+node("b", `,"parent_id":"a"`), ""), "in a circle"},
		{"its own parent", fmt.Sprintf(collection, "tree", node("a", `,"parent_id":"a"`), ""), "in a circle"},
		{"no parent", fmt.Sprintf(collection, "tree", node("a", `,"parent_id":"b"`), ""), `node "a" is below "b", which is no node`},
		{"no parent of an empty id", fmt.Sprintf(collection, "tree", node("a", `,"parent_id":""`), ""), `node "a" is below "", which is no node`},
		{"an empty id", fmt.Sprintf(collection, "tree", node("", "")+","+node("a", `,"parent_id":""`), ""), ""},
		{"a list", fmt.Sprintf(collection, "list", node("a", `,"parent_id":null`)+","+node("b", ""), ""), ""},
		{"a list with a parent", fmt.Sprintf(collection, "list", node("a", "")+","+node("b", `,"parent_id":"a"`), ""), `node "b" of a list has a parent`},
		{"detail", fmt.Sprintf(collection, "list", node("a", ""), `,"selected_node_id":"a","detail":{"node_id":"a","title":"t","body":"b"}`), ""},
		{"detail of nothing", fmt.Sprintf(collection, "list", node("a", ""), `,"detail":{"node_id":null,"title":"t","body":"b"}`), ""},
		{"detail of another", fmt.Sprintf(collection, "list", node("a", ""), `,"selected_node_id":"a","detail":{"node_id":"b","title":"t","body":"b"}`), `about node "b" while "a" is selected`},
		{"detail without selection", fmt.Sprintf(collection, "list", node("a", ""), `,"detail":{"node_id":"","title":"t","body":"b"}`), `about node "" while no node is selected`},
		{"action", `{"revision":0,"actions":[{"id":"x","label":"x","command":"do"}]}`, ""},
		{"action undeclared", `{"revision":0,"actions":[{"id":"x","label":"x","command":"dont"}]}`, `command "dont" is not declared`},
		{"reasoning", `{"revision":0,"activities":[{"id":"a","kind":"k","state":"active","summary":"s","metrics":` + metrics(5, 5) + `}]}`, ""},
		{"too much reasoning", `{"revision":0,"activities":[{"id":"a","kind":"k","state":"active","summary":"s","metrics":` + metrics(5, 6) + `}]}`, "6 reasoning tokens of 5"},
		{"reference of a node", fmt.Sprintf(collection, "list", node("a", `,"references":[{"kind":"url","id":"ftp://x.example"}]`), ""), `node "a": reference`},
		{"reference of a detail", fmt.Sprintf(collection, "list", node("a", ""), `,"selected_node_id":"a","detail":{"node_id":"a","title":"t","body":"b","references":[{"kind":"url","id":"x"}]}`), `detail: reference`},
		{"opaque reference", strings.Replace(referring("http://localhost/"), `"url"`, `"resource"`, 1), ""},
	} {
		err := Judge(decoded(t, c.text), []string{"do"})
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fault)
		}
	}
}

func metrics(output, reasoning int) string {
	return fmt.Sprintf(`{"tool_calls":0,"input_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"output_tokens":%d,"reasoning_tokens":%d}`, output, reasoning)
}

func TestJudge_addresses(t *testing.T) {
	for _, good := range []string{
		"https://example.com", "http://example.com:8080/a?b#c", "https://1.1.1.1/", "https://[2606:4700::1111]/", "https://local.example",
		"https://example.com/127.0.0.1", "https://xn--bcher-kva.example",
	} {
		if err := Judge(decoded(t, referring(good)), nil); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "example.com", "//example.com", "/path", "ftp://example.com", "javascript:alert(1)", "file:///etc/passwd", "http:example.com", "http://",
		"http://user@example.com", "http://user:word@example.com", "http://localhost", "http://LOCALHOST.:80/", "http://a.localhost", "http://printer.local", "http://local",
		"http://127.0.0.1", "http://127.1", "http://0x7f.0.0.1", "http://2130706433", "http://10.1.2.3", "http://172.16.0.1", "http://192.168.1.1", "http://169.254.1.1",
		"http://0.0.0.0", "http://224.0.0.1", "http://[::1]", "http://[::]", "http://[fe80::1]", "http://[fe80::1%25eth0]", "http://[fc00::1]", "http://[ff02::1]", "http://[::ffff:127.0.0.1]",
		"http://[::127.0.0.1]", "http://[64:ff9b::7f00:1]", "http://exa mple.com", "https://example.com/\u0007", "https://example.com\n", "http://example.com%00",
	} {
		if err := Judge(decoded(t, referring(bad)), nil); err == nil {
			t.Errorf("%q is let through", bad)
		}
	}
}
