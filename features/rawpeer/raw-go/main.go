// Command raw-go is an extension of API 0.3 that speaks the wire by hand: one goroutine reads, one owns the state,
// and every call has one of its own. It uses nothing but the standard library.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"unicode"
)

const api = "0.3"

type failure struct {
	code    int
	message string
	data    any
}

var (
	invalidRequest = failure{-32600, "invalid request", nil}
	invalidParams  = failure{-32602, "invalid params", nil}
	exhausted      = failure{-32012, "extension resource exhausted", nil}
	mismatch       = failure{-32011, "extension capability mismatch", nil}
)

func unknown(name string) failure {
	return failure{-32601, "unknown or unnegotiated method", object{"method": name}}
}

type peer struct {
	ready   bool
	frame   int // payload bytes
	most    int // calls at a time
	running map[string]chan struct{}
	done    chan outcome
}

// outcome is how a call ended by itself.
type outcome struct {
	id     any
	result object
}

func main() {
	if version, set := os.LookupEnv("OCTET_EXTENSION_API_VERSION"); set && version != api {
		fmt.Fprintln(os.Stderr, "this extension speaks API", api)
		os.Exit(64)
	}
	p := &peer{frame: 1 << 20, running: map[string]chan struct{}{}, done: make(chan outcome)}
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		in := bufio.NewReaderSize(os.Stdin, 1<<16)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- bytes.TrimSuffix(line, []byte("\n"))
		}
	}()
	for {
		select {
		case line, open := <-lines:
			if !open {
				os.Exit(0)
			}
			p.take(line)
		case o := <-p.done:
			if p.running[key(o.id)] != nil {
				delete(p.running, key(o.id))
				p.answer(o.id, o.result)
			}
		}
	}
}

func key(id any) string { return string(write(nil, id)) }

func lost(why string) {
	fmt.Fprintln(os.Stderr, "the stream cannot be read:", why)
	os.Exit(1)
}

func (p *peer) say(m object) bool {
	m["jsonrpc"] = "2.0"
	payload := write(nil, m)
	if len(payload) > p.frame {
		return false
	}
	if _, err := os.Stdout.Write(append(payload, '\n')); err != nil {
		os.Exit(1)
	}
	return true
}

func (p *peer) answer(id any, result object) {
	if !p.say(object{"id": id, "result": result}) {
		p.refuse(id, exhausted)
	}
}

func (p *peer) refuse(id any, f failure) {
	e := object{"code": f.code, "message": f.message}
	if f.data != nil {
		e["data"] = f.data
	}
	p.say(object{"error": e, "id": id})
}

func (p *peer) take(line []byte) {
	if len(line) > p.frame {
		lost("a frame over the bound")
	}
	v, err := read(line)
	if err != nil {
		lost(err.Error())
	}
	m, is := v.(object)
	if !is {
		return
	}
	id, hasID := m["id"]
	if hasID && !legal(id) {
		return
	}
	_, hasMethod := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	if !hasMethod && hasID && hasResult != hasError && len(m) == 3 {
		lost("an answer to nothing that was asked")
	}
	if !sound(m) || hasID == notice(m["method"]) {
		if hasID {
			p.refuse(id, invalidRequest)
		}
		return
	}
	p.serve(id, hasID, m["method"].(string), m["params"])
}

func legal(id any) bool {
	if s, is := id.(string); is {
		return len(s) >= 1 && len(s) <= 256
	}
	n, is := whole(id)
	return is && n >= 0
}

// sound reports whether a message has the members of a request or notification, and no other.
func sound(m object) bool {
	for name := range m {
		if name != "id" && name != "jsonrpc" && name != "method" && name != "params" {
			return false
		}
	}
	method, is := m["method"].(string)
	return is && method != "" && len(method) <= 128 && m["jsonrpc"] == "2.0" && m["params"] != nil
}

// notice reports whether a method is sent without an id. Of one that nobody knows, the id decides.
func notice(method any) bool { return method == "$/cancelRequest" }

func (p *peer) serve(id any, hasID bool, method string, params any) {
	if !hasID {
		if method == "$/cancelRequest" {
			p.cancel(params)
		}
		return
	}
	switch {
	case p.running[key(id)] != nil:
		p.refuse(id, invalidRequest)
	case method == "initialize" && p.ready:
		p.refuse(id, invalidRequest)
		os.Exit(1)
	case method == "initialize":
		p.start(id, params)
	case !p.ready:
		p.refuse(id, unknown(method))
		os.Exit(1)
	case method == "tool/call":
		p.call(id, params)
	case method == "shutdown":
		if len(keysOf(params)) > 0 || !isObject(params) {
			p.refuse(id, invalidParams)
			return
		}
		for spelled := range p.running {
			given, _ := read([]byte(spelled))
			p.stop(given, nil)
		}
		p.answer(id, object{"terminal": "shutdown"})
		os.Exit(0)
	default:
		p.refuse(id, unknown(method))
	}
}

func (p *peer) cancel(params any) {
	m, _ := params.(object)
	reason, given := m["reason"]
	text, is := reason.(string)
	if m["id"] == nil || !legal(m["id"]) || given && (!is || len(text) > 4096) || len(m) > 2 || len(m) == 2 && !given {
		return
	}
	p.stop(m["id"], reason)
}

// stop answers a call as cancelled.
func (p *peer) stop(id, reason any) {
	stop := p.running[key(id)]
	if stop == nil {
		return
	}
	close(stop)
	delete(p.running, key(id))
	data := object{"terminal": "cancelled"}
	if reason != nil {
		data["reason"] = reason
	}
	p.refuse(id, failure{-32800, "request cancelled", data})
}

func (p *peer) call(id, params any) {
	m, is := params.(object)
	name, named := m["name"].(string)
	switch {
	case !is || !named || len(m) != 3 || !isObject(m["arguments"]) || !isObject(m["context"]):
		p.refuse(id, invalidParams)
		return
	case len(name) > 128, len(p.running) >= p.most:
		p.refuse(id, exhausted)
		return
	}
	given := m["arguments"].(object)
	work := map[string]func(object, <-chan struct{}) object{"letters": letters, "idle": idle, "repeat": repeat}[name]
	if work == nil {
		p.refuse(id, unknown(name))
		return
	}
	stop := make(chan struct{})
	p.running[key(id)] = stop
	go func() {
		result := work(given, stop)
		select {
		case p.done <- outcome{id, result}:
		case <-stop:
		}
	}()
}

func said(text string, failed bool) object {
	return object{"content": []any{object{"text": text, "type": "text"}}, "is_error": failed, "metadata": nil}
}

func letters(given object, _ <-chan struct{}) object {
	text, is := given["text"].(string)
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	if !is || text == "" || len(given) > 1 {
		return said("give a text", true)
	}
	r := said(fmt.Sprintf("%d letters", n), false)
	r["structured_content"] = object{"letters": n}
	return r
}

func idle(_ object, stop <-chan struct{}) object {
	<-stop
	return said("stopped", false)
}

func repeat(given object, _ <-chan struct{}) object {
	n, is := whole(given["times"])
	if !is || n < 0 || n > 1<<20 {
		return said("give a number of times", true)
	}
	return said(strings.Repeat("x", n), false)
}
