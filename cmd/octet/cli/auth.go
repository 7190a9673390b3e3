package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/protocol"
)

const helpAuth = `octet auth gives a client of octet serve a secret that is good for one session and for a while, and takes it back.

Usage:
  octet auth issue-work-secret --session KEY [options]   print a new secret
  octet auth revoke-work-secret --session KEY            withdraw it: its connections are closed with 1008

Each explains itself: octet auth issue-work-secret --help.
`

const helpIssue = `octet auth issue-work-secret prints a secret with which a client of octet serve reaches one session and no other. The
one that the session had before ends. What is kept is a digest alone, so a secret that is lost is issued anew.

Usage:
  octet auth issue-work-secret --session KEY [options]

Options:
  --session KEY              the session, with its topic, as session/open names it: _main:local:lab#build
  --ttl TIME                 how long it is good, for example 15m or 8h; 1h by default, 30 days at most
  --url URL                  where the server is, http://HOST:PORT; http://127.0.0.1:50080 by default. It is part of the secret
  --data-dir DIR             that of the server; OCTET_DATA_DIR or ~/.octet by default
  -h, --help                 show this text

The secret is base64url of {"version": 1, "session_ingress_token": TOKEN, "api_base_url": URL}. A client connects to
/v1/session_ingress/ws/KEY, the key percent-encoded, with "Authorization: Bearer TOKEN". It may call what is about that
session; the server says what that is in the answer to client_hello.

Example:
  octet auth issue-work-secret --session _main:local:lab --ttl 15m

` + exitCodes

const helpRevoke = `octet auth revoke-work-secret withdraws the secret of a session. A client that is connected with it is sent away at its
next request, or within a second, with the close code 1008. So is one whose time is over.

Usage:
  octet auth revoke-work-secret --session KEY [--data-dir DIR]

Options:
  --session KEY              the session that the secret was issued for
  --data-dir DIR             that of the server; OCTET_DATA_DIR or ~/.octet by default
  -h, --help                 show this text

` + exitCodes

const (
	defaultGrant = time.Hour
	longestGrant = 30 * 24 * time.Hour
)

// workSecret is what both commands are about.
type workSecret struct {
	store   storeOptions
	session string
	ttl     time.Duration
	url     string
}

func auth() *command {
	var issued, revoked workSecret
	return &command{name: "auth", short: "Give clients of octet serve secrets for one session.", help: helpAuth, group: []*command{
		{
			name: "issue-work-secret", short: "Print a secret that is good for one session.", help: helpIssue,
			flags: func(set *pflag.FlagSet) {
				issued.register(set)
				set.DurationVar(&issued.ttl, "ttl", defaultGrant, "")
				set.StringVar(&issued.url, "url", fmt.Sprintf("http://%s:%d", defaultHost, defaultPort), "")
			},
			run: issued.issue,
		},
		{
			name: "revoke-work-secret", short: "Withdraw the secret of a session.", help: helpRevoke,
			flags: revoked.register, run: revoked.revoke,
		},
	}}
}

func (w *workSecret) register(set *pflag.FlagSet) {
	set.StringVar(&w.session, "session", "", "")
	w.store.register(set)
}

func (w *workSecret) grants(args []string) (*access.Grants, error) {
	switch {
	case len(args) > 0:
		return nil, usagef("unexpected argument %q; the session is named with --session", args[0])
	case w.session == "":
		return nil, usagef("--session is missing; name the one that the secret is for, such as %s:local:lab", protocol.Text("default_profile"))
	}
	path, err := w.store.path()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, usagef("there is no data directory %q, so no server has it; name that of the server with --data-dir", filepath.Dir(path))
	}
	return &access.Grants{Directory: filepath.Dir(path)}, nil
}

func (w *workSecret) issue(_ context.Context, c *console, args []string) (int, error) {
	grants, err := w.grants(args)
	if err != nil {
		return failed(err)
	}
	if w.ttl <= 0 || w.ttl > longestGrant {
		return exitUsage, usagef("--ttl is %s, want more than 0 and at most %s", w.ttl, longestGrant)
	}
	secret, err := grants.Issue(w.session, w.url, w.ttl)
	if err != nil {
		return failed(err)
	}
	c.print(secret.String() + "\n")
	return exitOK, nil
}

func (w *workSecret) revoke(_ context.Context, c *console, args []string) (int, error) {
	grants, err := w.grants(args)
	if err != nil {
		return failed(err)
	}
	found, err := grants.Revoke(w.session)
	if err != nil {
		return failed(err)
	}
	if !found {
		c.note("session %q has no secret that could be withdrawn", w.session)
		return exitOK, nil
	}
	c.print("withdrawn\n")
	return exitOK, nil
}
