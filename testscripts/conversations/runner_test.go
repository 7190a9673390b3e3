package conversations

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// rehearsal is a talk with every word of the language, so that the runner is proved whatever talks there are.
const rehearsal = `
api 0.2 0.4
offer composer request_progress lifecycle_events
flags [{"name":"fast","value":true}]
start
ready
quiet
call 2 print {"text":"x"}
says 2 "printed"
for i 3..4: call «i» use {"service":"composer.get"}
<| {"id":"«first»","method":"composer/get","params":{"parent_request_id":3}}
<| {"id":"«second»","method":"composer/get","params":{"parent_request_id":4}}
> {"id":"«second»","result":{"text":"two"}}
says 4 {"text":"two"}
<? {"method":"$/cancelRequest","params":{"id":"«first»","reason":"«?»"}}
>! {"id":"«first»","result":{"text":2}}
fails 3 "«why»"
>! {"id":5,"method":"tool/call","params":{"name":7}}
< {"id":5,"error":{"code":-32602,"message":"«*»","data":"«?»"}}
> {"method":"turn/started","params":{"session_id":"s1","run_id":"r","turn_id":"t"}}
file note {"a":1}
removed note
seen [["turn/started",{"session_id":"s1","run_id":"r","turn_id":"t"}]]
raw "{\"jsonrpc\":\"2.0\",\"id\":6,"
raw "\"method\":\"no/such\",\"params\":{}}\n"
< {"id":6,"error":{"code":-32601,"message":"«*»","data":"«?»"}}
`

// rehearsals are the talk above with each of its endings, and all talks there are.
func rehearsals(t *testing.T) []*talk {
	t.Helper()
	talks, err := readTalks(*pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"shutdown", "eof", "gone"} {
		tk, err := parseTalk("rehearsal_"+end, []byte(rehearsal+end))
		if err != nil {
			t.Fatal(err)
		}
		talks = append(talks, tk)
	}
	return talks
}

// TestRunner_acceptsWhatATalkSays holds every talk with an extension that answers word for word. It judges the
// talks as well: their frames follow the models of the wire, and every name has a value where it is used.
func TestRunner_acceptsWhatATalkSays(t *testing.T) {
	for _, tk := range rehearsals(t) {
		for _, api := range tk.apis {
			t.Run(tk.name+"/"+api, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := play(tk, api, none, -1)
					if said, err := hold(tk, api, a); err != nil {
						t.Errorf("%v\n%s", err, said)
					}
					if err := a.Wait(); err != nil && !strings.Contains(err.Error(), "closed pipe") {
						t.Error(err)
					}
				})
			})
		}
	}
}

// TestRunner_refusesEveryFault holds every talk with extensions that go wrong at one frame, each frame in turn.
func TestRunner_refusesEveryFault(t *testing.T) {
	for _, tk := range rehearsals(t) {
		api := tk.apis[0]
		t.Run(tk.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				frames := framesOf(t, tk, api)
				for at := 0; at < frames; at += 1 + frames/8 {
					for _, f := range []fault{wrongValue, missing, extra, earlyExit, hang} {
						if _, err := hold(tk, api, play(tk, api, f, at)); err == nil {
							t.Errorf("%s at frame %d of %d went unnoticed", f, at+1, frames)
						}
					}
				}
				for _, f := range []fault{extra, hang} { // behind the last frame
					if _, err := hold(tk, api, play(tk, api, f, frames)); err == nil {
						t.Errorf("%s behind the last frame went unnoticed", f)
					}
				}
			})
		})
	}
}

// TestRunner_refusesAFileThatStays holds the talks that hand files over with an extension that leaves them.
func TestRunner_refusesAFileThatStays(t *testing.T) {
	for _, tk := range rehearsals(t) {
		if !slices.ContainsFunc(tk.lines, func(l line) bool { return l.action == removed }) {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			if _, err := hold(tk, tk.apis[0], play(tk, tk.apis[0], litter, -1)); err == nil || !strings.Contains(err.Error(), "want it removed") {
				t.Errorf("%s: a file that stays gave %v", tk.name, err)
			}
		})
	}
}

// framesOf counts the frames that an actor writes.
func framesOf(t *testing.T, tk *talk, api string) int {
	t.Helper()
	a := play(tk, api, none, -1)
	if _, err := hold(tk, api, a); err != nil {
		t.Fatal(err)
	}
	<-a.ended
	return a.wrote
}
