package extension

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Progress shows the person where the work stands, such as Progress("reading", 3, 10, "files"). A total of 0
// is unknown and left out, then also a current of 0; an empty unit is left out. It returns ErrNotNegotiated where
// the host takes no progress, always on API 0.1 and 0.3, and a *wirejson.Violation for a negative count.
func (s *Scope) Progress(message string, current, total int64, unit string) error {
	status := featurewire.ProgressStatus{Message: plain(message)}
	if current != 0 || total != 0 {
		status.Current = wirejson.Some(portable(current))
	}
	if total != 0 {
		status.Total = wirejson.Some(portable(total))
	}
	if unit != "" {
		status.Unit = wirejson.Some(plain(unit))
	}
	if err := status.Validate(); err != nil {
		return err
	}
	return s.progress(status)
}

// portable brings a large count down to what the wire can carry.
func portable(n int64) int64 {
	return min(n, featurewire.MaxPortableJSONInteger)
}

// Output shows the person output of the work as it appears, such as that of a program the tool runs. Long
// text goes out in pieces. Text that is not UTF-8 is sent as bytes. It returns ErrNotNegotiated as Progress
// does, and an error for a stream that is neither Stdout nor Stderr.
func (s *Scope) Output(stream Stream, text string) error {
	if !featurewire.OutputStream(stream).Known() {
		return fmt.Errorf("stream %q is neither %q nor %q", stream, Stdout, Stderr)
	}
	for text != "" {
		piece := text[:pieceLength(text)]
		text = text[len(piece):]
		output := featurewire.ProgressOutput{
			Stream: featurewire.OutputStream(stream), Encoding: featurewire.OutputEncodingUtf8, Data: piece,
		}
		if !utf8.ValidString(piece) {
			output.Encoding = featurewire.OutputEncodingBase64
			output.Data = base64.StdEncoding.EncodeToString([]byte(piece))
		}
		if err := s.progress(output); err != nil {
			return err
		}
	}
	return nil
}

// pieceLength returns how much of the text goes into one chunk: the bound of the host, less what would cut
// a character in two.
func pieceLength(text string) int {
	if len(text) <= featurewire.MaxProgressOutputBytes {
		return len(text)
	}
	length := featurewire.MaxProgressOutputBytes
	for back := 0; back < utf8.UTFMax-1; back++ {
		if utf8.RuneStart(text[length-back]) {
			return length - back
		}
	}
	return length
}

// Decorate labels the work on the person's screen, in place of the last label; an empty detail is left out.
// It returns ErrNotNegotiated where the host takes none, and a *wirejson.Violation for a text out of bounds.
func (s *Scope) Decorate(label, detail string) error {
	if !s.session.has(featurewire.FeatureProgressDecoration) {
		if err := s.may(featurewire.LookupMethod(featurewire.MethodProgress)); err != nil {
			return err
		}
		return &NotNegotiatedError{featurewire.MethodProgress, "the feature " + strconv.Quote(featurewire.FeatureProgressDecoration), "run under a host that offers it"}
	}
	decoration := featurewire.ProgressDecoration{Label: label}
	if detail != "" {
		decoration.Detail = wirejson.Some(detail)
	}
	if err := decoration.Validate(); err != nil {
		return err
	}
	return s.progress(decoration)
}

func (s *Scope) progress(event featurewire.ProgressEvent) error {
	if !s.session.progress {
		return s.may(featurewire.LookupMethod(featurewire.MethodProgress))
	}
	if s.request == nil || s.settled {
		return ErrCallOver
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	return s.send(featurewire.MethodProgress, featurewire.ProgressParams{RequestID: s.request.ID.Wire(), Sequence: s.sequence, Event: event})
}

// Notify shows the person a message. Title may be empty. Control characters and terminal escape sequences
// are removed. It returns ErrNotNegotiated where the manifest does not declare notifications, always on
// API 0.3, and an error for a level that is none of the four.
func (s *Scope) Notify(level Level, title, message string) error {
	params, err := notification(level, title, message)
	if err != nil {
		return err
	}
	if !s.session.notifications {
		return s.may(featurewire.LookupMethod(featurewire.MethodNotification))
	}
	if s.request == nil || s.settled {
		return s.Notifications().Show(s.ctx, params)
	}
	return s.send(featurewire.MethodNotification, params)
}

func notification(level Level, title, message string) (featurewire.Notification, error) {
	if !featurewire.NotificationLevel(level).Known() {
		return featurewire.Notification{}, fmt.Errorf("level %q is none of %q, %q, %q and %q", level, LevelInfo, LevelSuccess, LevelWarning, LevelError)
	}
	params := featurewire.Notification{
		Level:   wirejson.Some(featurewire.NotificationLevel(level)),
		Message: plain(message),
	}
	if title != "" {
		params.Title = wirejson.Some(plain(title))
	}
	return params, nil
}

// send sends a notification in front of the answer, or not at all.
func (s *Scope) send(method string, params wirejson.Encoder) error {
	err := s.request.Notify(s.ctx, method, params)
	select {
	case <-s.request.Conn().Done():
		return ErrCallOver
	default:
	}
	if errors.Is(err, peer.ErrAnswered) || errors.Is(err, peer.ErrClosed) {
		return ErrCallOver
	}
	return err
}

// Publish gives the host a picture or a recording, for a result to refer to, see Result.Media. The bytes go
// inside the request: larger ones are written to a file below OCTET_EXTENSION_SCRATCH and published with
// Artifacts.
func (s *Scope) Publish(ctx context.Context, mimeType string, data []byte) (artifactID string, err error) {
	digest := sha256.Sum256(data)
	published, err := s.Artifacts().Publish(ctx, featurewire.ArtifactPublishParams{
		MimeType: featurewire.ArtifactMediaType(mimeType), Size: int64(len(data)), Sha256: hex.EncodeToString(digest[:]),
		Data: wirejson.Some(featurewire.ArtifactData{Data: base64.StdEncoding.EncodeToString(data)}),
	})
	return published.ArtifactID, err
}
