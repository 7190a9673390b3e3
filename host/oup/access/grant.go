package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/private"
	"github.com/octet-dev/octet/host/oup/transport"
)

const (
	grantsName = "grants.json"
	// grantsVersion is that of the file and of a secret.
	grantsVersion = 1
	tokenBytes    = 32
	// maxGrants bounds the file: those that end first make room.
	maxGrants = 4096
)

// Grants are the credentials of single sessions. They lie in a file of the data directory, as digests: programs that
// issue and withdraw them and a server that looks at them are different processes.
//
// Rules: OUP-INGRESS-003, OUP-INGRESS-004.
type Grants struct {
	Directory string
	Now       func() time.Time // nil: time.Now
}

// grant is one credential as it is stored.
type grant struct {
	Session string    `json:"session"`
	Digest  string    `json:"digest"`
	Expires time.Time `json:"expires"`
}

type grantFile struct {
	Version int     `json:"version"`
	Grants  []grant `json:"grants"`
}

// Secret is what a client is given, in base64url of JSON. Its token is nowhere else.
type Secret struct {
	Version int    `json:"version"`
	Token   string `json:"session_ingress_token"`
	BaseURL string `json:"api_base_url"`
}

// String is the secret as it is handed over.
func (s Secret) String() string {
	text, _ := json.Marshal(s) // of two strings and a number
	return base64.RawURLEncoding.EncodeToString(text)
}

// Issue makes a credential of a session that ends by itself. One that the session had before ends at once.
func (g *Grants) Issue(session, baseURL string, lasts time.Duration) (Secret, error) {
	k, err := key.Parse(session)
	if err != nil {
		return Secret{}, err
	}
	token := make([]byte, tokenBytes)
	_, _ = rand.Read(token)
	s := Secret{Version: grantsVersion, Token: base64.RawURLEncoding.EncodeToString(token), BaseURL: baseURL}
	now := g.now()
	return s, g.change(func(list []grant) []grant {
		list = slices.DeleteFunc(list, func(old grant) bool { return old.Session == k.String() || !now.Before(old.Expires) })
		list = append(list, grant{k.String(), digest(s.Token), now.Add(lasts).UTC()})
		slices.SortFunc(list, func(a, b grant) int { return a.Expires.Compare(b.Expires) })
		return list[max(0, len(list)-maxGrants):]
	})
}

// Revoke withdraws the credential of a session and reports whether there was one.
func (g *Grants) Revoke(session string) (found bool, err error) {
	err = g.change(func(list []grant) []grant {
		rest := slices.DeleteFunc(list, func(old grant) bool { return old.Session == session })
		found = len(rest) < len(list)
		return rest
	})
	return found, err
}

// Check reads the file and says what is wrong with it. lasting is how many credentials are good now.
func (g *Grants) Check() (lasting int, err error) {
	list, err := g.read()
	now := g.now()
	for _, one := range list {
		if now.Before(one.Expires) {
			lasting++
		}
	}
	return lasting, err
}

// Path is the file.
func (g *Grants) Path() string { return g.file().Path }

// Identify says who a token of a session stands for.
func (g *Grants) Identify(session, token string) (transport.Identity, bool) {
	wanted := digest(token)
	holds := func() bool {
		list, err := g.read()
		now := g.now()
		return err == nil && slices.ContainsFunc(list, func(one grant) bool {
			return one.Session == session && now.Before(one.Expires) && subtle.ConstantTimeCompare([]byte(one.Digest), []byte(wanted)) == 1
		})
	}
	if token == "" || !holds() {
		return transport.Identity{}, false
	}
	return transport.Identity{Name: "session " + session, Session: session, Holds: holds}, true
}

func (g *Grants) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// file is where the grants are.
func (g *Grants) file() private.File[grantFile] {
	return private.File[grantFile]{Path: filepath.Join(g.Directory, grantsName)}
}

func (g *Grants) read() ([]grant, error) {
	file, err := g.file().Read()
	return file.Grants, err
}

func (g *Grants) change(do func([]grant) []grant) error {
	return g.file().Change(func(file *grantFile) error {
		file.Version, file.Grants = grantsVersion, do(file.Grants)
		return nil
	})
}

// Same compares a token with the right one in a time that tells nothing about it.
func Same(token, right string) bool {
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(right))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
