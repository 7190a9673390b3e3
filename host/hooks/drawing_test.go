package hooks

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// padded is a PNG with a private chunk in front of its end, so that it has a number of bytes, as base64.
func padded(t *testing.T, size int) string {
	t.Helper()
	const end = 12 // bytes of the chunk IEND
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	body := append([]byte("teSt"), make([]byte, size-len(data)-end)...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return base64.StdEncoding.EncodeToString(slices.Insert(data, len(data)-end, chunk...))
}

// EXT04-HOOK-087: 8 MiB of images, and one byte over, also where the text hides it in padding.
func TestDrawing_imageBytes(t *testing.T) {
	const each = 1 << 20
	rounds := featurewire.MaxCompactionImageBytes / each
	whole := padded(t, each)
	for _, last := range []int{each, each + 1, each + 2, each + 3} {
		var d drawing
		for range rounds - 1 {
			if err := d.add([]string{whole}); err != nil {
				t.Fatal(err)
			}
		}
		err := d.add([]string{padded(t, last)})
		if over := last > each; over != (err != nil) || over && !strings.Contains(err.Error(), "8388608 bytes") {
			t.Errorf("%d bytes over: %v", last-each, err)
		}
	}
}
