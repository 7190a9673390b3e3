package policyintent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// maxTokens bounds the tokens of one generation that wait to be used. Beyond it none is issued.
const maxTokens = 256

// grant is what a token is good for. It is comparable.
type grant struct {
	parent *extension.HostCall // of this generation; its identity is that of the request
	owner  extension.Owner
	intent [sha256.Size]byte // of the canonical spelling
}

// token is one that waits to be used.
type token struct {
	grant   grant
	expires time.Time
}

// tokens are the approvals of one generation.
type tokens struct {
	mu      sync.Mutex
	waiting map[string]token // under mu
}

// issue makes a token that is good for g once, and for a while. There is none where too many wait.
//
// Rule: EXT04-POLICY-006.
func (t *tokens) issue(g grant) (string, bool) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	text := hex.EncodeToString(random[:])
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for old, each := range t.waiting {
		if each.over(now) {
			delete(t.waiting, old)
		}
	}
	if len(t.waiting) >= maxTokens {
		return "", false
	}
	if t.waiting == nil {
		t.waiting = map[string]token{}
	}
	t.waiting[text] = token{grant: g, expires: now.Add(featurewire.ApprovalTokenMs * time.Millisecond)}
	return text, true
}

// use takes a token, whatever comes of it: it is good for what it was issued for, in its time, and never
// twice.
//
// Rules: EXT04-POLICY-007, EXT04-POLICY-008.
func (t *tokens) use(text string, g grant) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, has := t.waiting[text]
	delete(t.waiting, text)
	return has && !known.over(time.Now()) && known.grant == g
}

// over reports whether nothing can be bought with the token any more.
func (t token) over(now time.Time) bool {
	select {
	case <-t.grant.parent.Done():
		return true
	default:
		return !now.Before(t.expires)
	}
}
