// Package key takes session keys apart and says who may use which. It keeps nothing.
//
// Sheet: OUP core 6.1, 6.2.
package key

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/protocol"
)

// MaxBytes bounds a key with its topic: it is the name of a stream of the ledger.
const MaxBytes = 1024

// Key is a session key taken apart.
type Key struct {
	text    string
	Base    string // everything before the first number sign
	Topic   string // behind it
	Themed  bool   // there is a number sign
	Profile string // empty: the key names none
	Channel string // empty: the key has no structure
	Chat    string // of a key without structure: the base
}

// Parse takes a key apart. Every text that fits the bound and is not empty is a key.
//
// Rules: OUP-KEY-001, OUP-KEY-002, OUP-KEY-003.
func Parse(text string) (Key, error) {
	if text == "" {
		return Key{}, &Error{Key: text, Reason: "it is empty; give one such as profile:local:name"}
	}
	if len(text) > MaxBytes {
		return Key{}, &Error{Key: text[:64], Reason: fmt.Sprintf("it has %d bytes, at most %d", len(text), MaxBytes)}
	}
	k := Key{text: text}
	k.Base, k.Topic, k.Themed = strings.Cut(text, "#")
	parts := strings.SplitN(k.Base, ":", 3)
	switch {
	case len(parts) == 3 && !channel(parts[0]) && channel(parts[1]):
		k.Profile, k.Channel, k.Chat = parts[0], parts[1], parts[2]
	case len(parts) >= 2 && channel(parts[0]):
		k.Channel, k.Chat = parts[0], strings.Join(parts[1:], ":")
	default:
		k.Chat = k.Base
	}
	return k, nil
}

func channel(name string) bool {
	return slices.Contains(oupwire.TableChannels, name)
}

// Error says what is wrong with a key.
type Error struct{ Key, Reason string }

// Error names the key.
func (e *Error) Error() string { return fmt.Sprintf("session key %q: %s", e.Key, e.Reason) }

// String is the key as it was given.
func (k Key) String() string { return k.text }

// Fold puts a topic in the place of the key's own. A blank one changes nothing.
//
// Rule: OUP-KEY-004.
func (k Key) Fold(topic string) (Key, error) {
	if strings.TrimSpace(topic) == "" {
		return k, nil
	}
	return Parse(k.Base + "#" + topic)
}

var chatID = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// ErrChatID says that a name is none for the child of a fork.
var ErrChatID = fmt.Errorf("the name of a fork has 1 to %d letters, digits, full stops, underscores and hyphens", oupwire.MaxNewChatIDBytes)

// Child is the key of a fork: of the same profile and channel, without a topic. ErrChatID.
//
// Rules: OUP-FORK-001, OUP-FORK-002.
func (k Key) Child(name string) (Key, error) {
	if len(name) > oupwire.MaxNewChatIDBytes || !chatID.MatchString(name) {
		return Key{}, ErrChatID
	}
	var parts []string
	for _, part := range []string{k.Profile, k.Channel, name} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return Parse(strings.Join(parts, ":"))
}

// Identity is what a connection may reach.
type Identity struct {
	Profile       string // the only profile it may name; empty: any
	Authenticated bool
	// Stored says whether a profile exists; nil: only the default one does.
	Stored func(profile string) bool
}

// Check decides whether a request may be about a session. requested is the member profile_id, asked says that
// it was given. The profile that it returns is the one in force: that of the connection, of the member, of the
// key, or the default one. The error is a *ScopeError.
//
// Rules: OUP-KEY-007, OUP-KEY-008, OUP-KEY-009, OUP-KEY-010.
func (i Identity) Check(k Key, requested string, asked bool) (profile string, err error) {
	if asked && requested == "" {
		return "", &ScopeError{Kind: EmptyProfile}
	}
	for _, named := range []string{requested, k.Profile} {
		if i.Profile != "" && named != "" && named != i.Profile {
			return "", &ScopeError{Kind: ForeignProfile, Expected: i.Profile, Actual: named, Violation: i.Authenticated}
		}
	}
	if asked && k.Profile != "" && requested != k.Profile {
		return "", &ScopeError{Kind: ForeignProfile, Expected: requested, Actual: k.Profile}
	}
	profile = Default()
	for _, named := range []string{k.Profile, requested, i.Profile} {
		if named != "" {
			profile = named
		}
	}
	known := i.Stored
	if known == nil {
		known = func(profile string) bool { return profile == Default() }
	}
	if profile != Default() && !known(profile) {
		return "", &ScopeError{Kind: UnknownProfile, Actual: profile}
	}
	return profile, nil
}

var defaultProfile = protocol.Text("default_profile")

// Default is the profile of keys that name none.
func Default() string { return defaultProfile }

// Scope says why a request is out of scope.
type Scope int

// The reasons.
const (
	EmptyProfile   Scope = iota + 1 // profile_id is empty
	ForeignProfile                  // another profile than the one that is expected
	UnknownProfile                  // a profile that is not stored
)

// ScopeError says that a request is out of the scope of its connection.
type ScopeError struct {
	Kind             Scope
	Expected, Actual string
	Violation        bool // an authenticated connection oversteps: it is closed with 1008
}

// Error says which profile is wrong.
func (e *ScopeError) Error() string {
	switch e.Kind {
	case EmptyProfile:
		return "profile_id is empty; name a profile, or leave it out"
	case UnknownProfile:
		return fmt.Sprintf("there is no profile %q; make it first, or name another one", e.Actual)
	}
	return fmt.Sprintf("profile %q is out of reach here, where it has to be %q", e.Actual, e.Expected)
}
