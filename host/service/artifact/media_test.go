package artifact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// A part is refused unless its artifact is of the same owner and generation, and of the type and kind that
// the part says. What is gone is unknown, as if it had never been.
//
// EXT04-ART-012, EXT04-ART-013, EXT04-RESULT-014.
func TestMedia_refused(t *testing.T) {
	s := New()
	rig := start(t, s, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 1}})
	next := start(t, s, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 2}})
	data := png(67)
	var id string
	if _, err := call(t, rig, front, func(parent int64) map[string]any {
		id = published(t, rig, params(parent, "image/png", data, inline(data)))
		return result(image(id, "image/png"))
	}); err != nil {
		t.Fatal(err)
	}
	answering := func(x *extensiontest.Rig, scope extension.Scope, part string) error {
		_, err := call(t, x, scope, func(int64) map[string]any { return result(part) })
		return err
	}
	if err := answering(rig, front, image(id, "image/png")); err != nil {
		t.Errorf("a later call of the same session: %v", err)
	}
	for name, c := range map[string]struct {
		rig   *extensiontest.Rig
		scope extension.Scope
		part  string
		want  string
	}{
		"another session":    {rig, other, image(id, "image/png"), "unknown"},
		"no session":         {rig, extension.Scope{}, image(id, "image/png"), "unknown"},
		"another generation": {next, front, image(id, "image/png"), "unknown"},
		"another type":       {rig, front, image(id, "image/jpeg"), `is image/png, not "image/jpeg"`},
		"another kind":       {rig, front, fmt.Sprintf(`{"type":"audio","artifact_id":%q,"mime_type":"image/png"}`, id), "no audio"},
		"another handle":     {rig, front, image(id+"x", "image/png"), "unknown"},
		"no handle":          {rig, front, image("", "image/png"), "unknown"},
	} {
		err := answering(c.rig, c.scope, c.part)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(c.want, "unknown") && !strings.Contains(err.Error(), "is unknown to this session and process") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Forget(other.Owner)
	if err := answering(rig, front, image(id, "image/png")); err != nil {
		t.Errorf("another session's end: %v", err)
	}
	s.Forget(front.Owner)
	if err := answering(rig, front, image(id, "image/png")); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("behind a change of owner: %v", err)
	}
	if shelf := s.shelf(rig.X); shelf.count != 0 || shelf.bytes != 0 {
		t.Errorf("what was forgotten takes %d places and %d bytes", shelf.count, shelf.bytes)
	}
	rig.X.Close()
	if s.shelf(rig.X) != nil || s.shelf(next.X) == nil {
		t.Error("the end of a generation leaves its artifacts, or takes those of another")
	}
	if _, err := s.media(t.Context(), extension.MediaRef{Extension: rig.X, Part: featurewire.ImagePart{ArtifactID: id}}); err == nil {
		t.Error("an artifact outlives its generation")
	}
	if _, err := s.media(t.Context(), extension.MediaRef{Extension: next.X, Part: featurewire.TextPart{}}); err == nil {
		t.Error("a text is media")
	}
}

// The media of one result are counted together, each as often as it is referred to.
//
// EXT04-RESULT-013.
func TestMedia_aggregate(t *testing.T) {
	rig := start(t, New(), extensiontest.Setup{})
	data := png(featurewire.MaxResultMediaBytes / 4)
	answering := func(count int) error {
		_, err := call(t, rig, front, func(parent int64) map[string]any {
			put(t, rig, "a.png", data)
			part := image(published(t, rig, params(parent, "image/png", data, file("a.png"))), "image/png")
			parts := make([]string, count)
			for i := range parts {
				parts[i] = part
			}
			return result(parts...)
		})
		return err
	}
	if err := answering(4); err != nil {
		t.Errorf("exactly the bound: %v", err)
	}
	if err := answering(5); err == nil || !strings.Contains(err.Error(), "67108864") {
		t.Errorf("over the bound: %v", err)
	}
}

// Every type is told by its first bytes, and by none of the others'.
func TestTypes(t *testing.T) {
	samples := map[featurewire.ArtifactMediaType][]string{
		featurewire.ArtifactMediaTypeImagePng:  {"\x89PNG\r\n\x1a\n"},
		featurewire.ArtifactMediaTypeImageJpeg: {"\xff\xd8\xff\xe0"},
		featurewire.ArtifactMediaTypeImageGif:  {"GIF87a", "GIF89a"},
		featurewire.ArtifactMediaTypeImageWebp: {"RIFF\x00\x00\x00\x00WEBPVP8 "},
		featurewire.ArtifactMediaTypeAudioWav:  {"RIFF\x00\x00\x00\x00WAVEfmt "},
		featurewire.ArtifactMediaTypeAudioMpeg: {"\xff\xfb\x90\x00", "\xff\xf3\x00"},
		featurewire.ArtifactMediaTypeAudioFlac: {"fLaC\x00"},
		featurewire.ArtifactMediaTypeAudioOpus: {"OggS" + strings.Repeat("\x00", 24) + "OpusHead"},
		featurewire.ArtifactMediaTypeAudioAac:  {"\xff\xf1\x50", "\xff\xf9\x50", "ADIF"},
		featurewire.ArtifactMediaTypeAudioMp4:  {"\x00\x00\x00\x20ftypM4A "},
	}
	for _, row := range featurewire.TableArtifactMediaTypes {
		mime := featurewire.ArtifactMediaType(row.MediaType)
		known, has := types[mime]
		if !has || string(known.kind) != row.Part && !(row.Part == "image" && known.kind == conversation.Image) {
			t.Errorf("%s is %q here, and %q in the spec", mime, known.kind, row.Part)
		}
		for sampled, texts := range samples {
			for _, text := range texts {
				if got := known.begins([]byte(text)); got != (sampled == mime) {
					t.Errorf("%q of %s is taken as %s: %t", text, sampled, mime, got)
				}
				for n := range len(text) {
					known.begins([]byte(text[:n])) // short ones do no harm
				}
			}
		}
	}
	for _, mime := range []featurewire.ArtifactMediaType{featurewire.ArtifactMediaTypeAudioMpeg, featurewire.ArtifactMediaTypeAudioAac} {
		if !types[mime].begins([]byte("ID3\x04")) {
			t.Errorf("%s may begin with a tag", mime)
		}
	}
}
