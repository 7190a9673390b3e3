package bus

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

var (
	errIdentifier = errors.New("is no bus identifier: want 1 to 64 bytes of a-z, 0-9, _ and -, the first a letter or a digit")
	errTopic      = errors.New("is no topic: want " + canonicalwire.TableBusTopicPrefix[0] + "OWNER.NAME with two bus identifiers, in at most 96 bytes")
	errForbidden  = errors.New("contains a word that no field name may contain; name what the field says, not what it opens")
	errTooLong    = errors.New("is longer than its field allows")
	errScreened   = errors.New("looks like a control sequence, a path, a key, a contact or a credential, which no bus carries")
)

func checkIdentifier(name string) error {
	if name == "" || len(name) > canonicalwire.MaxBusIdentifierBytes {
		return errIdentifier
	}
	for i, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !plain && (i == 0 || c != '_' && c != '-') {
			return errIdentifier
		}
	}
	return nil
}

// topicOwner returns whose topic a name belongs to.
func topicOwner(name string) (string, error) {
	rest, ok := strings.CutPrefix(name, canonicalwire.TableBusTopicPrefix[0])
	owner, own, two := strings.Cut(rest, ".")
	if !ok || !two || len(name) > canonicalwire.MaxBusTopicBytes || checkIdentifier(owner) != nil || checkIdentifier(own) != nil {
		return "", errTopic
	}
	return owner, nil
}

// checkFieldName holds the name of a field against the words that would make a bus carry secrets.
func checkFieldName(name string) error {
	if err := checkIdentifier(name); err != nil {
		return err
	}
	bare := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
	for _, word := range canonicalwire.TableBusForbiddenWords {
		if strings.Contains(bare, word) {
			return errForbidden
		}
	}
	return nil
}

// leastSecret is how many characters behind a stem make it a key.
const leastSecret = 8

// screen holds a string of a payload or an alternative of a field against its bound and then against what
// a bus must not carry.
func screen(text string, most int64) error {
	if int64(len(text)) > min(most, canonicalwire.MaxBusStringBytes) {
		return errTooLong
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return errScreened
	}
	trimmed := strings.TrimSpace(text)
	lower := strings.ToLower(trimmed)
	starts := func(prefix string) bool { return strings.HasPrefix(lower, prefix) }
	switch {
	case looksLikePath(trimmed), looksLikePhone(trimmed), strings.Contains(trimmed, "@"):
		return errScreened
	case slices.ContainsFunc(canonicalwire.TableBusSecretPrefixes, starts):
		return errScreened
	}
	for _, stem := range canonicalwire.TableBusSecretStems {
		rest, ok := strings.CutPrefix(lower, stem)
		if ok && rest != "" && (rest[0] == '-' || rest[0] == '_') && utf8.RuneCountInString(rest[1:]) >= leastSecret {
			return errScreened
		}
	}
	for _, word := range canonicalwire.TableBusSecretWords {
		rest, ok := strings.CutPrefix(lower, word)
		if r, _ := utf8.DecodeRuneInString(rest); ok && unicode.IsSpace(r) {
			return errScreened
		}
	}
	return nil
}

func looksLikePath(s string) bool {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) {
		return true
	}
	drive := len(s) >= 3 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
	return drive && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// leastPhone is the length from which digits and separators are a phone number, in bytes.
const leastPhone = 8

func looksLikePhone(s string) bool {
	number := strings.TrimLeft(s, "+")
	if len(s) < leastPhone || number == "" || number[0] < '0' || number[0] > '9' {
		return false
	}
	return strings.Trim(s, "0123456789+ ()-.") == "" && strings.ContainsAny(s, " ()-.")
}
