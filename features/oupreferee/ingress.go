package oupreferee

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Places of the command that issues a work secret, beside those of a server and PlaceSession.
const PlaceSeconds = "{seconds}"

// Secret lets a client into one session.
type Secret struct {
	Token string // what the client shows
	Text  string // what was handed out, which the token is in
}

var errNoSecrets = errors.New("the adapter does not say how a work secret is issued")

// maxSecret bounds what is handed out.
const maxSecret = 64 << 10

// issue runs the command that issues a work secret.
func (p *started) issue(ctx context.Context, session string, lasts time.Duration) (Secret, error) {
	if len(p.target.Secret) == 0 {
		return Secret{}, errNoSecrets
	}
	ctx, cancel := context.WithTimeout(ctx, p.target.Wait)
	defer cancel()
	places, own := p.places(), strings.NewReplacer(PlaceSession, session, PlaceSeconds, strconv.Itoa(int(lasts.Seconds())))
	var argv, env []string
	for _, word := range p.target.Secret {
		argv = append(argv, own.Replace(places.Replace(word)))
	}
	for _, entry := range p.target.Env {
		env = append(env, places.Replace(entry))
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.root+"/workspace", env
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return Secret{}, fmt.Errorf("no work secret is issued: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return readSecret(out)
}

// readSecret takes what a command has printed: base64url of JSON that has the token, or the token itself.
func readSecret(printed []byte) (Secret, error) {
	text := strings.TrimSpace(string(printed))
	if text == "" || len(text) > maxSecret || strings.ContainsAny(text, " \n") {
		return Secret{}, fmt.Errorf("a work secret is one word of at most %d bytes, and not %s", maxSecret, short(text))
	}
	inside, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err == nil {
		tree, _ := decode(inside)
		if token, is := at(tree, protocol("ingress_token")); is {
			return Secret{Token: fmt.Sprint(token), Text: text}, nil
		}
	}
	return Secret{Token: text, Text: text}, nil
}

// issues has a work secret made for a session; it is good for an hour where nothing else is said.
func (w *world) issues(name, session, seconds string) error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.setup.Target.Transport == Stdio {
		return notApplicable("standard streams have no route of one session")
	}
	if name == "" {
		name = "secret"
	}
	session = w.plainText(session)
	lasts := time.Hour
	if n, err := strconv.Atoi(seconds); err == nil {
		lasts = time.Duration(n) * time.Second
	}
	secret, err := w.server.Issue(w.ctx, session, lasts)
	if errors.Is(err, errNoSecrets) {
		return notApplicable("%v", err)
	}
	if err != nil {
		return errored("%v", err)
	}
	w.vars[name], w.vars[name+" session"] = secret.Token, session
	w.secrets = append(w.secrets, secret)
	return nil
}

// enters makes a connection with a work secret, to its session; it names every feature there is.
func (w *world) enters(name, secret string) error {
	if secret == "" {
		secret = "secret"
	}
	token, _ := w.vars[secret].(string)
	session, _ := w.vars[secret+" session"].(string)
	features := registry()
	header := http.Header{"Authorization": {"Bearer " + token}}
	header.Set(protocol("feature_header"), strings.Join(features, ", "))
	line, _, err := w.server.Upgrade(w.ctx, ingress(url.PathEscape(session)), "", header, nil)
	if err != nil {
		return missing("no connection with a work secret: %v", err)
	}
	c := w.adopt(name, line, features)
	w.mu.Lock()
	defer w.mu.Unlock()
	c.monitor.Keep(token)
	c.monitor.Narrow()
	return nil
}

// ingress is the path to a session as it is spelled.
func ingress(session string) string { return protocol("ingress_path") + session }

// secretEnds tries a work secret until it is refused.
func (w *world) secretEnds(name string) error {
	token, _ := w.vars[name].(string)
	session, _ := w.vars[name+" session"].(string)
	deadline := time.Now().Add(w.setup.Wait + time.Second)
	for {
		line, _, err := w.server.Upgrade(w.ctx, ingress(url.PathEscape(session)), "", http.Header{"Authorization": {"Bearer " + token}}, nil)
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			return nil
		case err != nil:
			return errored("%v", err)
		}
		line.Close()
		if time.Now().After(deadline) {
			return failed("a work secret that was good for a second lets clients in after %s", w.setup.Wait+time.Second)
		}
		select {
		case <-w.ctx.Done():
			return errored("%v", w.ctx.Err())
		case <-time.After(looks):
		}
	}
}

// maxKept bounds the files that are searched for a secret.
const maxKept = 64 << 20

// nothingKept looks for work secrets in what the server has written.
func (w *world) nothingKept() error {
	var found string
	err := filepath.WalkDir(w.root+"/data", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a file that has gone meanwhile keeps nothing
		}
		file, err := os.Open(path)
		if err != nil {
			return nil //nolint:nilerr // the same
		}
		defer func() { _ = file.Close() }()
		text, err := io.ReadAll(io.LimitReader(bufio.NewReader(file), maxKept))
		if err != nil {
			return err
		}
		if w.told(text) {
			found, _ = filepath.Rel(w.root+"/data", path)
			return filepath.SkipAll
		}
		return nil
	})
	switch {
	case err != nil:
		return errored("%v", err)
	case found != "":
		return failed("the file %s of the server holds a work secret as it is", found)
	}
	return nil
}

// told reports whether a text holds a work secret.
func (w *world) told(text []byte) bool {
	return slices.ContainsFunc(w.secrets, func(s Secret) bool {
		return bytes.Contains(text, []byte(s.Token)) || bytes.Contains(text, []byte(s.Text))
	})
}

// hidden leaves the secrets of a scenario out of what is reported.
func (w *world) hidden(text string) string {
	text = strings.ReplaceAll(text, fmt.Sprint(w.vars["token"]), "TOKEN")
	for _, s := range w.secrets {
		text = strings.ReplaceAll(text, s.Token, "SECRET")
	}
	return text
}

// listsNarrowly looks at every list of methods that a connection with a work secret was shown.
func (w *world) listsNarrowly() error {
	closed := map[string]bool{}
	for _, row := range oupwire.TableMethodReach {
		closed[row.Method] = row.Ingress == "no"
	}
	for _, row := range oupwire.TableServiceMethodReach {
		closed[row.Method] = row.Ingress == "no"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := 0
	for _, f := range w.cur.frames {
		for _, list := range members(f.root, listMethods) {
			seen++
			names, _ := list.([]any)
			for _, each := range names {
				if name, is := each.(string); is && closed[name] {
					return failed("%s is listed as supported on a connection with a work secret, which may not call it", name)
				}
			}
		}
	}
	if seen == 0 {
		return missing("nothing lists the methods of the connection")
	}
	return nil
}

// members are the values of every member of a name, at whatever depth.
func members(v any, name string) []any {
	var out []any
	switch v := v.(type) {
	case object:
		for member, value := range v {
			if member == name {
				out = append(out, value)
			}
			out = append(out, members(value, name)...)
		}
	case []any:
		for _, each := range v {
			out = append(out, members(each, name)...)
		}
	}
	return out
}
