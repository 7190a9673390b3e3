package oupclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/oupwire"
)

// write sends one frame.
func (c *client) write(frame object) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(frame); err != nil {
		return err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if c.does("breaks its frames into lines") {
		text = bytes.Replace(text, []byte(","), []byte(",\r"), 1)
	}
	if err := c.line.send(text); err != nil {
		return errGone
	}
	return nil
}

// call sends a request and takes frames until it is answered.
func (c *client) call(method string, params object) (object, error) {
	id := c.newID()
	frame := object{"jsonrpc": jsonrpc, "id": id, "method": method, "params": params}
	switch {
	case c.does("numbers its requests"):
		frame["id"] = c.ids
	case c.does("leaves jsonrpc out"):
		delete(frame, "jsonrpc")
	case c.does("leaves params out") && method == oupwire.MethodClientHello:
		delete(frame, "params")
	}
	if c.does("answers its server") && method == oupwire.MethodTurnStart {
		_ = c.write(object{"jsonrpc": jsonrpc, "id": "mine", "result": object{}})
	}
	if err := c.write(frame); err != nil {
		return nil, err
	}
	for {
		answer, err := c.next(id)
		if err != nil || answer == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if fault, is := answer["error"].(object); is {
			code, _ := number(fault["code"])
			data, _ := fault["data"].(object)
			text, _ := fault["message"].(string)
			return nil, &refusal{code: code, data: data, text: text}
		}
		result, _ := answer["result"].(object)
		return result, nil
	}
}

// take takes one frame.
func (c *client) take(id string) error {
	_, err := c.next(id)
	return err
}

// next takes one frame and returns it where it is the answer that is waited for.
func (c *client) next(id string) (object, error) {
	text, err := c.line.read()
	if err != nil {
		return nil, errGone
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var root object
	if err := dec.Decode(&root); err != nil {
		return nil, err
	}
	if _, is := root["additional"]; is && c.does("refuses members it does not know") {
		return nil, errors.New("additional is unknown")
	}
	method, isEvent := root["method"].(string)
	if !isEvent {
		switch {
		case root["id"] == id && id != "":
			return root, nil
		case root["id"] == nil && root["error"] != nil:
			return nil, fmt.Errorf("a frame was refused: %s", text)
		case root["id"] == "nobody-asked" && c.does("ends at an answer it did not ask for"):
			return nil, errors.New("an answer that nobody asked for")
		}
		if fault, is := root["error"].(object); is && c.does("ends at an error of no form") {
			if _, is := fault["code"].(json.Number); !is {
				return nil, errors.New("an error without a code")
			}
		}
		return nil, nil
	}
	if _, asks := root["id"]; asks {
		if c.does("ends at a request") {
			return nil, errors.New("a request of the server")
		}
		return nil, nil
	}
	params, _ := root["params"].(object)
	return nil, c.event(method, params)
}

// event takes what a server tells.
func (c *client) event(method string, params object) error {
	if row := oupwire.LookupNotification(method); row == nil {
		if c.does("ends at an unknown notification") {
			return errors.New("an unknown notification " + method)
		}
		return nil
	}
	if params["kind"] != nil && method != oupwire.MethodSessionEvent && c.does("ends at a kind beside an event") {
		return errors.New("kind is unknown")
	}
	if cursor := params["cursor"]; cursor != nil {
		before, _ := number(child(c.cursor)["seq"])
		now, _ := number(child(cursor)["seq"])
		if now > before || c.lossy != nil {
			c.cursor = cursor
		}
	} else if c.does("counts events for its cursor") && c.cursor != nil {
		seq, _ := number(child(c.cursor)["seq"])
		c.cursor = object{"stream": c.key, "seq": json.Number(fmt.Sprint(seq + 1))}
	}
	switch method {
	case oupwire.MethodSessionOpen:
		c.opened = true
	case oupwire.MethodApprovalRequested:
		if id := fmt.Sprint(params["approval_id"]); !c.answered[id] {
			c.answered[id] = true
			c.asked = append(c.asked, params)
		}
	case oupwire.MethodUserQuestionRequested:
		if id := fmt.Sprint(params["question_id"]); !c.answered[id] {
			c.answered[id] = true
			c.asked = append(c.asked, params)
		}
	case oupwire.MethodProtocolReplayLossy:
		c.lossy = params["last_durable_cursor"]
	case oupwire.MethodProgressUpdated:
		if kind := child(params["metadata"])["kind"]; kind == "dancing" && c.does("ends at a new word") {
			return errors.New("the kind dancing is unknown")
		}
	case oupwire.MethodSessionEvent:
		if c.does("ends at a session event it does not know") {
			return errors.New("the session event is unknown")
		}
	case oupwire.MethodProjectionEnvelope:
		c.envelope(params)
	}
	return nil
}

func child(v any) object {
	o, _ := v.(object)
	return o
}

// envelope takes one piece of the turn.
func (c *client) envelope(params object) {
	if params["turn_id"] != c.turn || c.over {
		return
	}
	seq, _ := number(params["seq"])
	if c.seen[seq] && !c.does("takes a repetition for news") {
		return
	}
	if seq > c.number+1 && c.number > 0 && !c.does("goes on behind a gap") {
		c.gap = true
		c.cursor = c.before
		return
	}
	c.seen[seq] = true
	c.number = max(c.number, seq)
	c.before = params["cursor"]
	payload := child(params["payload"])
	data := child(payload["data"])
	segment, _ := data["assistant_segment_id"].(string)
	text, _ := data["text"].(string)
	if c.outcome != "" && !c.does("listens behind the end") && payload["type"] != "turn_terminal" {
		return
	}
	switch payload["type"] {
	case "assistant_delta":
		if c.does("puts all pieces together") {
			segment = "all"
		}
		c.set(segment, c.texts[segment]+text)
	case "assistant_persisted":
		switch {
		case c.does("keeps its pieces") && c.texts[segment] != "":
		case c.does("puts all pieces together") && slices.Contains(c.segments, "all"):
		case c.does("replaces everything it has"):
			c.segments = nil
			c.set(segment, text)
		default:
			c.set(segment, text)
		}
		if c.does("ends with the first text") {
			c.outcome, c.over = "completed", true
		}
	case "turn_terminal":
		if c.outcome == "" || c.does("takes the last end") {
			c.outcome, _ = data["outcome"].(string)
		}
		c.over = true
	}
}
