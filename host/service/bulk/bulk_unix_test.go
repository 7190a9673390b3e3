//go:build unix

package bulk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/refs"
)

const (
	write   = featurewire.MethodBulkWrite
	commit  = featurewire.MethodBulkCommit
	read    = featurewire.MethodBulkRead
	release = featurewire.MethodBulkRelease
)

// stage is a process that hands objects over.
type stage struct {
	*extensiontest.Rig
	t        *testing.T
	storage  *Storage
	parent   int64
	transfer string
}

func play(t *testing.T, limits featurewire.BulkLimits, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		storage, err := Open(Options{Directory: filepath.Join(t.TempDir(), "bulk"), Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{t: t, storage: storage}
		s.start("demo", 0)
		f(s)
		s.X.Close()
		if err := storage.Close(); err != nil {
			t.Error(err)
		}
	})
}

// start runs a process; the one before stays.
func (s *stage) start(name string, generation int64) {
	s.t.Helper()
	s.Rig = extensiontest.Start(s.t, extensiontest.Setup{
		Name: name, Options: extension.Options{Bindings: []extension.Binding{s.storage.Binding()}, Instance: name, Generation: generation},
		Initialize: func(result map[string]any) {
			result["tools"] = []any{json.RawMessage(`{"name":"work","description":"Works.","parameters":{"type":"object"},"output_schema":{"type":"object"}}`)}
		},
	})
	var offer featurewire.ProtocolOffer
	if err := json.Unmarshal(s.Offer(), &offer); err != nil {
		s.t.Fatal(err)
	}
	bulk, ok := offer.BulkObjectsV1.Get()
	if !ok {
		s.t.Fatalf("offered %s", s.Offer())
	}
	s.transfer = bulk.TransferDirectory
}

// during runs f inside a call on behalf of a session, which ends with this structured content; nil breaks it.
func (s *stage) during(session string, f func(), content any) error {
	s.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
		s.parent = id
		f()
		if content == nil {
			return nil, errors.New("it broke")
		}
		result := s.ToolText("done")
		if text, ok := content.(string); ok {
			result["structured_content"] = json.RawMessage(text)
		} else {
			result["is_error"] = true
		}
		return result, nil
	})
	_, err := s.X.Call(context.Background(), extension.Request{Tool: "work", Scope: extension.Scope{Owner: session}})
	synctest.Wait()
	return err
}

func (s *stage) call(f func()) {
	s.t.Helper()
	if err := s.during("session-1", f, `{}`); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) ask(method, members string) extensiontest.Answer {
	return s.Ask(method, fmt.Sprintf(`{"parent_request_id":%d,%s}`, s.parent, members))
}

func (s *stage) write(capacity int64) extensiontest.Answer {
	return s.ask(write, fmt.Sprintf(`"profile":"local-file.v1","capacity":%d,"media_type":"text/plain"`, capacity))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *stage) commit(ticket, text string) extensiontest.Answer {
	return s.ask(commit, fmt.Sprintf(`"ticket":"%s","bytes":%d,"digest":{"algorithm":"sha256","value":"%s"}`, ticket, len(text), digest(text)))
}

func (s *stage) read(blob string) extensiontest.Answer {
	return s.ask(read, `"profile":"local-file.v1","blob":`+blob)
}

func (s *stage) release(id string) extensiontest.Answer { return s.ask(release, `"id":"`+id+`"`) }

// put writes and commits an object inside the current call.
func (s *stage) put(text string) (blob string) {
	s.t.Helper()
	var w featurewire.BulkWriteResult
	s.write(int64(len(text))).Decode(s.t, &w)
	s.fill(w.Locator, text)
	a := s.commit(w.Ticket, text)
	a.OK(s.t, "")
	return string(a.Result)
}

func (s *stage) fill(locator, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.transfer, locator), []byte(text), 0o600); err != nil {
		s.t.Error(err)
	}
}

// holds fails the test unless the object can be read, byte for byte.
func (s *stage) holds(blob, text string) {
	s.t.Helper()
	var r featurewire.BulkReadResult
	s.read(blob).Decode(s.t, &r)
	got, err := os.ReadFile(filepath.Join(s.transfer, r.Locator))
	if err != nil || string(got) != text || r.Bytes != int64(len(text)) || filepath.Base(r.Locator) != r.Locator {
		s.t.Errorf("%d bytes %.20q in %q, %v", r.Bytes, got, r.Locator, err)
	}
	s.release(r.Lease).OK(s.t, `{"released":true}`)
	if _, err := os.Lstat(filepath.Join(s.transfer, r.Locator)); !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("the file outlives its lease: %v", err)
	}
}

// EXT04-BULK-003, EXT04-BULK-004, EXT04-BULK-005
func TestBinding_offer(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		want := `"limits":{"blobs_per_owner":256,"object_bytes":268435456,"owner_bytes":536870912,"read_leases_per_generation":32,"write_tickets_per_generation":8},"profile":"local-file.v1","transfer_directory":"` + s.transfer + `"`
		if !strings.Contains(string(s.Offer()), want) || !filepath.IsAbs(s.transfer) {
			t.Errorf("offered %s, want %s", s.Offer(), want)
		}
	})
	if rig := extensiontest.Start(t, extensiontest.Setup{}); strings.Contains(string(rig.Offer()), "bulk") {
		t.Errorf("offered without storage: %s", rig.Offer())
	}
}

// EXT04-BULK-006
func TestRequests_needALiveToolCallOfASession(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		var blob string
		s.call(func() { blob = s.put("x") })
		all := func(code int64) {
			t.Helper()
			s.write(1).Refused(t, code, "")
			s.commit("t", "x").Refused(t, code, "")
			s.read(blob).Refused(t, code, "")
			s.release("t").Refused(t, code, "")
		}
		all(featurewire.CodeNotForegroundOwner) // settled
		s.DuringCommand(extension.Execution{Scope: extension.Scope{Owner: "session-1"}}, func(parent int64) {
			s.parent = parent
			all(featurewire.CodeNotForegroundOwner)
		})
		s.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			s.parent = id
			all(featurewire.CodeNotForegroundOwner)
			r := s.ToolText("x")
			r["structured_content"] = map[string]any{}
			return r, nil
		})
		if _, err := s.X.Call(context.Background(), extension.Request{Tool: "work"}); err != nil { // of no session
			t.Error(err)
		}
		s.call(func() {
			for _, members := range []string{`"capacity":1`, `"profile":"other","capacity":1,"media_type":"a/b"`, `"profile":"local-file.v1","capacity":-1,"media_type":"a/b"`, `"profile":"local-file.v1","capacity":1,"media_type":"a/b","stray":1`} {
				s.ask(write, members).Refused(t, featurewire.CodeInvalidParams, "")
			}
			s.ask(write, `"profile":"local-file.v1","capacity":1,"media_type":"`+strings.Repeat("m", 255)+`"`).OK(t, "")
			s.ask(write, `"profile":"local-file.v1","capacity":1,"media_type":"`+strings.Repeat("m", 256)+`"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			s.ask(commit, `"ticket":"t"`).Refused(t, featurewire.CodeInvalidParams, "")
			s.ask(read, `"profile":"local-file.v1","blob":{}`).Refused(t, featurewire.CodeInvalidParams, "")
			s.ask(release, `"id":7`).Refused(t, featurewire.CodeInvalidParams, "")
			s.commit("t", "x").Refused(t, featurewire.CodeNotForegroundOwner, "")
			s.release("t").Refused(t, featurewire.CodeNotForegroundOwner, "")
		})
	})
}

// EXT04-BULK-007, EXT04-BULK-009, EXT04-BULK-010
func TestObjects_travel(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		var blob string
		s.call(func() {
			var w featurewire.BulkWriteResult
			s.write(10).Decode(t, &w)
			if w.Capacity != 10 || w.Profile != "local-file.v1" || w.Ticket == "" {
				t.Errorf("ticket %+v", w)
			}
			s.fill(w.Locator, "hello")
			a := s.commit(w.Ticket, "hello")
			want := fmt.Sprintf(`"bytes":5,"digest":{"algorithm":"sha256","value":"%s"},"media_type":"text/plain"`, digest("hello"))
			if blob = string(a.Result); !strings.Contains(blob, want) {
				t.Errorf("committed %s, want %s", blob, want)
			}
			s.commit(w.Ticket, "hello").Refused(t, featurewire.CodeNotForegroundOwner, "")
			s.release(w.Ticket).Refused(t, featurewire.CodeNotForegroundOwner, "")
			if left, err := os.ReadDir(s.transfer); err != nil || len(left) != 0 {
				t.Errorf("left in the transfer directory: %v, %v", left, err)
			}
			s.holds(blob, "hello") // its own call may read it already
			s.put("")
			s.write(3).Decode(t, &w)
			s.release(w.Ticket).OK(t, `{"released":true}`)
			s.release(w.Ticket).Refused(t, featurewire.CodeNotForegroundOwner, "")
		})
		s.call(func() {
			s.holds(blob, "hello")
			for _, other := range []string{
				strings.Replace(blob, `"bytes":5`, `"bytes":4`, 1), strings.Replace(blob, "text/plain", "text/html", 1),
				strings.Replace(blob, digest("hello"), digest("other"), 1),
			} {
				s.read(other).Refused(t, featurewire.CodeNotForegroundOwner, "")
			}
		})
		if err := s.during("session-2", func() { s.read(blob).Refused(t, featurewire.CodeNotForegroundOwner, "") }, `{}`); err != nil {
			t.Error(err)
		}
	})
}

// EXT04-BULK-009
func TestPublication_withTheResultOrNotAtAll(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		var foreign string
		if err := s.during("session-2", func() { foreign = s.put("theirs") }, `{}`); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]any{
			"it is an error": nil, "it says it failed": false, "it passes on what is another session's": `{"a":[{"b":` + foreign + `}]}`,
			"it passes on nothing that is": `{"a":` + strings.Replace(foreign, `"bytes":6`, `"bytes":7`, 1) + `}`,
		} {
			var blob string
			err := s.during("session-1", func() { blob = s.put("lost") }, content)
			if _, isText := content.(string); isText && err == nil {
				t.Errorf("%s: the result is admitted", name)
			}
			s.call(func() { s.read(blob).Refused(t, featurewire.CodeNotForegroundOwner, "") })
		}
		if n, used := s.storage.count["session-1"], s.storage.used["session-1"]; n != 0 || used != 0 {
			t.Errorf("%d lost objects of %d bytes count", n, used)
		}
		var blob, content string
		s.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			s.parent = id
			blob = s.put("kept")
			r := s.ToolText("x")
			content = `{"a":` + blob + `}`
			r["structured_content"] = json.RawMessage(content)
			return r, nil
		})
		if _, err := s.X.Call(context.Background(), extension.Request{Tool: "work", Scope: extension.Scope{Owner: "session-1"}}); err != nil {
			t.Error(err)
		}
		if err := s.during("session-1", func() { s.holds(blob, "kept") }, content); err != nil {
			t.Errorf("passed on again: %v", err)
		}
	})
}

// EXT04-BULK-005
func TestLimits(t *testing.T) {
	play(t, featurewire.BulkLimits{ObjectBytes: 10, OwnerBytes: 25, WriteTicketsPerGeneration: 2, ReadLeasesPerGeneration: 2, BlobsPerOwner: 4}, func(s *stage) {
		bounds := func(a extensiontest.Answer) {
			t.Helper()
			a.Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		}
		var blob string
		var w featurewire.BulkWriteResult
		s.call(func() {
			bounds(s.write(11))
			s.write(10).Decode(t, &w)
			s.fill(w.Locator, strings.Repeat("x", 11))
			bounds(s.commit(w.Ticket, strings.Repeat("x", 11)))
			s.write(10).OK(t, "")
			s.write(0).Decode(t, &w)
			bounds(s.write(0)) // a third ticket
			s.release(w.Ticket).OK(t, "")
			blob = s.put("12345")
			s.write(11-1).Decode(t, &w) // 10 + 5 + 10: all of it
			s.release(w.Ticket).OK(t, "")
			s.put("123456")
			bounds(s.write(5)) // 10 + 5 + 6 + 5
			s.put("1234")      // the fourth, with the open ticket
			bounds(s.write(0))
		})
		s.call(func() {
			s.read(blob).OK(t, "")
			var r featurewire.BulkReadResult
			s.read(blob).Decode(t, &r)
			bounds(s.read(blob))
			s.release(r.Lease).OK(t, "")
			s.holds(blob, "12345")
		})
		if err := s.during("session-2", func() { // another owner has room of its own; the open ticket of this process counts
			s.write(10).OK(t, "")
			bounds(s.write(1))
		}, `{}`); err != nil {
			t.Error(err)
		}
	})
}

// EXT04-BULK-008
func TestCommit_followsNothing(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		secret := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		inside := filepath.Join(s.storage.path, storeFolder)
		for name, replace := range map[string]func(path string) error{
			"link":        func(p string) error { return os.Symlink(secret, p) },
			"link inside": func(p string) error { return os.Symlink(inside, p) },
			"directory":   func(p string) error { return os.Mkdir(p, 0o700) },
			"pipe":        func(p string) error { return syscall.Mkfifo(p, 0o600) },
			"nothing":     func(string) error { return nil },
			"longer":      func(p string) error { return os.WriteFile(p, []byte("xx"), 0o600) },
			"shorter":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
			"another":     func(p string) error { return os.WriteFile(p, []byte("y"), 0o600) },
			"unreadable":  func(p string) error { return os.Symlink("/proc/self/mem", p) },
		} {
			s.call(func() {
				var w featurewire.BulkWriteResult
				s.write(5).Decode(t, &w)
				path := filepath.Join(s.transfer, w.Locator)
				if err := errors.Join(os.Remove(path), replace(path)); err != nil {
					t.Fatal(err)
				}
				a := s.commit(w.Ticket, "x")
				a.Refused(t, featurewire.CodeInvalidParams, errChanged.Error())
				s.commit(w.Ticket, "x").Refused(t, featurewire.CodeNotForegroundOwner, "") // it is used up
				if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: still there: %v", name, err)
				}
			})
		}
		if got, err := os.ReadFile(secret); err != nil || string(got) != "x" {
			t.Errorf("the file outside: %q, %v", got, err)
		}
		if n := s.storage.count["session-1"]; n != 0 {
			t.Errorf("%d objects count", n)
		}
	})
}

// What was committed is the host's: the process cannot change it any more.
func TestCommit_takesACopy(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		s.call(func() {
			var w featurewire.BulkWriteResult
			s.write(5).Decode(t, &w)
			file, err := os.OpenFile(filepath.Join(s.transfer, w.Locator), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := file.WriteString("first"); err != nil {
				t.Fatal(err)
			}
			a := s.commit(w.Ticket, "first")
			if _, err := file.WriteAt([]byte("SECOND"), 0); err != nil {
				t.Fatal(err)
			}
			s.holds(string(a.Result), "first")
		})
	})
}

// EXT04-BULK-011
func TestGenerations(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		var blob string
		var w featurewire.BulkWriteResult
		var r featurewire.BulkReadResult
		s.call(func() {
			blob = s.put("stays")
			s.write(100).Decode(t, &w)
		})
		s.call(func() { s.read(blob).Decode(t, &r) })
		old, gone := s.Rig, s.transfer
		s.start("demo", 1)
		s.call(func() {
			s.commit(w.Ticket, "").Refused(t, featurewire.CodeNotForegroundOwner, "")
			s.release(r.Lease).Refused(t, featurewire.CodeNotForegroundOwner, "")
		})
		old.X.Close()
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the transfer directory outlives its process: %v", err)
		}
		if used := s.storage.used["session-1"]; used != int64(len("stays")) {
			t.Errorf("%d bytes count", used)
		}
		s.call(func() { s.holds(blob, "stays") })
		s.start("other", 0)
		s.call(func() { s.holds(blob, "stays") }) // another extension of the session may be handed it
	})
}

func TestRetireOwner(t *testing.T) {
	play(t, featurewire.BulkLimits{}, func(s *stage) {
		var blob, theirs string
		var w featurewire.BulkWriteResult
		var r featurewire.BulkReadResult
		s.call(func() { blob = s.put("mine") })
		if err := s.during("session-2", func() { theirs = s.put("theirs") }, `{}`); err != nil {
			t.Fatal(err)
		}
		s.call(func() {
			s.write(5).Decode(t, &w)
			s.read(blob).Decode(t, &r)
		})
		s.storage.RetireOwner("session-1")
		s.call(func() {
			s.read(blob).Refused(t, featurewire.CodeNotForegroundOwner, "")
			s.release(w.Ticket).Refused(t, featurewire.CodeNotForegroundOwner, "")
			s.release(r.Lease).Refused(t, featurewire.CodeNotForegroundOwner, "")
		})
		if left, err := os.ReadDir(s.transfer); err != nil || len(left) != 0 || s.storage.used["session-1"] != 0 {
			t.Errorf("left: %v, %v, %v", left, err, s.storage.used)
		}
		if err := s.during("session-2", func() { s.holds(theirs, "theirs") }, `{}`); err != nil {
			t.Error(err)
		}
	})
}

// Where no directory can be made to hand objects over in, they are not offered.
//
// EXT04-BULK-003
func TestTerms_withoutADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bulk")
	storage, err := Open(Options{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{storage.Binding()}}})
	if strings.Contains(string(rig.Offer()), "bulk") || !rig.Diagnosed("bulk objects cannot be handed over") {
		t.Errorf("offered %s, diagnosed %q", rig.Offer(), rig.Diagnostics())
	}
	rig.DuringCall(extension.Request{Scope: extension.Scope{Owner: extensiontest.DefaultFront}}, func(parent int64) {
		params := fmt.Sprintf(`{"parent_request_id":%d,"profile":"local-file.v1","capacity":1,"media_type":"text/plain"}`, parent)
		rig.Ask(write, params).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature ")
	})
	rig.X.Close()
	if err := storage.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpen_emptiesTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bulk")
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, storeFolder))
	if err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("behind the end: %v", err)
	}
}

func FuzzRefs(f *testing.F) {
	f.Add(`[{"a":{"$blob":"t","bytes":1,"digest":{"algorithm":"sha256","value":"` + digest("x") + `"},"media_type":"a/b"}}]`)
	f.Fuzz(func(t *testing.T, value string) {
		if found := refs.In(json.RawMessage(value), featurewire.DecodeBlobRefValue); slices.Contains(found, featurewire.BlobRef{}) {
			t.Error("an empty reference")
		}
	})
}
