package edit

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// key is one thing that was typed: a character, or one of the names below.
type key struct {
	name name
	text string // of insert and paste
}

type name int

const (
	insert name = iota
	paste
	enter
	interrupt
	endOfFile // Ctrl-D
	gone      // the input has ended
	left
	right
	home
	end
	wordLeft
	wordRight
	up
	down
	backspace
	deleteKey
	killEnd
	killStart
	killWord
	tab
	clearScreen
	search
	escape
	chord // a key for others; its text is its name
	ignored
)

var controls = map[byte]name{
	0x01: home, 0x02: left, 0x03: interrupt, 0x04: endOfFile, 0x05: end, 0x06: right, 0x08: backspace, 0x09: tab, 0x0a: enter,
	0x0b: killEnd, 0x0c: clearScreen, 0x0d: enter, 0x0e: down, 0x10: up, 0x12: search, 0x15: killStart, 0x17: killWord, 0x7f: backspace,
}

// sequences are what terminals send behind an escape.
var sequences = map[string]name{
	"[A": up, "[B": down, "[C": right, "[D": left, "[H": home, "[F": end, "OA": up, "OB": down, "OC": right, "OD": left,
	"OH": home, "OF": end, "[1~": home, "[3~": deleteKey, "[4~": end, "[7~": home, "[8~": end,
	"[1;5C": wordRight, "[1;5D": wordLeft, "[1;3C": wordRight, "[1;3D": wordLeft, "b": wordLeft, "f": wordRight,
}

const pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"

// maxPending is how much of something that has not ended is kept: a paste is bounded by it.
const maxPending = 1 << 20

// pump reads what is typed and sends it on as keys, until the input ends or stop is closed.
func pump(in io.Reader, keys chan<- key, stop <-chan struct{}) {
	send := func(k key) bool {
		select {
		case keys <- k:
			return true
		case <-stop:
			return false
		}
	}
	buffer := make([]byte, 4096)
	var pending []byte
	for {
		n, err := in.Read(buffer)
		pending = append(pending, buffer[:n]...)
		for len(pending) > 0 {
			k, used := decode(pending, len(pending) >= maxPending)
			if used == 0 {
				break
			}
			pending = pending[used:]
			if k.name != ignored && !send(k) {
				return
			}
		}
		if err != nil {
			for send(key{name: gone}) { // to everybody who asks
			}
			return
		}
	}
}

// decode takes one key off the front of what was typed. Used is 0 where more has to come, which full rules
// out.
func decode(typed []byte, full bool) (k key, used int) {
	switch b := typed[0]; {
	case b == 0x1b:
		return decodeEscape(typed, full)
	case b < 0x20 || b == 0x7f:
		if n, known := controls[b]; known {
			return key{name: n}, 1
		}
		if name, known := chords[b]; known {
			return key{name: chord, text: name}, 1
		}
		return key{name: ignored}, 1
	}
	if !utf8.FullRune(typed) && !full {
		return key{}, 0
	}
	r, size := utf8.DecodeRune(typed)
	return key{text: string(r)}, size
}

func decodeEscape(typed []byte, full bool) (k key, used int) {
	if bytes.HasPrefix(typed, []byte(pasteStart)) {
		body := typed[len(pasteStart):]
		if i := bytes.Index(body, []byte(pasteEnd)); i >= 0 {
			return key{name: paste, text: string(bytes.ToValidUTF8(body[:i], []byte("\uFFFD")))}, len(pasteStart) + i + len(pasteEnd)
		}
		if full {
			return key{name: paste, text: string(bytes.ToValidUTF8(body, []byte("\uFFFD")))}, len(typed)
		}
		return key{}, 0
	}
	if len(typed) == 1 { // a sequence comes in one piece: this is the key itself
		return key{name: escape}, 1
	}
	last := 1
	if typed[1] == '[' || typed[1] == 'O' {
		for last = 2; last < len(typed) && (typed[last] < 0x40 || typed[last] > 0x7e); last++ {
		}
		if last == len(typed) {
			return key{name: ignored}, last
		}
	}
	sequence := string(typed[1 : last+1])
	if n, known := sequences[sequence]; known {
		return key{name: n}, last + 1
	}
	if name := chordOf(sequence); name != "" {
		return key{name: chord, text: name}, last + 1
	}
	return key{name: ignored}, last + 1
}
