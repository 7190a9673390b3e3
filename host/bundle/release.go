package bundle

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Catalog lists the official bundles of the octet version that this module implements.
func Catalog() []string {
	return []string{"octet-browse", "octet-mcp", "octet-subagents", "octet-web-search"}
}

// officialBase is where releases are published.
const officialBase = "https://github.com/skaft-software/octet/releases/download"

const sumsName = "SHA256SUMS"

// The bounds of a download. Sheet: manifest 11.2.
const (
	downloadAttempts = 3
	firstPause       = 250 * time.Millisecond
	longestPause     = time.Second
	connectTimeout   = 10 * time.Second
	readTimeout      = 30 * time.Second
)

// Release is where official bundles come from.
type Release struct {
	// Base is the URL that "/vVERSION/ASSET" is put behind; empty: the project's. It must be HTTPS.
	Base string
	// Client fetches; nil: one with the time bounds of an installation.
	Client *http.Client
	// Pause waits between attempts; nil: for that long, or until the context ends.
	Pause func(ctx context.Context, length time.Duration) error
	// ReadTimeout is how long a server may say nothing; 0: 30 seconds.
	ReadTimeout time.Duration
}

// fetched is an archive that was downloaded and has the digest of its release.
type fetched struct {
	directory, path, url, digest string
}

func (f fetched) discard() { _ = removeAll(f.directory) }

// fetch downloads the archive of a name into a private directory.
func (r Release) fetch(ctx context.Context, name, octet string) (_ fetched, err error) {
	base := r.Base
	if base == "" {
		base = officialBase
	}
	base = strings.TrimSuffix(base, "/") + "/v" + octet
	if !strings.HasPrefix(base, "https://") {
		return fetched{}, &Refusal{Rule: "MAN-INSTALL-010", Subject: base, Message: "bundles are fetched over HTTPS alone", Remedy: "use an https address"}
	}
	asset := name + "-" + octet + ".tar.gz"
	directory, err := os.MkdirTemp("", "octet-bundle-")
	if err != nil {
		return fetched{}, &Refusal{Message: "there is no place for the download", Remedy: "look after the directory for temporary files", Cause: err}
	}
	f := fetched{directory: directory, path: filepath.Join(directory, asset), url: base + "/" + asset}
	defer func() {
		if err != nil {
			f.discard()
		}
	}()
	var sums strings.Builder
	if err := r.download(ctx, base+"/"+sumsName, MaxSumsBytes, func() (io.Writer, error) { sums.Reset(); return &sums, nil }); err != nil {
		return fetched{}, err
	}
	if f.digest, err = findSum(sums.String(), asset); err != nil {
		return fetched{}, about(base+"/"+sumsName, err)
	}
	actual, err := r.save(ctx, f)
	if err != nil {
		return fetched{}, err
	}
	if actual != f.digest {
		return fetched{}, &Refusal{
			Rule: "MAN-INSTALL-010", Subject: f.url, Remedy: "try again later, and tell whoever publishes it",
			Message: fmt.Sprintf("the checksum does not match: expected %s, downloaded %s", f.digest, actual),
		}
	}
	return f, nil
}

// save downloads an archive into its file and returns its digest.
func (r Release) save(ctx context.Context, f fetched) (digest string, err error) {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", &Refusal{Message: "the download cannot be kept", Remedy: "look after the directory for temporary files", Cause: err}
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	hash := sha256.New()
	err = r.download(ctx, f.url, MaxArchiveBytes, func() (io.Writer, error) {
		hash.Reset()
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return io.MultiWriter(file, hash), file.Truncate(0)
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// findSum finds the digest of an asset in the list of a release: a digest, blanks, an optional asterisk
// and a name on each line.
func findSum(sums, asset string) (string, error) {
	digest := ""
	lines := bufio.NewScanner(strings.NewReader(sums))
	lines.Buffer(nil, MaxSumsBytes+1)
	for lines.Scan() {
		sum, name, found := strings.Cut(lines.Text(), " ")
		if !found || strings.TrimPrefix(strings.TrimLeft(name, " "), "*") != asset {
			continue
		}
		if !isDigest(sum) || digest != "" {
			return "", refuse("MAN-INSTALL-010", "tell whoever publishes it", "the list of checksums has no clear line for %s", asset)
		}
		digest = strings.ToLower(sum)
	}
	if digest == "" {
		return "", refuse("MAN-INSTALL-010", "tell whoever publishes it", "the list of checksums has no line for %s", asset)
	}
	return digest, nil
}

// final is a failure that another attempt cannot change.
type final struct{ error }

// Unwrap returns the failure.
func (f final) Unwrap() error { return f.error }

// download fetches a URL, with a few attempts. begin is called for each and says where the bytes go.
func (r Release) download(ctx context.Context, address string, limit int64, begin func() (io.Writer, error)) error {
	pause := firstPause
	var err error
	for attempt := range downloadAttempts {
		if attempt > 0 {
			if err := r.pause(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, longestPause)
		}
		var to io.Writer
		if to, err = begin(); err == nil {
			err = r.attempt(ctx, address, limit, to)
		}
		var last final
		if err == nil || errors.As(err, &last) || ctx.Err() != nil {
			break
		}
	}
	var known *Refusal
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return known
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return &Refusal{Rule: "MAN-INSTALL-011", Subject: address, Message: "it cannot be downloaded", Remedy: "look after the network, or use --path ARCHIVE", Cause: err}
}

func (r Release) pause(ctx context.Context, length time.Duration) error {
	if r.Pause != nil {
		return r.Pause(ctx, length)
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt fetches a URL once. A server that says nothing for too long is left.
func (r Release) attempt(ctx context.Context, address string, limit int64, to io.Writer) error {
	wait := r.ReadTimeout
	if wait == 0 {
		wait = readTimeout
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(wait, func() { cancel(fmt.Errorf("nothing came for %s", wait)) })
	defer silence.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return final{err}
	}
	response, err := r.client().Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	defer func() { _ = response.Body.Close() }()
	switch code := response.StatusCode; {
	case code == http.StatusOK:
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return fmt.Errorf("the server answers %s", response.Status)
	default:
		return final{&Refusal{
			Rule: "MAN-INSTALL-010", Subject: address, Remedy: "the release may not be published: use --path ARCHIVE",
			Message: "the server answers " + response.Status,
		}}
	}
	body := &watched{from: response.Body, came: func() { silence.Reset(wait) }}
	count, err := io.Copy(to, io.LimitReader(body, limit+1))
	switch {
	case context.Cause(ctx) != nil:
		// What a server says while it is being left is no end of the file.
		return context.Cause(ctx)
	case err != nil:
		return err
	case count > limit:
		return final{&Refusal{Rule: "MAN-BUNDLE-003", Subject: address, Remedy: "tell whoever publishes it", Message: fmt.Sprintf("it has more than %d bytes", limit)}}
	}
	return nil
}

// watched tells whenever bytes have come.
type watched struct {
	from io.Reader
	came func()
}

// Read reads and tells.
func (w *watched) Read(p []byte) (int, error) {
	count, err := w.from.Read(p)
	if count > 0 {
		w.came()
	}
	return count, err
}

// client fetches over HTTPS alone, also where it is sent elsewhere.
func (r Release) client() *http.Client {
	if r.Client != nil {
		client := *r.Client
		client.CheckRedirect = stayEncrypted
		return &client
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{CheckRedirect: stayEncrypted}
	}
	transport = transport.Clone()
	transport.DialContext = dialer().DialContext
	transport.TLSHandshakeTimeout = connectTimeout
	return &http.Client{Transport: transport, CheckRedirect: stayEncrypted}
}

func dialer() *net.Dialer { return &net.Dialer{Timeout: connectTimeout} }

func stayEncrypted(request *http.Request, via []*http.Request) error {
	const most = 10
	switch {
	case request.URL.Scheme != "https":
		return final{&Refusal{Rule: "MAN-INSTALL-010", Subject: request.URL.Redacted(), Message: "the download leads away from HTTPS", Remedy: "use --path ARCHIVE"}}
	case len(via) >= most:
		return final{errors.New("too many redirections")}
	}
	return nil
}
