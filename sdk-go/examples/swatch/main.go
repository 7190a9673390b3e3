// Command swatch is an example extension on API 0.4 that answers with a picture: it draws a colour, publishes
// the picture as an artifact, and refers to it in its result.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() { extension.Main(tools()) }

type swatchArgs struct {
	Red   uint8 `json:"red" jsonschema:"description=Red part."`
	Green uint8 `json:"green" jsonschema:"description=Green part."`
	Blue  uint8 `json:"blue" jsonschema:"description=Blue part."`
}

func tools() *extension.Extension {
	ext := extension.New(&extension.Options{Uses: []string{featurewire.FeatureArtifacts}})
	extension.AddTool(ext, "swatch", "Shows a colour.", swatch)
	return ext
}

func swatch(ctx context.Context, call *extension.Call, args swatchArgs) (*extension.Result, error) {
	name := fmt.Sprintf("#%02x%02x%02x", args.Red, args.Green, args.Blue)
	picture := image.NewRGBA(image.Rect(0, 0, 16, 16))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{args.Red, args.Green, args.Blue, 0xFF}), image.Point{}, draw.Src)
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		return nil, err
	}
	const kind = string(featurewire.ArtifactMediaTypeImagePng)
	id, err := call.Publish(ctx, kind, file.Bytes())
	if errors.Is(err, extension.ErrNotNegotiated) {
		return extension.Text(name + " (this host shows no pictures)"), nil
	}
	if err != nil {
		return nil, extension.Errorf("the picture was not taken: %v", err)
	}
	return &extension.Result{
		Content: []string{name},
		Media:   []extension.Media{{ArtifactID: id, MimeType: kind, Text: "a square of the colour " + name}},
	}, nil
}
