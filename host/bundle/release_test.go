package bundle_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/bundle"
)

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// official is the archive of an official bundle.
func official(t testing.TB, name string) []byte {
	return archive(t, dir(name+"/"), file(name+"/extension.toml", strings.Replace(strings.Replace(toml, "word-count", name, 1), "bin/run", "python3", 1)))
}

// release serves files of a release and remembers what was asked for.
type release struct {
	files  map[string][]byte
	before func(w http.ResponseWriter, r *http.Request, asked int) (served bool)
	asked  []string
}

const (
	archivePath = "/v0.8.0/octet-mcp-0.8.0.tar.gz"
	sumsPath    = "/v0.8.0/SHA256SUMS"
)

// serve starts a release with one sound bundle.
func serve(t *testing.T) (*release, bundle.Manager, *[]time.Duration) {
	t.Helper()
	data := official(t, "octet-mcp")
	r := &release{files: map[string][]byte{
		archivePath: data, sumsPath: []byte(strings.Repeat("0", 64) + "  other.tar.gz\n" + digest(data) + " *octet-mcp-0.8.0.tar.gz\n"),
	}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.asked = append(r.asked, request.URL.Path)
		if r.before != nil && r.before(w, request, len(r.asked)) {
			return
		}
		data, found := r.files[request.URL.Path]
		if !found {
			http.NotFound(w, request)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	t.Setenv("TMPDIR", t.TempDir())
	var pauses []time.Duration
	m := manager(t)
	m.Release = bundle.Release{Base: server.URL, Client: server.Client(), Pause: func(_ context.Context, length time.Duration) error {
		pauses = append(pauses, length)
		return nil
	}}
	return r, m, &pauses
}

func TestOfficial_isFetchedAndChecked(t *testing.T) {
	// MAN-INSTALL-010.
	r, m, _ := serve(t)
	record, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
	if err != nil {
		t.Fatal(err)
	}
	if record.SourceKind != bundle.Official || record.Source != m.Release.Base+archivePath || record.ArchiveSHA256 != digest(r.files[archivePath]) {
		t.Errorf("record: %+v", record)
	}
	if got := strings.Join(r.asked, " "); got != sumsPath+" "+archivePath {
		t.Errorf("asked for %s", got)
	}
	if _, err := m.Update(t.Context(), bundle.Source{Name: "octet-mcp"}); err != nil {
		t.Errorf("update: %v", err)
	}
	r.asked = nil
	_, err = m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
	refused(t, err, "MAN-INSTALL-006", "octet extension update octet-mcp")
	if len(r.asked) > 0 {
		t.Errorf("what cannot be placed was fetched: %v", r.asked)
	}
	noTemporaryFiles(t)
}

func noTemporaryFiles(t *testing.T) {
	t.Helper()
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestOfficial_refusals(t *testing.T) {
	// MAN-INSTALL-010, MAN-BUNDLE-012, MAN-BUNDLE-003.
	other := digest(official(t, "octet-browse"))
	for name, c := range map[string]struct {
		change func(r *release, m *bundle.Manager)
		rule   string
		words  []string
	}{
		"checksum": {func(r *release, _ *bundle.Manager) {
			r.files[sumsPath] = []byte(other + "  octet-mcp-0.8.0.tar.gz\n")
		}, "MAN-INSTALL-010", []string{"expected " + other, "downloaded "}},
		"another bundle": {func(r *release, _ *bundle.Manager) {
			r.files[archivePath] = official(t, "octet-browse")
			r.files[sumsPath] = []byte(digest(r.files[archivePath]) + "  octet-mcp-0.8.0.tar.gz\n")
		}, "MAN-BUNDLE-012", []string{"octet-mcp", "octet-browse"}},
		"no line":   {func(r *release, _ *bundle.Manager) { r.files[sumsPath] = []byte("x\n\n") }, "MAN-INSTALL-010", []string{"no line for octet-mcp-0.8.0.tar.gz"}},
		"no digest": {func(r *release, _ *bundle.Manager) { r.files[sumsPath] = []byte("abc  octet-mcp-0.8.0.tar.gz\n") }, "MAN-INSTALL-010", []string{"no clear line"}},
		"line twice": {func(r *release, _ *bundle.Manager) {
			r.files[sumsPath] = []byte(strings.Repeat(other+"  octet-mcp-0.8.0.tar.gz\n", 2))
		}, "MAN-INSTALL-010", []string{"no clear line"}},
		"long list":    {func(r *release, _ *bundle.Manager) { r.files[sumsPath] = make([]byte, bundle.MaxSumsBytes+1) }, "MAN-BUNDLE-003", []string{"1048576"}},
		"no release":   {func(r *release, _ *bundle.Manager) { r.files = nil }, "MAN-INSTALL-010", []string{"404", "--path ARCHIVE"}},
		"no archive":   {func(r *release, _ *bundle.Manager) { delete(r.files, archivePath) }, "MAN-INSTALL-010", []string{"404"}},
		"not HTTPS":    {func(_ *release, m *bundle.Manager) { m.Release.Base = "http://localhost:1" }, "MAN-INSTALL-010", []string{"HTTPS"}},
		"led to HTTP":  {func(r *release, _ *bundle.Manager) { r.before = redirect("http://localhost:1/x") }, "MAN-INSTALL-010", []string{"away from HTTPS"}},
		"hostile":      {func(r *release, _ *bundle.Manager) { setArchive(r, []byte("no archive")) }, "MAN-BUNDLE-001", []string{"cannot be read"}},
		"wrong octet":  {func(_ *release, m *bundle.Manager) { m.Octet = "0.9.0" }, "MAN-INSTALL-010", []string{"v0.9.0", "404"}},
		"endless path": {func(r *release, m *bundle.Manager) { r.before = redirect(m.Release.Base + "/again") }, "MAN-INSTALL-011", []string{"redirections"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, m, _ := serve(t)
			c.change(r, &m)
			_, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
			refused(t, err, c.rule, c.words...)
			if _, err := os.Lstat(m.Root); err == nil {
				t.Error("the directory of extensions was made")
			}
			noTemporaryFiles(t)
		})
	}
}

func TestOfficial_listOfChecksumsAtItsBound(t *testing.T) {
	r, m, _ := serve(t)
	line := string(r.files[sumsPath])
	r.files[sumsPath] = []byte(line + strings.Repeat("\n", bundle.MaxSumsBytes-len(line)))
	if _, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"}); err != nil {
		t.Error(err)
	}
}

func redirect(to string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		http.Redirect(w, r, to, http.StatusFound)
		return true
	}
}

func setArchive(r *release, data []byte) {
	r.files[archivePath] = data
	r.files[sumsPath] = []byte(digest(data) + "  octet-mcp-0.8.0.tar.gz\n")
}

func TestDownload_isTriedThreeTimes(t *testing.T) {
	// MAN-INSTALL-011.
	r, m, pauses := serve(t)
	r.before = func(w http.ResponseWriter, _ *http.Request, asked int) bool {
		switch asked {
		case 1, 2:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return true
		case 4: // the archive: half of it
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("half"))
			return true
		}
		return false
	}
	if _, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(*pauses); got != "[250ms 500ms 250ms]" {
		t.Errorf("paused for %s", got)
	}
	r, m, pauses = serve(t)
	r.before = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		http.Error(w, "busy", http.StatusBadGateway)
		return true
	}
	_, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
	refused(t, err, "MAN-INSTALL-011", "502", "look after the network")
	if len(r.asked) != 3 || len(*pauses) != 2 {
		t.Errorf("tried %d times with pauses %v", len(r.asked), *pauses)
	}
	// What will not change is not tried again.
	r, m, _ = serve(t)
	r.files = nil
	_, err = m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
	refused(t, err, "MAN-INSTALL-010", "404")
	if len(r.asked) != 1 {
		t.Errorf("tried %d times", len(r.asked))
	}
}

// falling is a network on which every answer begins and never goes on.
type falling struct{ count int }

func (f *falling) RoundTrip(request *http.Request) (*http.Response, error) {
	f.count++
	body := io.MultiReader(strings.NewReader("begin"), silence{request.Context()})
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body), Request: request}, nil
}

// silence lasts until its context ends.
type silence struct{ context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.Done()
	return 0, s.Err()
}

func TestDownload_leavesAServerThatFallsSilent(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network := &falling{}
		m := bundle.Manager{Root: root, Release: bundle.Release{Client: &http.Client{Transport: network}, ReadTimeout: time.Minute}}
		start := time.Now()
		_, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
		refused(t, err, "MAN-INSTALL-011", "nothing came for 1m0s")
		if waited := time.Since(start); waited != 3*time.Minute+750*time.Millisecond || network.count != 3 {
			t.Errorf("tried %d times within %s", network.count, waited)
		}
	})
}

// refusing is a network on which no request arrives.
type refusing struct{ count int }

func (r *refusing) RoundTrip(*http.Request) (*http.Response, error) {
	r.count++
	return nil, fmt.Errorf("no route")
}

func TestDownload_pausesBetweenAttempts(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network := &refusing{}
		m := bundle.Manager{Root: root, Release: bundle.Release{Client: &http.Client{Transport: network}}}
		start := time.Now()
		_, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
		refused(t, err, "MAN-INSTALL-011", "https://github.com/skaft-software/octet/releases/download/v0.8.0/SHA256SUMS", "no route")
		if waited := time.Since(start); waited != 750*time.Millisecond || network.count != 3 {
			t.Errorf("tried %d times within %s", network.count, waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start = time.Now()
		if _, err := m.Install(ctx, bundle.Source{Name: "octet-mcp"}); err == nil || time.Since(start) != 100*time.Millisecond {
			t.Errorf("a pause outlives its context: %v behind %s", err, time.Since(start))
		}
	})
}

// silent is a network on which nothing ever comes.
type silent struct{ count int }

func (s *silent) RoundTrip(request *http.Request) (*http.Response, error) {
	s.count++
	<-request.Context().Done()
	return nil, request.Context().Err()
}

func TestDownload_waitsThirtySecondsAndConnectsInTen(t *testing.T) {
	// MAN-INSTALL-011.
	if connect, handshake := bundle.ConnectTimeouts(); connect != 10*time.Second || handshake != 10*time.Second {
		t.Errorf("connects within %s, and %s for TLS, want 10s", connect, handshake)
	}
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network := &silent{}
		m := bundle.Manager{Root: root, Release: bundle.Release{Client: &http.Client{Transport: network}}}
		start := time.Now()
		_, err := m.Install(t.Context(), bundle.Source{Name: "octet-mcp"})
		refused(t, err, "MAN-INSTALL-011", "nothing came for 30s")
		if waited := time.Since(start); waited != 90*time.Second+750*time.Millisecond || network.count != 3 {
			t.Errorf("tried %d times within %s", network.count, waited)
		}
	})
}
