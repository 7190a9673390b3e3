package artifact

import (
	"bytes"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
)

// media is what is known of a media type.
type media struct {
	kind conversation.Kind
	// begins reports whether bytes can be of the type.
	begins func(data []byte) bool
}

// types are the media types of artifacts. Each is told by how its bytes begin: a type that does not fit
// would only be noticed by the provider that gets them.
var types = map[featurewire.ArtifactMediaType]media{
	featurewire.ArtifactMediaTypeImagePng:  {conversation.Image, prefix("\x89PNG\r\n\x1a\n")},
	featurewire.ArtifactMediaTypeImageJpeg: {conversation.Image, prefix("\xff\xd8\xff")},
	featurewire.ArtifactMediaTypeImageGif:  {conversation.Image, prefix("GIF87a", "GIF89a")},
	featurewire.ArtifactMediaTypeImageWebp: {conversation.Image, riff("WEBP")},
	featurewire.ArtifactMediaTypeAudioWav:  {conversation.Audio, riff("WAVE")},
	featurewire.ArtifactMediaTypeAudioMpeg: {conversation.Audio, mpeg},
	featurewire.ArtifactMediaTypeAudioFlac: {conversation.Audio, prefix("fLaC")},
	featurewire.ArtifactMediaTypeAudioOpus: {conversation.Audio, opus},
	featurewire.ArtifactMediaTypeAudioAac:  {conversation.Audio, aac},
	featurewire.ArtifactMediaTypeAudioMp4:  {conversation.Audio, mp4},
}

func prefix(words ...string) func([]byte) bool {
	return func(data []byte) bool {
		for _, word := range words {
			if bytes.HasPrefix(data, []byte(word)) {
				return true
			}
		}
		return false
	}
}

// riff is a RIFF file of a form.
func riff(form string) func([]byte) bool {
	return func(data []byte) bool {
		return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == form
	}
}

// tagged is an ID3 tag, which may stand in front of MPEG audio and of AAC.
var tagged = prefix("ID3")

// frame reports whether data begin with the twelve (or, for MPEG 2.5, eleven) bits that begin a frame.
func frame(data []byte) bool { return len(data) >= 2 && data[0] == 0xff && data[1]&0xe0 == 0xe0 }

// mpeg is a frame of layer I to III; layer 0 is AAC.
func mpeg(data []byte) bool { return tagged(data) || frame(data) && data[1]&0x06 != 0 }

func aac(data []byte) bool {
	return tagged(data) || bytes.HasPrefix(data, []byte("ADIF")) || frame(data) && data[1]&0xf6 == 0xf0
}

// opus is an Ogg stream whose first page holds the Opus header.
func opus(data []byte) bool {
	return bytes.HasPrefix(data, []byte("OggS")) && bytes.Contains(data[:min(len(data), 64)], []byte("OpusHead"))
}

func mp4(data []byte) bool { return len(data) >= 8 && string(data[4:8]) == "ftyp" }
