// Package profile keeps who works here, which models each has, and the keys for them: in one file of the data
// directory that only its user can read. Keys leave it in one direction, to whoever asks a model.
//
// Sheet: OUP services 12, 13.
package profile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/private"
)

const fileName = "profiles.json"

// Store is the profiles of one data directory. Its methods are for any goroutine.
type Store struct {
	file private.File[document]
	// lookup is the environment of the process, where keys may be too.
	lookup func(string) (string, bool)
	// families are the variables of the providers that are known, by their names.
	families map[string]string
}

// document is the file.
type document struct {
	Default  string    `json:"default,omitempty"`
	Profiles []Profile `json:"profiles,omitempty"`
}

// Profile is one person, or one purpose.
type Profile struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"`
	Email    string `json:"email,omitempty"`

	Primary   *Model            `json:"primary,omitempty"`
	Fallbacks []Model           `json:"fallbacks,omitempty"`
	Keys      map[string]string `json:"env_vars,omitempty"` // by variable, for the families' own addresses

	// KeysAt are the keys for addresses that came with them, by address and variable.
	KeysAt map[string]map[string]string `json:"env_vars_at,omitempty"`
}

// Open returns the profiles of a data directory. families says which variable holds the key of a provider.
func Open(directory string, lookup func(string) (string, bool), families map[string]string) *Store {
	return &Store{file: private.File[document]{Path: filepath.Join(directory, fileName)}, lookup: lookup, families: families}
}

// Path is the file.
func (s *Store) Path() string { return s.file.Path }

// keys are those for an address; an empty one is the family's own.
func (p *Profile) keys(address string) map[string]string {
	if address == "" {
		return p.Keys
	}
	return p.KeysAt[address]
}

// keep stores a key for an address.
func (p *Profile) keep(address, variable, value string) {
	if address == "" {
		if p.Keys == nil {
			p.Keys = map[string]string{}
		}
		p.Keys[variable] = value
		return
	}
	if p.KeysAt == nil {
		p.KeysAt = map[string]map[string]string{}
	}
	if p.KeysAt[address] == nil {
		p.KeysAt[address] = map[string]string{}
	}
	p.KeysAt[address][variable] = value
}

// find returns a profile of the document, nil if it has none; the default one is always there.
func (d *document) find(id string) *Profile {
	for i := range d.Profiles {
		if d.Profiles[i].ID == id {
			return &d.Profiles[i]
		}
	}
	if id != key.Default() {
		return nil
	}
	d.Profiles = append(d.Profiles, Profile{ID: id, Name: id, Username: strings.Trim(id, "_")})
	return &d.Profiles[len(d.Profiles)-1]
}

// Has reports whether a profile is stored.
func (s *Store) Has(id string) bool {
	d, err := s.file.Read()
	return err == nil && d.find(id) != nil
}

// Default is the profile of the machine.
func (s *Store) Default() string {
	d, err := s.file.Read()
	if err != nil || d.Default == "" {
		return key.Default()
	}
	return d.Default
}

// IDs are all profiles.
func (s *Store) IDs() ([]string, error) {
	d, err := s.file.Read()
	if err != nil {
		return nil, err
	}
	d.find(key.Default())
	ids := make([]string, len(d.Profiles))
	for i, p := range d.Profiles {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	return ids, nil
}

// UnknownError says that a profile is not stored.
type UnknownError struct{ ID string }

// Error names the profile.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no profile %q; make it with %s", e.ID, oupwire.MethodProfileLocalCreate)
}

// Fault is a member of a new profile that breaks its rule.
type Fault string

// The faults.
const (
	BadName     Fault = "name"
	BadUsername Fault = "username"
	BadEmail    Fault = "email"
)

// FaultError says which member of a new profile breaks its rule.
type FaultError struct {
	Fault  Fault
	Reason string
}

// Error names the member and the rule.
func (e *FaultError) Error() string { return string(e.Fault) + " " + e.Reason }

// CollisionError says that another profile has the user name or the address.
type CollisionError struct {
	ID    string // of the other profile
	Which string // username or email
}

// Error names both.
func (e *CollisionError) Error() string {
	return fmt.Sprintf("the profile %q has this %s; take another one", e.ID, e.Which)
}

// New is what a profile is made with. Empty members were not given.
type New struct {
	Name, Username, Email string
	RequestedID           string
	MakeDefault           bool
}

// Create makes a profile, or returns the one that was made with the same words before. A user name that is not given is
// the id that was wished for, as it became, or made of the name. Errors are *FaultError and *CollisionError.
//
// Rules: OUP-PROFILE-001 to OUP-PROFILE-009.
func (s *Store) Create(n New) (p Profile, created bool, err error) {
	p = Profile{Name: cmp.Or(n.Name, n.RequestedID), Email: n.Email}
	if err := checkName(p.Name); err != nil {
		return Profile{}, false, err
	}
	wish := slug(n.RequestedID)
	if n.RequestedID != "" {
		if err := checkName(n.RequestedID); err != nil { // it may stand for the name
			return Profile{}, false, err
		}
	}
	derived := n.Username == "" && wish != ""
	if p.Username, err = checkUsername(cmp.Or(n.Username, wish, slug(p.Name)), !derived); err != nil {
		return Profile{}, false, err
	}
	if err := checkEmail(n.Email); err != nil {
		return Profile{}, false, err
	}
	err = s.file.Change(func(d *document) (err error) {
		if derived {
			p, created, err = d.wished(p)
		} else {
			p, created, err = d.named(p, cmp.Or(wish, p.Username))
		}
		if err != nil {
			return err
		}
		if created {
			d.Profiles = append(d.Profiles, p)
		}
		if n.MakeDefault {
			d.Default = p.ID
		}
		return nil
	})
	return p, created && err == nil, err
}

// same is the profile that was made with the same words; nil for none.
func (d *document) same(p Profile) *Profile {
	for i := range d.Profiles {
		if old := &d.Profiles[i]; old.Username == p.Username && old.Name == p.Name && old.Email == p.Email {
			return old
		}
	}
	return nil
}

// collides refuses what another profile has.
func (d *document) collides(p Profile) error {
	for _, old := range d.Profiles {
		switch {
		case old.Username == p.Username:
			return &CollisionError{ID: old.ID, Which: string(BadUsername)}
		case p.Email != "" && old.Email == p.Email:
			return &CollisionError{ID: old.ID, Which: string(BadEmail)}
		}
	}
	return nil
}

// named is the profile of somebody who has a user name, and whether it is new. It gets the id that is wanted, or one with
// a number behind it.
func (d *document) named(p Profile, id string) (Profile, bool, error) {
	if old := d.same(p); old != nil {
		return *old, false, nil
	}
	if err := d.collides(p); err != nil {
		return Profile{}, false, err
	}
	p.ID = id
	for n := 2; !d.free(p.ID); n++ {
		p.ID = numbered(id, n)
	}
	return p, true, nil
}

// wished is the profile of somebody whose user name is the id, both as they are wished for or with a number behind them,
// and whether it is new.
func (d *document) wished(p Profile) (Profile, bool, error) {
	wish := p.Username
	for n := 1; ; n++ {
		if p.Username = wish; n > 1 {
			p.Username = numbered(wish, n)
		}
		if old := d.same(p); old != nil {
			return *old, false, nil
		}
		if !d.free(p.Username) || slices.ContainsFunc(d.Profiles, func(old Profile) bool { return old.Username == p.Username }) {
			continue
		}
		if _, err := checkUsername(p.Username, true); err != nil { // with the number
			return Profile{}, false, err
		}
		p.ID = p.Username
		return p, true, d.collides(p)
	}
}

func numbered(wish string, n int) string { return wish + "-" + strconv.Itoa(n) }

// free reports whether a new profile may have an id: no other one has it, and keys of sessions that begin with it name
// the profile and not a channel.
func (d *document) free(id string) bool {
	return id != key.Default() && !isChannel(id) && !slices.ContainsFunc(d.Profiles, func(p Profile) bool { return p.ID == id })
}

func isChannel(name string) bool { return slices.Contains(oupwire.TableChannels, name) }

func checkName(name string) error {
	switch runes := []rune(name); {
	case strings.TrimSpace(name) == "":
		return &FaultError{BadName, "is missing; give one, or requested_id"}
	case len(runes) > oupwire.MaxProfileNameChars:
		return &FaultError{BadName, fmt.Sprintf("has %d characters, at most %d", len(runes), oupwire.MaxProfileNameChars)}
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return &FaultError{BadName, "has a character that cannot be printed"}
	}
	return nil
}

// checkUsername returns how a user name is kept. A channel's is refused to who chooses it.
func checkUsername(text string, chosen bool) (string, error) {
	name := slug(text)
	switch {
	case name == "" || len(name) > oupwire.MaxUsernameChars:
		return "", &FaultError{BadUsername, fmt.Sprintf("has %d letters and digits, want 1 to %d; give one", len(name), oupwire.MaxUsernameChars)}
	case chosen && isChannel(name):
		return "", &FaultError{BadUsername, fmt.Sprintf("%q is the name of a channel; take another one", name)}
	}
	return name, nil
}

// slug is a name in lower case, with one hyphen for each run of what separates words, and nothing else.
func slug(text string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(text) {
		switch {
		case c == '-' || c == '_' || c == '.' || unicode.IsSpace(c):
			gap = b.Len() > 0
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			if gap {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(c)
		}
	}
	return b.String()
}

func checkEmail(address string) error {
	if address == "" {
		return nil
	}
	if len(address) > maxEmail {
		return &FaultError{BadEmail, fmt.Sprintf("has %d bytes, at most %d", len(address), maxEmail)}
	}
	name, host, _ := strings.Cut(address, "@")
	if strings.Count(address, "@") != 1 || name == "" || host == "" || strings.ContainsFunc(address, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }) {
		return &FaultError{BadEmail, "is no address; give one with one @ and no spaces"}
	}
	return nil
}
