package hooks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image/png"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
)

// CompactionStrategy has the first extension that declares it draw the text, in batches; every further one
// is told once that it is not asked. An error means that nothing may be stored and no summary be made in
// its place.
//
// Sheet: feature 9.2; S27.
func (s *Set) CompactionStrategy(ctx context.Context, a agent.Scope, text string) (agent.Frames, bool, error) {
	list := s.declaring(featurewire.HookCompactionStrategy)
	if len(list) == 0 {
		return agent.Frames{}, false, nil
	}
	for _, x := range list[1:] {
		if _, told := s.passed.LoadOrStore(x, true); !told {
			s.options.Diagnose(x, fmt.Sprintf("hook %q is not run: %q has it already", featurewire.HookCompactionStrategy, list[0].Name()))
		}
	}
	drawn := drawing{frames: agent.Frames{Source: list[0].Name()}}
	if err := drawn.all(ctx, s, list[0], a, text); err != nil {
		return agent.Frames{}, false, turnFailed(list[0], featurewire.HookCompactionStrategy, err)
	}
	return drawn.frames, true, nil
}

// drawing is a compaction while it is being drawn.
type drawing struct {
	frames agent.Frames
	bytes  int
}

func (d *drawing) all(ctx context.Context, s *Set, x *extension.Extension, a agent.Scope, text string) error {
	switch {
	case len(text) > featurewire.MaxCompactionSourceBytes:
		return fmt.Errorf("the source has %d bytes, at most %d can be drawn", len(text), featurewire.MaxCompactionSourceBytes)
	case !utf8.ValidString(text):
		return errors.New("the source is not UTF-8")
	}
	for text != "" {
		batch := text[:scalars(text, featurewire.MaxCompactionBatchCharacters)]
		text = text[len(batch):]
		r, err := x.RunHook(ctx, extension.HookRun{
			Hook: featurewire.HookCompactionStrategy, Scope: s.scope(a),
			Payload: featurewire.CompactionStrategyPayload{ModelID: a.Model, Text: batch},
		})
		if err != nil {
			return err
		}
		x.Tell(r.Notifications.Or(nil))
		if err := d.add(r.CompactionFrames.Or(nil)); err != nil {
			return err
		}
	}
	return nil
}

// scalars is how many bytes the first n Unicode scalar values of a text take.
func scalars(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// add takes the frames of one batch. Every batch holds text, so one without frames leaves some uncovered.
func (d *drawing) add(frames []string) error {
	if len(frames) == 0 {
		return errors.New("a batch of the text is not covered by any image")
	}
	if n := len(d.frames.PNG) + len(frames); n > featurewire.MaxCompactionFrames {
		return fmt.Errorf("there are more than %d images", featurewire.MaxCompactionFrames)
	}
	for _, frame := range frames {
		if d.bytes+base64.StdEncoding.DecodedLen(len(frame)) > featurewire.MaxCompactionImageBytes+2 {
			return fmt.Errorf("the images have more than %d bytes together", featurewire.MaxCompactionImageBytes)
		}
		data, err := base64.StdEncoding.DecodeString(frame)
		if err != nil {
			return fmt.Errorf("image %d is not base64: %w", len(d.frames.PNG), err)
		}
		if d.bytes += len(data); d.bytes > featurewire.MaxCompactionImageBytes {
			return fmt.Errorf("the images have more than %d bytes together", featurewire.MaxCompactionImageBytes)
		}
		if err := checkPNG(data); err != nil {
			return fmt.Errorf("image %d: %w", len(d.frames.PNG), err)
		}
		d.frames.PNG = append(d.frames.PNG, data)
	}
	return nil
}

// maxPixels bounds what an image may take once it is unpacked, at four bytes a pixel.
const maxPixels = 16 << 20

// pngHeader is what every PNG begins with.
const pngHeader = "\x89PNG\r\n\x1a\n"

// checkPNG judges an image: complete, with intact chunks from the first to the last, nothing behind it, and
// pixels that can be unpacked.
func checkPNG(data []byte) error {
	if !bytes.HasPrefix(data, []byte(pngHeader)) {
		return errors.New("it is no PNG")
	}
	if err := checkChunks(data[len(pngHeader):]); err != nil {
		return err
	}
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if config.Width*config.Height > maxPixels {
		return fmt.Errorf("it has %d by %d pixels, at most %d in all", config.Width, config.Height, maxPixels)
	}
	_, err = png.Decode(bytes.NewReader(data))
	return err
}

// checkChunks walks the chunks: length, type, data, checksum.
func checkChunks(data []byte) error {
	const frame = 12 // bytes of a chunk around its data
	for len(data) >= frame {
		length := int64(binary.BigEndian.Uint32(data))
		if length > int64(len(data)-frame) {
			break
		}
		kind, body := string(data[4:8]), data[4:8+length]
		if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(data[8+length:]) {
			return fmt.Errorf("its chunk %q is damaged", kind)
		}
		data = data[frame+length:]
		if kind == "IEND" {
			if len(data) > 0 {
				return fmt.Errorf("%d bytes follow its end", len(data))
			}
			return nil
		}
	}
	return errors.New("it is cut off")
}
