package faultypeer

import (
	"encoding/json"
	"strconv"

	"github.com/octet-dev/octet/generated/featurewire"
)

// checking changes the checkpoints of a peer.
func checking(f func(params, checkpoint obj)) quirk {
	return asking(featurewire.MethodComposerSet, func(params obj) {
		if c, ok := params["editor_checkpoint"].(obj); ok {
			f(params, c)
		}
	})
}

var featureSessionFaults = []Fault{
	using(middle, "EXT04-COMPOSER-001", "colours-the-composer", "colours the text of the composer", setting(featurewire.MethodComposerSet, "text", "\x1b[1mhello\x1b[0m")),
	using(current, "EXT04-COMPOSER-001", "halves-a-character", "writes half a surrogate pair into the composer", quirk{
		frame: respell(featurewire.MethodComposerInsert, "é", `\ud83d`),
	}),
	using(current, "EXT04-COMPOSER-001", "fills-the-composer", "writes more than the bound into the composer", setting(featurewire.MethodComposerInsert, "text", long(featurewire.MaxComposerTextBytes))),
	using(current, "EXT04-COMPOSER-002", "checkpoint-without-owner", "makes a checkpoint without an owner", checking(func(params, _ obj) { delete(params, "resource_owner") })),
	using(current, "EXT04-COMPOSER-002", "checkpoint-of-its-own", "adds a member of its own to a checkpoint", checking(func(_, c obj) { c["text"] = "a draft" })),
	using(current, "EXT04-COMPOSER-003", "checkpoint-stands", "makes every checkpoint under one revision", checking(func(_, c obj) { c["checkpoint_revision"] = 1 })),
	using(current, "EXT04-COMPOSER-003", "checkpoint-ahead", "has seen input that was not sent", checking(func(_, c obj) { c["input_revision"] = 5 })),
	using(middle, "EXT04-COMPOSER-004", "endless-history", "has more history than the bound", asking(featurewire.MethodComposerHistory, func(params obj) {
		entries := []any{}
		for i := range featurewire.MaxComposerHistoryEntries + 1 {
			entries = append(entries, strconv.Itoa(i))
		}
		params["entries"] = entries
	})),
	using(current, "EXT04-COMPOSER-004", "large-history", "has a larger history than the bound", setting(featurewire.MethodComposerHistory, "entries",
		list(long(featurewire.MaxComposerHistoryBytes/2), long(featurewire.MaxComposerHistoryBytes/2)))),

	using(middle, "EXT04-SHORTCUT-001", "registers-shortcut-late", "registers a shortcut behind its answer to initialize", moment("initialized", func(p *peer) {
		p.ask("x-1", featurewire.MethodShortcutRegister, obj{"parent_request_id": 1, "id": "peer:late", "key": "ctrl+l", "description": "Late"})
	})),
	using(current, "EXT04-SHORTCUT-001", "shortcut-of-nothing", "registers a shortcut on behalf of nothing", leaving(featurewire.MethodShortcutRegister, "parent_request_id")),
	using(middle, "EXT04-SHORTCUT-002", "nameless-key", "registers a shortcut without a key", leaving(featurewire.MethodShortcutRegister, "key")),
	using(current, "EXT04-SHORTCUT-002", "registers-shortcut-twice", "registers a shortcut twice", moment("initialize", func(p *peer) {
		p.ask("x-1", featurewire.MethodShortcutRegister, obj{"parent_request_id": 1, "id": "peer:greet", "key": "ctrl+g", "description": "Greet"})
	})),

	using(middle, "EXT04-ENTRY-001", "large-entry", "keeps more in an entry than the bound", setting(featurewire.MethodSessionAppendEntry, "data", long(featurewire.MaxEntryDataBytes))),
	using(current, "EXT04-ENTRY-001", "null-name", "writes null for no name", setting(featurewire.MethodSessionSetName, "name", nil)),
	using(middle, "EXT04-INJECT-001", "speaks-as-user", "speaks in the role of the person", setting(featurewire.MethodSessionSendMessage, "role", "user")),
	using(current, "EXT04-INJECT-001", "message-in-parts", "writes the text of a message in parts", setting(featurewire.MethodSessionSendUserMessage, "text", list("Go", "on."))),
	using(middle, "EXT04-ACTIVE-001", "uses-definitions", "names the tools in use by their definitions", setting(featurewire.MethodToolsSetActive, "names", []any{extra()})),
	using(current, "EXT04-ACTIVE-001", "uses-long-name", "names a tool by more than the bound", setting(featurewire.MethodToolsSetActive, "names", list(long(featurewire.MaxToolNameBytes)))),

	using(middle, "EXT04-TERM-001", "acquires-twice", "acquires the terminal twice", onTour(func(p *peer) {
		for i := range 2 {
			p.ask("x-"+strconv.Itoa(i), featurewire.MethodTerminalAcquire, obj{"parent_request_id": json.RawMessage(p.last)})
		}
	})),
	using(current, "EXT04-TERM-001", "releases-unacquired", "releases the terminal that it does not have", askOnTour(featurewire.MethodTerminalRelease, nothing)),
	using(middle, "EXT04-COMPLETE-001", "completes-by-name", "names its completions by a word", setting(featurewire.MethodUIAutocompleteRegister, "revision", "first")),

	using(current, "EXT04-SESSION-001", "creates-by-name", "names the session that it creates", setting(featurewire.MethodSessionCreate, "session_id", "mine")),
	using(current, "EXT04-SESSION-001", "switches-nowhere", "switches to no session", leaving(featurewire.MethodSessionSwitch, "session_id")),
	using(current, "EXT04-SESSION-001", "forks-with-title", "adds a member of its own to a fork", setting(featurewire.MethodSessionFork, "title", "Fork")),
	using(current, "EXT04-COMPACT-001", "instructs-in-colour", "instructs with control characters", setting(featurewire.MethodSessionCompact, "custom_instructions", "\x1b[1mKeep\x1b[0m")),
	using(current, "EXT04-COMPACT-001", "compacts-with-model", "adds a member of its own to a compaction", setting(featurewire.MethodSessionCompact, "model", "conform-model")),
	using(current, "EXT04-COMPACT-002", "compacts-too-early", "compacts before it has answered", askOnTour(featurewire.MethodSessionCompact, func(p *peer) obj { return obj{"resource_owner": p.owner} })),

	using(current, "EXT04-UI-001", "surface-with-slash", "names a surface by a path", setting(featurewire.MethodUIOpen, "surface_id", "peer/stop")),
	using(current, "EXT04-UI-001", "mouse-everywhere", "captures the mouse on any surface", setting(featurewire.MethodUIOpen, "mouse_capture", true)),
	using(current, "EXT04-UI-002", "moves-the-cursor", "moves the cursor", setting(featurewire.MethodUIFrame, "lines", list("\x1b[2Jclean"))),
	using(current, "EXT04-UI-002", "frame-of-nothing", "draws on no columns", setting(featurewire.MethodUIFrame, "columns", 0)),
	using(current, "EXT04-UI-002", "large-frame", "draws more than the bound", asking(featurewire.MethodUIFrame, func(params obj) {
		lines := []any{}
		for range 1 + featurewire.MaxUIFrameBytes/featurewire.MaxUILineBytes {
			lines = append(lines, long(featurewire.MaxUILineBytes-1))
		}
		params["lines"] = lines
	})),
	using(current, "EXT04-UI-003", "frame-stands", "draws every frame under one revision", setting(featurewire.MethodUIFrame, "revision", 3)),
	using(current, "EXT04-UI-003", "draws-unopened", "draws a surface that it has not opened", setting(featurewire.MethodUIFrame, "surface_id", "other")),
	using(current, "EXT04-UI-004", "closes-unopened", "closes a surface that it has not opened", setting(featurewire.MethodUIClose, "surface_id", "other")),
	using(current, "EXT04-UI-005", "title-with-semicolon", "notifies under a title with a semicolon", notifying(func(chrome obj) { chrome["title"] = "Tour; stop" })),
	using(current, "EXT04-UI-005", "chrome-without-owner", "notifies on behalf of nobody", leaving(featurewire.MethodUIChrome, "resource_owner")),
	using(current, "EXT04-UI-005", "chrome-of-its-own", "asks for chrome of its own", notifying(func(chrome obj) { chrome["kind"] = "badge" })),
}

// notifying changes the notifications of the desktop.
func notifying(f func(chrome obj)) quirk {
	return asking(featurewire.MethodUIChrome, func(params obj) { f(params["chrome"].(obj)) })
}
