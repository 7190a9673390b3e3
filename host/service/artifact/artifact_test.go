package artifact

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

var (
	front = extension.Scope{Owner: extensiontest.DefaultFront}
	other = extension.Scope{Owner: "session-2"}
)

func start(t *testing.T, s *Service, setup extensiontest.Setup) *extensiontest.Rig {
	t.Helper()
	setup.Options.Bindings = []extension.Binding{s.Binding()}
	return extensiontest.Start(t, setup)
}

// png is a file of so many bytes that begins as a PNG does.
func png(bytes int) []byte {
	data := make([]byte, bytes)
	copy(data, "\x89PNG\r\n\x1a\n")
	return data
}

// params describe bytes truthfully; change may lie.
func params(parent int64, mime string, data []byte, source map[string]any, change ...func(map[string]any)) string {
	digest := sha256.Sum256(data)
	p := map[string]any{"parent_request_id": parent, "mime_type": mime, "size": len(data), "sha256": hex.EncodeToString(digest[:])}
	for name, value := range source {
		p[name] = value
	}
	for _, f := range change {
		f(p)
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func inline(data []byte) map[string]any {
	return map[string]any{"data": map[string]any{"encoding": "base64", "data": base64.StdEncoding.EncodeToString(data)}}
}

func file(path string) map[string]any { return map[string]any{"path": path} }

func set(name string, value any) func(map[string]any) {
	return func(p map[string]any) { p[name] = value }
}

func publish(rig *extensiontest.Rig, params string) extensiontest.Answer {
	return rig.Ask(featurewire.MethodArtifactPublish, params)
}

// published returns the handle.
func published(t *testing.T, rig *extensiontest.Rig, params string) string {
	t.Helper()
	var result struct {
		ID string `json:"artifact_id"`
	}
	publish(rig, params).Decode(t, &result)
	if result.ID == "" {
		t.Error("no handle")
	}
	return result.ID
}

// put writes a file into the scratch directory, sparse behind its first bytes.
func put(t *testing.T, rig *extensiontest.Rig, path string, data []byte) {
	t.Helper()
	full := filepath.Join(rig.X.Scratch(), filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(full, data, 0o600); err != nil {
		t.Error(err)
	}
}

// result is a tool result with media parts.
func result(parts ...string) map[string]any {
	content := []any{map[string]any{"type": "text", "text": "see"}}
	for _, part := range parts {
		content = append(content, json.RawMessage(part))
	}
	return map[string]any{"content": content, "is_error": false}
}

func image(id, mime string) string {
	return fmt.Sprintf(`{"type":"image","artifact_id":%q,"mime_type":%q,"alt":"a dot"}`, id, mime)
}

// call makes a tool call in which the extension publishes and answers as f says.
func call(t *testing.T, rig *extensiontest.Rig, s extension.Scope, f func(parent int64) map[string]any) (*extension.ToolResult, error) {
	t.Helper()
	rig.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) { return f(id), nil })
	return rig.X.Call(t.Context(), extension.Request{Tool: "work", Scope: s})
}

// EXT04-ART-006, EXT04-RESULT-014.
func TestPublish_intoAResult(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		rig := start(t, New(), extensiontest.Setup{API: api})
		data := png(67)
		got, err := call(t, rig, front, func(parent int64) map[string]any {
			return result(image(published(t, rig, params(parent, "image/png", data, inline(data))), "image/png"))
		})
		if err != nil {
			t.Fatal(err)
		}
		part := got.Content[1]
		if part.MediaType != "image/png" || string(part.Data) != string(data) || part.Text != "a dot" {
			t.Errorf("API %s: %+v", api, part)
		}
	}
}

// EXT04-ART-007, EXT04-ART-010.
func TestPublish_refused(t *testing.T) {
	rig := start(t, New(), extensiontest.Setup{})
	data := png(67)
	rig.During(front, func(parent int64) {
		for name, p := range map[string]string{
			"neither":              params(parent, "image/png", data, nil),
			"both":                 params(parent, "image/png", data, inline(data), set("path", "x")),
			"no base64":            params(parent, "image/png", data, nil, set("data", map[string]any{"encoding": "base64", "data": "!"})),
			"no padding":           params(parent, "image/png", []byte("\x89PNG\r\n\x1a\n"), nil, set("data", map[string]any{"encoding": "base64", "data": strings.TrimRight(base64.StdEncoding.EncodeToString(data[:8]), "=")})),
			"another encoding":     params(parent, "image/png", data, nil, set("data", map[string]any{"encoding": "hex", "data": "00"})),
			"larger than it says":  params(parent, "image/png", data, inline(data), set("size", 66)),
			"smaller than it says": params(parent, "image/png", data, inline(data), set("size", 68)),
			"negative":             params(parent, "image/png", data, inline(data), set("size", -1)),
			"another digest":       params(parent, "image/png", data, inline(data), set("sha256", strings.Repeat("0", 64))),
			"a digest in caps":     params(parent, "image/png", data, inline(data), set("sha256", strings.Repeat("A", 64))),
			"another type":         params(parent, "image/jpeg", data, inline(data)),
			"an unknown type":      params(parent, "image/svg+xml", data, inline(data)),
			"a type in caps":       params(parent, "IMAGE/PNG", data, inline(data)),
			"nothing in it":        params(parent, "image/png", nil, inline(nil)),
			"no type":              params(parent, "image/png", data, inline(data), func(p map[string]any) { delete(p, "mime_type") }),
			"no file":              params(parent, "image/png", data, file("none.png")),
		} {
			answer := publish(rig, p)
			if answer.Refusal == nil || answer.Refusal.Code != featurewire.CodeInvalidParams {
				t.Errorf("%s: %+v", name, answer)
			}
		}
		published(t, rig, params(parent, "image/png", data, inline(data)))
	})
}

// EXT04-ART-011, EXT04-ERR-007.
func TestPublish_needsASession(t *testing.T) {
	rig := start(t, New(), extensiontest.Setup{})
	data := png(67)
	var settled int64
	rig.During(extension.Scope{}, func(parent int64) {
		settled = parent
		publish(rig, params(parent, "image/png", data, inline(data))).Refused(t, featurewire.CodeNotForegroundOwner, "")
	})
	publish(rig, params(settled, "image/png", data, inline(data))).Refused(t, featurewire.CodeNotForegroundOwner, "")
}

// EXT04-ART-008.
func TestPublish_paths(t *testing.T) {
	rig := start(t, New(), extensiontest.Setup{})
	data := png(67)
	outside := filepath.Join(t.TempDir(), "outside.png")
	if err := os.WriteFile(outside, data, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, rig, "a.png", data)
	put(t, rig, "deep/er/b.png", data)
	deepest := strings.Repeat("d/", featurewire.MaxArtifactPathComponents-1) + "c.png"
	put(t, rig, deepest, data)
	scratch := rig.X.Scratch()
	for name, to := range map[string]string{"link.png": outside, "inner.png": filepath.Join(scratch, "a.png"), "away": filepath.Dir(outside), "round": filepath.Join(scratch, "deep")} {
		if err := os.Symlink(to, filepath.Join(scratch, name)); err != nil {
			t.Fatal(err)
		}
	}
	pipe(t, filepath.Join(scratch, "pipe.png"))
	rig.During(front, func(parent int64) {
		for _, good := range []string{"a.png", "./a.png", "deep/er/b.png", "deep//er/./b.png", deepest} {
			published(t, rig, params(parent, "image/png", data, file(good)))
		}
		for _, bad := range []string{
			"", "/etc/passwd", outside, "../outside.png", "deep/../../x", "deep/../a.png", "link.png", "inner.png", "away/outside.png", "round/er/b.png",
			"pipe.png", "deep", "deep/", ".", "a.png/x", "none/a.png", "d/" + deepest, strings.Repeat("x", featurewire.MaxArtifactPathBytes+1), "a\x00b",
		} {
			answer := publish(rig, params(parent, "image/png", data, file(bad)))
			if answer.Refusal == nil || answer.Refusal.Code != featurewire.CodeInvalidParams {
				t.Errorf("%.60q: %+v", bad, answer)
			}
		}
		for path, want := range map[string]error{
			"link.png": errLink, "inner.png": errLink, "away/outside.png": errLink, "round/er/b.png": errLink, "pipe.png": errSpecial, "deep": errSpecial, "deep/": errSpecial,
		} {
			publish(rig, params(parent, "image/png", data, file(path))).Refused(t, featurewire.CodeInvalidParams, "artifact: "+want.Error())
		}
	})
	// The directory itself is not exchanged either.
	if err := os.Rename(scratch, scratch+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(scratch+".moved", scratch); err != nil {
		t.Fatal(err)
	}
	rig.During(front, func(parent int64) {
		publish(rig, params(parent, "image/png", data, file("a.png"))).Refused(t, featurewire.CodeInvalidParams, "artifact: the scratch directory")
	})
}

// EXT04-ART-009.
func TestPublish_bounds(t *testing.T) {
	rig := start(t, New(), extensiontest.Setup{})
	small := png(67)
	rig.During(front, func(parent int64) {
		at := png(featurewire.MaxArtifactInlineBytes)
		published(t, rig, params(parent, "image/png", at, inline(at)))
		over := png(featurewire.MaxArtifactInlineBytes + 1)
		publish(rig, params(parent, "image/png", over, inline(over))).Refused(t, featurewire.CodeInvalidParams, "")
		put(t, rig, "over.png", over)
		published(t, rig, params(parent, "image/png", over, file("over.png")))

		large := png(featurewire.MaxArtifactBytes)
		put(t, rig, "large.png", large)
		for range 3 { // 60 MiB
			published(t, rig, params(parent, "image/png", large, file("large.png")))
		}
		larger := png(featurewire.MaxArtifactBytes + 1)
		put(t, rig, "larger.png", larger)
		publish(rig, params(parent, "image/png", larger, file("larger.png"))).Refused(t, featurewire.CodeInvalidParams, "")

		taken := 3*featurewire.MaxArtifactBytes + 2*featurewire.MaxArtifactInlineBytes + 1
		rest := png(featurewire.MaxArtifactTotalBytes - taken)
		more := png(len(rest) + 1)
		put(t, rig, "more.png", more)
		publish(rig, params(parent, "image/png", more, file("more.png"))).Refused(t, featurewire.CodeInvalidParams, "artifact: the artifacts of the process")
		put(t, rig, "rest.png", rest)
		published(t, rig, params(parent, "image/png", rest, file("rest.png")))
		publish(rig, params(parent, "image/png", small, inline(small))).Refused(t, featurewire.CodeInvalidParams, "artifact: the artifacts of the process")
	})
	counted := start(t, New(), extensiontest.Setup{})
	counted.During(front, func(parent int64) {
		for range 3 { // what is refused takes no room
			publish(counted, params(parent, "image/png", small, inline(small), set("size", 5)))
		}
		for range featurewire.MaxArtifacts {
			published(t, counted, params(parent, "image/png", small, inline(small)))
		}
		publish(counted, params(parent, "image/png", small, inline(small))).Refused(t, featurewire.CodeInvalidParams, "artifact: there are 64")
	})
}

// Many at once stay within the bounds as well.
func TestShelf_concurrent(t *testing.T) {
	s := newShelf()
	owner := extension.Owner{SessionID: "s"}
	data := png(100)
	digest := sha256.Sum256(data)
	p, err := featurewire.DecodeArtifactPublishParams([]byte(params(1, "image/png", data, inline(data))))
	if err != nil {
		t.Fatal(err)
	}
	if p.Sha256 != hex.EncodeToString(digest[:]) {
		t.Fatal("digest")
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 2 * featurewire.MaxArtifacts {
		all.Go(func() {
			if _, err := s.publish(owner, p, ""); err == nil {
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if done != featurewire.MaxArtifacts || len(s.items) != done || s.count != done || s.bytes != int64(done*len(data)) {
		t.Errorf("%d published, %d kept, %d counted, %d bytes", done, len(s.items), s.count, s.bytes)
	}
}
