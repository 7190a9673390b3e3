package key

import (
	"errors"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// TestParse holds the parts of keys. Rules: OUP-KEY-001, OUP-KEY-002, OUP-KEY-003.
func TestParse(t *testing.T) {
	for text, want := range map[string]Key{
		"_main:local:chat":         {Base: "_main:local:chat", Profile: "_main", Channel: "local", Chat: "chat"},
		"_main:local:chat#build":   {Base: "_main:local:chat", Topic: "build", Themed: true, Profile: "_main", Channel: "local", Chat: "chat"},
		"p:local:a:b#c#d":          {Base: "p:local:a:b", Topic: "c#d", Themed: true, Profile: "p", Channel: "local", Chat: "a:b"},
		"local:chat":               {Base: "local:chat", Channel: "local", Chat: "chat"},
		"local:api:chat":           {Base: "local:api:chat", Channel: "local", Chat: "api:chat"}, // the first is a channel: no profile
		"web-123":                  {Base: "web-123", Chat: "web-123"},
		"p:nowhere:chat":           {Base: "p:nowhere:chat", Chat: "p:nowhere:chat"},
		"p:local":                  {Base: "p:local", Chat: "p:local"},
		"#topic":                   {Topic: "topic", Themed: true},
		"a#":                       {Base: "a", Themed: true, Chat: "a"},
		"../../etc/passwd":         {Base: "../../etc/passwd", Chat: "../../etc/passwd"}, // a key is a name and never a path
		"_main:local:../../secret": {Base: "_main:local:../../secret", Profile: "_main", Channel: "local", Chat: "../../secret"},
	} {
		want.text = text
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%q is spelled %q", text, got)
		}
	}
	for _, channel := range oupwire.TableChannels {
		if k, err := Parse("p:" + channel + ":x"); err != nil || k.Channel != channel || k.Profile != "p" {
			t.Errorf("%s: %+v, %v", channel, k, err)
		}
	}
	for _, text := range []string{"", strings.Repeat("a", MaxBytes+1)} {
		if k, err := Parse(text); !errors.As(err, new(*Error)) {
			t.Errorf("%.20q is %+v", text, k)
		}
	}
	if _, err := Parse(strings.Repeat("a", MaxBytes)); err != nil {
		t.Error(err)
	}
}

// Rule: OUP-KEY-004.
func TestKey_fold(t *testing.T) {
	for _, c := range []struct{ key, topic, want string }{
		{"a", "t", "a#t"}, {"a#old", "new", "a#new"}, {"a#old", " ", "a#old"}, {"a#old", "", "a#old"}, {"a", "x#y", "a#x#y"},
	} {
		k, err := Parse(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := k.Fold(c.topic); err != nil || got.String() != c.want {
			t.Errorf("%q folded with %q is %q, %v", c.key, c.topic, got, err)
		}
	}
	k, _ := Parse("a")
	if _, err := k.Fold(strings.Repeat("t", MaxBytes)); err == nil {
		t.Error("a topic leads over the bound")
	}
}

// TestIdentity_check walks who may reach what. Rules: OUP-KEY-007 to OUP-KEY-010.
func TestIdentity_check(t *testing.T) {
	stored := func(p string) bool { return p == "work" }
	for _, c := range []struct {
		name      string
		identity  Identity
		key       string
		requested string
		asked     bool
		profile   string
		want      Scope
		violation bool
	}{
		{name: "nothing said", key: "web", profile: "_main"},
		{name: "the key says it", identity: Identity{Stored: stored}, key: "work:local:x", profile: "work"},
		{name: "the member says it", identity: Identity{Stored: stored}, key: "web", requested: "work", asked: true, profile: "work"},
		{name: "both agree", identity: Identity{Stored: stored}, key: "work:local:x", requested: "work", asked: true, profile: "work"},
		{name: "both differ", identity: Identity{Stored: stored}, key: "work:local:x", requested: "_main", asked: true, want: ForeignProfile},
		{name: "empty", key: "web", asked: true, want: EmptyProfile},
		{name: "empty, and held", identity: Identity{Profile: "work", Authenticated: true, Stored: stored}, key: "web", asked: true, want: EmptyProfile},
		{name: "not stored", key: "other:local:x", want: UnknownProfile},
		{name: "not stored, as a member", identity: Identity{Stored: stored}, key: "web", requested: "other", asked: true, want: UnknownProfile},
		{name: "held, and nothing said", identity: Identity{Profile: "work", Stored: stored}, key: "web", profile: "work"},
		{name: "held, and the same", identity: Identity{Profile: "work", Stored: stored}, key: "work:local:x", requested: "work", asked: true, profile: "work"},
		{name: "held, and another member", identity: Identity{Profile: "work", Authenticated: true, Stored: stored}, key: "web", requested: "_main", asked: true, want: ForeignProfile, violation: true},
		{name: "held, and another key", identity: Identity{Profile: "work", Authenticated: true, Stored: stored}, key: "_main:local:x", want: ForeignProfile, violation: true},
		{name: "held without a credential", identity: Identity{Profile: "work", Stored: stored}, key: "_main:local:x", want: ForeignProfile},
	} {
		k, err := Parse(c.key)
		if err != nil {
			t.Fatal(err)
		}
		profile, err := c.identity.Check(k, c.requested, c.asked)
		var refused *ScopeError
		switch {
		case c.want == 0 && (err != nil || profile != c.profile):
			t.Errorf("%s: %q, %v", c.name, profile, err)
		case c.want != 0 && (!errors.As(err, &refused) || refused.Kind != c.want || refused.Violation != c.violation):
			t.Errorf("%s: %q, %+v", c.name, profile, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"_main:local:chat#build", "a", "#", "::", ":local:", "p:local:"} {
		f.Add(text, "t")
	}
	f.Fuzz(func(t *testing.T, text, topic string) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		whole := k.Base
		if k.Themed {
			whole += "#" + k.Topic
		}
		if whole != text || strings.Contains(k.Base, "#") {
			t.Errorf("%q is %+v", text, k)
		}
		folded, err := k.Fold(topic)
		if err == nil && folded.Base != k.Base {
			t.Errorf("%q folded with %q is %+v", text, topic, folded)
		}
	})
}
