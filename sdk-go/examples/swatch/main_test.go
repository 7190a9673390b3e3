package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func TestSwatch_publishesThePicture(t *testing.T) {
	host := exttest.StartWith(t, tools(), &exttest.Options{Services: map[string]exttest.Service{
		"artifacts.publish": exttest.Answer(map[string]string{"artifact_id": "art-1"}),
	}})
	raw, err := host.Ask(featurewire.MethodToolCall, map[string]any{"name": "swatch", "arguments": swatchArgs{255, 128, 0}})
	if want := `{"content":[{"text":"#ff8000","type":"text"},{"alt":"a square of the colour #ff8000","artifact_id":"art-1","mime_type":"image/png","type":"image"}],"is_error":false}`; err != nil || string(raw) != want {
		t.Errorf("got  %s, %v\nwant %s", raw, err, want)
	}
	var published struct {
		Data struct {
			Data string `json:"data"`
		} `json:"data"`
	}
	if err := json.Unmarshal(host.Sent()[0].Params, &published); err != nil {
		t.Fatal(err)
	}
	file, err := base64.StdEncoding.DecodeString(published.Data.Data)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := picture.At(8, 8).RGBA(); r>>8 != 255 || g>>8 != 128 || b != 0 {
		t.Errorf("the picture is %d %d %d", r>>8, g>>8, b>>8)
	}
}

func TestSwatch_withoutPictures(t *testing.T) {
	host := exttest.StartWith(t, tools(), &exttest.Options{Withhold: []string{featurewire.FeatureArtifacts}})
	if r := host.Call("swatch", swatchArgs{}); r.IsError || r.Text != "#000000 (this host shows no pictures)" {
		t.Errorf("got %q", r.Text)
	}
	refusing := exttest.StartWith(t, tools(), &exttest.Options{Services: map[string]exttest.Service{
		"artifacts.publish": exttest.Refuse(featurewire.CodeInvalidParams, "over the limit"),
	}})
	if r := refusing.Call("swatch", swatchArgs{}); !r.IsError || !strings.Contains(r.Text, "over the limit") {
		t.Errorf("refused: %q", r.Text)
	}
}

func TestManifest(t *testing.T) { exttest.CheckManifest(t, tools(), ".") }
