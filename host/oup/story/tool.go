package story

import (
	"cmp"
	"fmt"
	"mime"
	"path"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/tool"
)

// started tells that a call begins.
//
// Rules: OUP-STREAM-007, OUP-STREAM-012.
func (t *Teller) started(call, name, arguments string) ledger.Event {
	t.calls[call] = true
	data := oupwire.ToolStartData{ToolCallID: call, Name: name}
	if arguments != "" {
		data.ArgumentsPreview = wirejson.Some(Cut(arguments, oupwire.MaxArgumentsPreviewCharacters))
	}
	return t.within(oupwire.ToolStartPayload{Data: data})
}

// progressed tells how far a call is.
func (t *Teller) progressed(e agent.ToolProgress) []ledger.Event {
	text := cmp.Or(e.Message, e.Data, strings.TrimSpace(e.Label+" "+e.Detail))
	if e.Current != nil {
		count := fmt.Sprint(*e.Current)
		if e.Total != nil {
			count += fmt.Sprintf("/%d", *e.Total)
		}
		text = strings.TrimSpace(text + " " + strings.TrimSpace(count+" "+e.Unit))
	}
	if text == "" || !t.calls[e.CallID] {
		return nil
	}
	return []ledger.Event{t.within(oupwire.ToolProgressPayload{Data: oupwire.ToolProgressData{
		ToolCallID: e.CallID, Message: Cut(text, oupwire.MaxOutputPreviewCharacters),
	}})}
}

// statuses are the ways in which a call ends, as they are told.
//
// Rule: OUP-STREAM-013.
var statuses = map[agent.ToolStatus]oupwire.ToolEndStatus{
	agent.ToolCompleted: oupwire.ToolEndStatusComplete,
	agent.ToolFailed:    oupwire.ToolEndStatusError,
	agent.ToolDenied:    oupwire.ToolEndStatusSkipped,
	agent.ToolCancelled: oupwire.ToolEndStatusAborted,
}

// finished tells that a call ended, and what it has changed. One that never started starts and ends at once.
func (t *Teller) finished(e agent.ToolFinished) []ledger.Event {
	var list []ledger.Event
	if !t.calls[e.CallID] {
		list = append(list, t.started(e.CallID, e.Name, ""))
	}
	delete(t.calls, e.CallID)
	for _, change := range e.Changes {
		list = append(list, t.changed(e.CallID, change)...)
	}
	output := conversation.Message{Parts: e.Result.Content}.PlainText()
	data := oupwire.ToolEndData{
		ToolCallID: e.CallID, Status: cmp.Or(statuses[e.Status], oupwire.ToolEndStatusError), DurationMs: wirejson.Some(max(e.Millis, 0)),
	}
	switch {
	case e.Status == agent.ToolCompleted:
		data.OutputPreview = wirejson.Some(Cut(output, oupwire.MaxOutputPreviewCharacters))
	case e.Status == agent.ToolFailed:
		data.Error = wirejson.Some(Cut(output, oupwire.MaxToolErrorCharacters))
	default:
		data.Reason = wirejson.Some(Cut(output, oupwire.MaxToolErrorCharacters))
	}
	return append(list, t.within(oupwire.ToolEndPayload{Data: data}))
}

var operations = map[tool.ChangeKind]oupwire.FileOperation{
	tool.Created: oupwire.FileOperationCreate, tool.Changed: oupwire.FileOperationModify, tool.Deleted: oupwire.FileOperationDelete,
}

// changed tells what a call has done to a file. One that it made is told as a file of the turn too.
//
// Rule: OUP-STREAM-017.
func (t *Teller) changed(call string, change tool.Change) []ledger.Event {
	mutation := oupwire.FileMutation{
		Path: change.Path, Operation: wirejson.Some(cmp.Or(operations[change.Kind], oupwire.FileOperationModify)), ToolCallID: wirejson.Some(call),
	}
	size := int64(0)
	if t.world.Size != nil && change.Kind != tool.Deleted {
		size = max(t.world.Size(change.Path), 0)
		mutation.BytesWritten = wirejson.Some(size)
	}
	if t.world.Preview != nil {
		if id := t.world.Preview(call, change); id != "" {
			mutation.PreviewID = wirejson.Some(id)
		}
	}
	list := []ledger.Event{t.progress(oupwire.ProgressMetadata{Kind: oupwire.ProgressKindFileMutation, FileMutation: wirejson.Some(mutation)})}
	if change.Kind == tool.Created {
		list = append(list, t.within(oupwire.FileAttachedPayload{Data: oupwire.FileAttachedData{
			Path: change.Path, Mime: MediaType(change.Path), SizeBytes: size,
			AttachmentOwner: oupwire.AttachmentOwner{ToolCallID: wirejson.Some(call)},
		}}))
	}
	return list
}

// MediaType is the type of a file by its name.
func MediaType(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	return cmp.Or(kind, "application/octet-stream")
}

// progress makes an event of news that are no part of the stream.
func (t *Teller) progress(metadata oupwire.ProgressMetadata) ledger.Event {
	return event.Of(t.session, oupwire.MethodProgressUpdated, oupwire.ProgressUpdatedEvent{
		SessionID: t.session, Topic: event.Topic(t.session), TurnID: wirejson.Some(t.turn), Metadata: metadata,
	}, ledger.Subject{}, ledger.Within)
}
