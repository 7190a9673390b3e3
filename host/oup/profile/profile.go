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

// Create makes a profile, or returns the one that was made with the same words before. Errors are *FaultError and
// *CollisionError.
//
// Rules: OUP-PROFILE-001 to OUP-PROFILE-009.
func (s *Store) Create(n New) (p Profile, created bool, err error) {
	n.Name = cmp.Or(n.Name, n.RequestedID)
	if err := checkName(n.Name); err != nil {
		return Profile{}, false, err
	}
	username, err := checkUsername(cmp.Or(n.Username, slug(cmp.Or(n.RequestedID, n.Name))))
	if err != nil {
		return Profile{}, false, err
	}
	if err := checkEmail(n.Email); err != nil {
		return Profile{}, false, err
	}
	err = s.file.Change(func(d *document) error {
		for i := range d.Profiles {
			switch old := d.Profiles[i]; {
			case old.Username == username && old.Name == n.Name && old.Email == n.Email:
				p = old
			case old.Username == username && (n.Username != "" || n.RequestedID == ""):
				return &CollisionError{ID: old.ID, Which: string(BadUsername)}
			case n.Email != "" && old.Email == n.Email:
				return &CollisionError{ID: old.ID, Which: string(BadEmail)}
			}
		}
		if p.ID == "" {
			created = true
			p = Profile{ID: d.free(cmp.Or(slug(n.RequestedID), username)), Name: n.Name, Username: username, Email: n.Email}
			d.Profiles = append(d.Profiles, p)
		}
		if n.MakeDefault {
			d.Default = p.ID
		}
		return nil
	})
	return p, created && err == nil, err
}

// free is an id that no profile has: the wanted one, or with a number behind it.
func (d *document) free(wanted string) string {
	for n := 1; ; n++ {
		id := wanted
		if n > 1 {
			id += "-" + strconv.Itoa(n)
		}
		if id != key.Default() && !slices.ContainsFunc(d.Profiles, func(p Profile) bool { return p.ID == id }) {
			return id
		}
	}
}

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

func checkUsername(text string) (string, error) {
	name := slug(text)
	switch {
	case name == "" || len(name) > oupwire.MaxUsernameChars:
		return "", &FaultError{BadUsername, fmt.Sprintf("has %d letters and digits, want 1 to %d", len(name), oupwire.MaxUsernameChars)}
	case slices.ContainsFunc(oupwire.TableChannels, func(channel string) bool { return channel == name }):
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
