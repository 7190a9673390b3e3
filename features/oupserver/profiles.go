package oupserver

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/generated/oupwire"
)

// profile is somebody who works here.
type profile struct{ id, name, username, email string }

// book is who works here, and who was where.
type book struct {
	profiles []*profile
	fallback string  // profile of the machine; empty for the one that is always there
	visits   []visit // of workspaces, newest last
	models   map[string]*models
}

// visit is an open of a session by a profile.
type visit struct{ key, profile string }

// profileHandlers carry out what is about profiles.
func profileHandlers() map[string]handler {
	return map[string]handler{
		oupwire.MethodProfileLocalCreate: (*Server).createProfile,
		oupwire.MethodLaunchResolve:      (*Server).launch,
	}
}

// find is a profile; nil where it was not made.
func (b *book) find(id string) *profile {
	if i := slices.IndexFunc(b.profiles, func(p *profile) bool { return p.id == id }); i >= 0 {
		return b.profiles[i]
	}
	return nil
}

// free is an id that nobody has.
func (b *book) free(wanted string) string {
	for n, id := 2, wanted; ; n, id = n+1, fmt.Sprintf("%s-%d", wanted, n) {
		if b.find(id) == nil {
			return id
		}
	}
}

// slug is a name in lower case; what separates its words is one hyphen.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return strings.ContainsRune("-_. ", c) })
	for i, word := range words {
		words[i] = strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return -1
		}, word)
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), "-")
}

// faulty is the kind of the error of a profile that breaks a rule; empty for none.
func (s *Server) faulty(p *profile) string {
	if strings.TrimSpace(p.name) == "" || len([]rune(p.name)) > oupwire.MaxProfileNameChars || strings.ContainsFunc(p.name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		if p.name == "" || !s.does("takes every name of a profile") {
			return "profile_local_invalid_name"
		}
	}
	channel := isChannel(p.username) && !s.does("takes the name of a channel for a person")
	if p.username == "" || len(p.username) > oupwire.MaxUsernameChars || channel {
		return "profile_local_invalid_username"
	}
	name, host, _ := strings.Cut(p.email, "@")
	bad := name == "" || host == "" || strings.ContainsAny(host, "@ ") || strings.Contains(name, " ")
	if p.email != "" && bad && !s.does("takes every address") {
		return "profile_local_invalid_email"
	}
	return ""
}

// createProfile makes a profile, or gives the one that was made before with the same words.
func (s *Server) createProfile(_ *conn, p object) (object, *failure, []func()) {
	wish := ""
	if s.serves(oupwire.FeatureProfileLocalCreateRequestedIDV1) || s.does("looks at a wish that it does not offer") {
		wish = text(p, "requested_id")
	}
	made := &profile{name: text(p, "name"), username: slug(text(p, "username")), email: text(p, "email")}
	if !s.does("takes no name from an id") {
		made.name = cmp.Or(made.name, wish)
	}
	if made.name == "" && s.does("names a profile that has no name") {
		made.name = "Somebody"
	}
	_, chosen := p["username"]
	if !chosen {
		made.username = slug(cmp.Or(wish, made.name))
	}
	if s.does("keeps a user name as it is spelled") && chosen {
		made.username = text(p, "username")
	}
	if kind := s.faulty(made); kind != "" {
		if s.does("makes a profile that it refuses") && made.name != "" && made.username != "" {
			made.id = made.username
			s.book.profiles = append(s.book.profiles, made)
		}
		return nil, failKind(oupwire.ErrInvalidParams, kind, "the profile breaks a rule", nil), nil
	}
	same := slices.IndexFunc(s.book.profiles, func(old *profile) bool {
		return old.username == made.username && old.name == made.name && old.email == made.email
	})
	created := same < 0 || s.does("makes a profile twice")
	if !created {
		made = s.book.profiles[same]
	} else if f := s.collides(made, chosen || wish == ""); f != nil {
		return nil, f, nil
	}
	if created {
		s.enter(made, wish)
	}
	if yes, _ := p["make_default"].(bool); yes && s.serves(oupwire.FeatureProfileLocalCreateDefaultV1) && !s.does("pays no heed to a wish for the default") {
		s.book.fallback = made.id
	}
	result := object{
		"profile_id": made.id, "user_id": made.id, "name": made.name, "username": made.username, "email": nil, "created": created, "runtime_mode": s.runtimeMode(),
	}
	if made.email != "" {
		result["email"] = made.email
	}
	return result, nil, nil
}

// enter gives a new profile its id.
func (s *Server) enter(made *profile, wish string) {
	made.id = cmp.Or(slug(wish), made.username)
	if s.does("keeps an id as it is wished") && wish != "" {
		made.id = wish
	}
	if !s.does("gives an id to two") {
		made.id = s.book.free(made.id)
	}
	s.book.profiles = append(s.book.profiles, made)
}

// collides refuses what another profile has.
func (s *Server) collides(made *profile, chosen bool) *failure {
	for _, old := range s.book.profiles {
		with := ""
		switch {
		case old.username == made.username && chosen && !s.does("lets two have one user name"):
			with = "username"
		case old.email != "" && old.email == made.email && !s.does("lets two have one address"):
			with = "email"
		default:
			continue
		}
		return failKind(oupwire.ErrInvalidParams, "profile_local_collision", "somebody else has it", object{"profile_id": old.id, "reason": with})
	}
	return nil
}

// knowsProfile reports whether a profile was made.
func (s *Server) knowsProfile(id string) bool { return id == defaultProfile || s.book.find(id) != nil }

// visited remembers who was where.
func (s *Server) visited(c *conn, ses *session) {
	s.book.visits = append(s.book.visits, visit{ses.key, c.profile})
}

// here are the profiles with a session in a workspace, the last one first.
func (s *Server) here(cwd string) []string {
	var all []string
	for _, v := range slices.Backward(s.book.visits) {
		if ses := s.sessions[v.key]; ses != nil && ses.workspace == cwd && !slices.Contains(all, v.profile) {
			all = append(all, v.profile)
		}
	}
	return all
}

// launch says where a start in a folder leads.
func (s *Server) launch(_ *conn, p object) (object, *failure, []func()) {
	cwd := text(p, "cwd")
	if !filepath.IsAbs(cwd) {
		return nil, fail(oupwire.ErrInvalidParams, "cwd is no absolute path", nil), nil
	}
	if s.does("makes a session of a launch") {
		s.make("local:launched").workspace = cwd
	}
	owners := s.here(cwd)
	wanted := text(p, "profile_id")
	if wanted == "" && len(owners) > 0 && !s.does("takes the default wherever one starts") {
		wanted = owners[0]
	}
	wanted = cmp.Or(wanted, s.book.fallback, defaultProfile)
	result := object{"resolved_profile": wanted}
	switch {
	case slices.Contains(owners, wanted):
		result["decision"] = oupwire.LaunchDecisionResume
	case len(owners) > 0:
		result["decision"], result["existing_profiles"] = oupwire.LaunchDecisionCrossProfile, owners
	default:
		result["decision"] = oupwire.LaunchDecisionActivate
	}
	switch {
	case s.does("leaves out who may be elsewhere"):
		delete(result, "existing_profiles")
	case s.does("says who may be elsewhere in any case") && len(owners) > 0:
		result["existing_profiles"] = owners
	case s.does("resolves no profile"):
		delete(result, "resolved_profile")
	}
	return result, nil, nil
}

func profileFaults() []Fault {
	return []Fault{
		act("OUP-PROFILE-001", "makes a profile twice"),
		act("OUP-PROFILE-002", "makes profiles for many people").as(many),
		act("OUP-PROFILE-003", "takes no name from an id"),
		act("OUP-PROFILE-003", "names a profile that has no name"),
		act("OUP-PROFILE-004", "keeps a user name as it is spelled"),
		act("OUP-PROFILE-004", "takes the name of a channel for a person"),
		act("OUP-PROFILE-005", "keeps an id as it is wished"),
		act("OUP-PROFILE-005", "gives an id to two"),
		act("OUP-PROFILE-006", "looks at a wish that it does not offer").as(little),
		act("OUP-PROFILE-006", "pays no heed to a wish for the default"),
		act("OUP-PROFILE-007", "takes every name of a profile"),
		act("OUP-PROFILE-007", "takes every address"),
		act("OUP-PROFILE-007", "makes a profile that it refuses"),
		act("OUP-PROFILE-009", "lets two have one user name"),
		act("OUP-PROFILE-009", "lets two have one address"),
		act("OUP-LAUNCH-001", "makes a session of a launch"),
		act("OUP-LAUNCH-002", "leaves out who may be elsewhere"),
		act("OUP-LAUNCH-002", "says who may be elsewhere in any case"),
		act("OUP-LAUNCH-002", "resolves no profile"),
		act("OUP-LAUNCH-003", "takes the default wherever one starts"),
	}
}
