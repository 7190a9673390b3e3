package hooks_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

// picture is a black PNG of a size, one bit a pixel.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// draws answers with images.
func draws(images ...[]byte) answer {
	texts := make([]string, len(images))
	for n, data := range images {
		texts[n] = base64.StdEncoding.EncodeToString(data)
	}
	return func(json.RawMessage) (any, error) { return map[string]any{"compaction_frames": texts}, nil }
}

// EXT04-HOOK-084, EXT04-HOOK-091: batches of at most 2,048 scalar values, every one of them in its place.
func TestCompactionStrategy_batches(t *testing.T) {
	small := picture(t, 1, 1)
	var texts []string
	c := assemble(t, featurewire.HookCompactionStrategy, options{}, func(p json.RawMessage) (any, error) {
		var payload struct {
			Model string `json:"model_id"`
			Text  string `json:"text"`
		}
		if err := json.Unmarshal(p, &payload); err != nil || payload.Model != "m/x" {
			t.Errorf("payload %s", p)
		}
		texts = append(texts, payload.Text)
		return draws(small, small)(p)
	}, draws(small))
	text := strings.Repeat("é", 2047) + "😀" + "x"
	frames, ok, err := c.CompactionStrategy(t.Context(), scope, text)
	if err != nil || !ok || frames.Source != "a" || len(frames.PNG) != 4 || !bytes.Equal(frames.PNG[3], small) {
		t.Fatalf("%v, %v, %d images", err, ok, len(frames.PNG))
	}
	if len(texts) != 2 || utf8.RuneCountInString(texts[0]) != 2048 || texts[1] != "x" || strings.Join(texts, "") != text {
		t.Errorf("%d batches", len(texts))
	}
	if _, _, err := c.CompactionStrategy(t.Context(), scope, text); err != nil {
		t.Error(err)
	}
	told := 0
	for _, text := range c.told {
		if strings.HasPrefix(text, "b: ") && strings.Contains(text, `"a" has it already`) {
			told++
		}
	}
	if strings.Contains(c.order(), "b") || told != 1 {
		t.Errorf("the second extension was asked, or told %d times", told)
	}
	nobody := assemble(t, featurewire.HookBeforePrompt, options{}, says(`{}`))
	if _, ok, err := nobody.CompactionStrategy(t.Context(), scope, text); ok || err != nil {
		t.Errorf("nobody draws: %v, %v", ok, err)
	}
}

// EXT04-HOOK-088: one bad image, or a batch without any, and there is no compaction.
func TestCompactionStrategy_badImages(t *testing.T) {
	good := picture(t, 3, 3)
	damaged := slices.Clone(good)
	damaged[len(damaged)-14] ^= 1 // in the data of the last but one chunk
	for name, c := range map[string]struct {
		answer answer
		words  string
	}{
		"no image":     {draws(), "not covered"},
		"no list":      {says(`{}`), "absent"},
		"no base64":    {says(`{"compaction_frames":["§"]}`), ""},
		"no PNG":       {draws([]byte("GIF89a")), "no PNG"},
		"cut off":      {draws(good[:len(good)-1]), "cut off"},
		"half of it":   {draws(good[:40]), "cut off"},
		"trailing":     {draws(append(slices.Clone(good), 0)), "follow its end"},
		"damaged":      {draws(damaged), "damaged"},
		"many pixels":  {draws(picture(t, 4096, 4097)), "at most 16777216"},
		"the second":   {draws(good, []byte("x")), "image 1"},
		"refused":      {fails, "no idea"},
		"other member": {says(`{"compaction_frames":[],"provider_retry":"stop"}`), "only one of"},
	} {
		t.Run(name, func(t *testing.T) {
			crew := assemble(t, featurewire.HookCompactionStrategy, options{}, c.answer)
			frames, ok, err := crew.CompactionStrategy(t.Context(), scope, "text")
			if err == nil || ok || frames.PNG != nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v, want a failure with %q", err, c.words)
			}
		})
	}
	crew := assemble(t, featurewire.HookCompactionStrategy, options{}, draws(good, picture(t, 4096, 4096)))
	if _, ok, err := crew.CompactionStrategy(t.Context(), scope, "text"); err != nil || !ok {
		t.Errorf("at the limit of pixels: %v", err)
	}
}

// EXT04-HOOK-087: 256 images, 8 MiB of them, 256 KiB of source; at the limit and one over.
func TestCompactionStrategy_bounds(t *testing.T) {
	small := picture(t, 1, 1)
	all := slices.Repeat([][]byte{small}, featurewire.MaxCompactionBatchFrames)
	eight := strings.Repeat("x", 8*featurewire.MaxCompactionBatchCharacters)
	c := assemble(t, featurewire.HookCompactionStrategy, options{}, draws(all...))
	if frames, _, err := c.CompactionStrategy(t.Context(), scope, eight); err != nil || len(frames.PNG) != featurewire.MaxCompactionFrames {
		t.Errorf("%d images: %v", len(frames.PNG), err)
	}
	if _, _, err := c.CompactionStrategy(t.Context(), scope, eight+"x"); err == nil || !strings.Contains(err.Error(), "more than 256 images") {
		t.Errorf("one batch of images more: %v", err)
	}
	c = assemble(t, featurewire.HookCompactionStrategy, options{}, draws(append(all, small)...))
	if _, _, err := c.CompactionStrategy(t.Context(), scope, "x"); err == nil {
		t.Error("33 images in a batch are taken")
	}

	source := strings.Repeat("x", featurewire.MaxCompactionSourceBytes)
	c = assemble(t, featurewire.HookCompactionStrategy, options{}, draws(small))
	if _, _, err := c.CompactionStrategy(t.Context(), scope, source); err != nil {
		t.Errorf("as much source as is allowed: %v", err)
	}
	c.order()
	if _, _, err := c.CompactionStrategy(t.Context(), scope, source+"x"); err == nil || !strings.Contains(err.Error(), "262145 bytes") || c.order() != "" {
		t.Errorf("a byte more of source: %v", err)
	}
}
