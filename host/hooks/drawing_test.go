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
	const end = 12 // bytes of the chunk IEND, and of the frame of any
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	private := chunk("teSt", make([]byte, size-len(data)-end))
	return base64.StdEncoding.EncodeToString(slices.Insert(data, len(data)-end, private...))
}

// chunk is one chunk of a PNG with a right checksum.
func chunk(kind string, data []byte) []byte {
	body := append([]byte(kind), data...)
	c := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	return binary.BigEndian.AppendUint32(append(c, body...), crc32.ChecksumIEEE(body))
}

// EXT04-HOOK-088: chunks that are intact and hold no image.
func TestCheckPNG_pixels(t *testing.T) {
	header := []byte{0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0} // one pixel of eight bits of grey
	text := pngHeader + string(chunk("IHDR", header))
	for _, pixels := range []string{"", string(chunk("IDAT", []byte("rubbish")))} {
		if err := checkPNG([]byte(text + pixels + string(chunk("IEND", nil)))); err == nil {
			t.Errorf("%q passes for pixels", pixels)
		}
	}
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
