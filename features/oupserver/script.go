package oupserver

import (
	"errors"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// part is what the model does about one word of an input; what it returns is why the turn fails.
type part struct {
	word string
	play func(*turn) object
}

// script is what the model does. An input without any of the words is answered with a text.
func script() []part {
	ok := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	return []part{
		{"PLAY tool", func(t *turn) object {
			t.tool("look", `{"path":"notes"}`, nil, ok("three lines"))
			t.steered()
			t.say("Three lines.")
			return nil
		}},
		{"PLAY broken tool", func(t *turn) object {
			t.tool("look", strings.Repeat("a", 2*oupwire.MaxArgumentsPreviewCharacters), nil, func() (string, error) {
				return strings.Repeat("e", 2*oupwire.MaxToolErrorCharacters), errors.New("failed")
			})
			t.tool("look", "{}", nil, ok(strings.Repeat("o", 2*oupwire.MaxOutputPreviewCharacters)))
			t.say("It failed.")
			return nil
		}},
		{"PLAY approval", func(t *turn) object {
			t.guarded("command")
			t.steered()
			t.say("Done.")
			return nil
		}},
		{"PLAY two approvals", func(t *turn) object {
			t.guarded("command")
			t.guarded("command")
			t.steered()
			t.say("Done twice.")
			return nil
		}},
		{"PLAY question", func(t *turn) object {
			header := "A long head of a question"
			if !t.ses.s.does("asks with a long head") {
				header = header[:oupwire.MaxQuestionHeaderCharacters]
			}
			options := []any{object{"label": "red", "description": "a colour"}, object{"label": "blue", "description": "another"}}
			if t.ses.s.does("offers one answer") {
				options = options[:1]
			}
			free := !t.ses.s.does("allows no free text")
			t.ask([]any{object{"header": header, "question": "Which colour?", "options": options, "multi_select": false, "allow_free_text": free}})
			t.say("Thank you.")
			return nil
		}},
		{"PLAY two questions", func(t *turn) object {
			options := []any{object{"label": "red", "description": "a colour"}, object{"label": "blue", "description": "another"}}
			ask := func(text string) object {
				return object{"header": "Colour", "question": text, "options": options, "multi_select": false, "allow_free_text": true}
			}
			t.ask([]any{ask("Which colour?"), ask("And which then?")})
			t.say("Thank you twice.")
			return nil
		}},
		{"PLAY long", func(t *turn) object {
			t.envelope("assistant_delta", object{"text": "I think ", "assistant_segment_id": t.id + ":assistant:1"})
			t.await(func() bool { return false })
			return nil
		}},
		{"PLAY failure", func(t *turn) object {
			failure := object{"code": "runtime_error", "message": "the model failed"}
			if t.ses.s.does("tells secrets of failures") {
				failure["message"] = "the model failed with " + Token
			}
			return failure
		}},
		{"PLAY plan", func(t *turn) object {
			plan := object{"items": []any{object{"id": "1", "title": "Look", "status": "in_progress"}}, "updated_at_ms": 1}
			params := object{"session_id": t.ses.key, "turn_id": t.id, "plan": plan}
			t.ses.plan = params
			if t.ses.s.does("stores plans") {
				t.ses.tell(oupwire.MethodPlanUpdated, params)
			} else {
				t.ses.tellNow(oupwire.MethodPlanUpdated, params)
			}
			t.say("Planned.")
			return nil
		}},
		{"PLAY progress", func(t *turn) object {
			t.ses.tell(oupwire.MethodProgressUpdated, object{"turn_id": t.id, "metadata": object{"kind": "status", "message": "at work"}})
			t.say("Ready.")
			return nil
		}},
		{"PLAY large", func(t *turn) object {
			t.say(strings.Repeat("x", oupwire.MaxFrameTextBytes+1000))
			return nil
		}},
		{"PLAY task", func(t *turn) object {
			t.startTask(false)
			return nil
		}},
		{"PLAY endless task", func(t *turn) object {
			t.startTask(true)
			return nil
		}},
		{"PLAY activity", func(t *turn) object {
			t.activities(1, strings.Repeat("x", 2*oupwire.MaxBackgroundTextBytes))
			return nil
		}},
		{"PLAY much activity", func(t *turn) object {
			t.activities(oupwire.MaxBackgroundRows+10, "A bell.")
			return nil
		}},
		{"PLAY change", func(t *turn) object {
			t.change()
			t.say("Changed.")
			return nil
		}},
	}
}

// guarded runs a tool that needs a decision.
func (t *turn) guarded(kind string) {
	details := object{"kind": kind, "command": object{"argv": []any{"touch", "made"}, "command_line": "touch made"}}
	t.tool("run", `{"command":"touch made"}`, &details, func() (string, error) { return "made", nil })
}

// change changes a file, keeps what is needed to show it, and takes a snapshot before.
func (t *turn) change() {
	s, ses := t.ses.s, t.ses
	id := s.newID()
	path := "notes.txt"
	if s.does("leads out of the workspace") {
		path = "../notes.txt"
	}
	content := "a line"
	if s.does("shows changes uncut") {
		content = strings.Repeat("c", oupwire.MaxDiffTextBytes+1)
	}
	ses.previews = append(ses.previews, object{
		"session_id": ses.key, "preview_id": id, "title": "notes.txt",
		"files": []any{object{"path": path, "status": "added", "hunks": []any{object{"header": "@@ -0,0 +1 @@", "lines": []any{object{"kind": "added", "content": content, "new_line": 1}}}}}},
	})
	t.tool("write", `{"path":"notes.txt"}`, nil, func() (string, error) { return "written", nil })
	ses.tell(oupwire.MethodProgressUpdated, object{"turn_id": t.id, "metadata": object{
		"kind": "file_mutation", "file_mutation": object{"path": path, "operation": "create", "preview_id": id},
	}})
}
