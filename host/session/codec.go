package session

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
)

// entryID spells the number of an entry.
func entryID(seq int64) EntryID {
	if seq == 0 {
		return ""
	}
	return EntryID("e-" + strconv.FormatInt(seq, 10))
}

// seq is the number of an entry. ok is false for what no entry is called.
func (id EntryID) seq() (seq int64, ok bool) {
	text, found := strings.CutPrefix(string(id), "e-")
	if !found || text == "" || text[0] < '1' || text[0] > '9' {
		return 0, false
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	return seq, err == nil
}

// encode writes a value as compact JSON, texts as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeValue writes a value with its type as the first member.
func encodeValue(v Value) ([]byte, error) {
	if u, isUnknown := v.(Unknown); isUnknown {
		return u.Raw, nil
	}
	body, err := encode(v)
	if err != nil {
		return nil, fmt.Errorf("entry of type %s: %w", v.Type(), err)
	}
	head, err := encode(v.Type())
	if err != nil {
		return nil, err
	}
	tagged := append([]byte(`{"type":`), head...)
	if string(body) != "{}" {
		tagged = append(tagged, ',')
	}
	return append(tagged, body[1:]...), nil
}

// decodeValue reads what encodeValue has written, by this version or a later one.
func decodeValue(kind string, data []byte) (Value, error) {
	decode := func(into Value) error { return json.Unmarshal(data, into) }
	switch kind {
	case Message{}.Type():
		var v Message
		err := decode(&v)
		return v, err
	case Injected{}.Type():
		var v Injected
		err := decode(&v)
		return v, err
	case Compaction{}.Type():
		var v Compaction
		err := decode(&v)
		return v, err
	case Extension{}.Type():
		var v Extension
		err := decode(&v)
		return v, err
	case ModelChange{}.Type():
		var v ModelChange
		err := decode(&v)
		return v, err
	case Composition{}.Type():
		var v Composition
		err := decode(&v)
		return v, err
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("entry of type %s is no JSON", kind)
	}
	return Unknown{Kind: kind, Raw: data}, nil
}

// stored makes an entry of its record.
func (r record) stored(label string) (Stored, error) {
	value, err := decodeValue(r.valueOf, r.payload)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{ID: entryID(r.seq), Parent: entryID(r.parent), Time: time.UnixMilli(r.time).UTC(), Value: value, Label: label}
	if len(r.metadata) > 0 {
		err = json.Unmarshal(r.metadata, &s.Metadata)
	}
	return s, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers everything that a record says. The database has none of its own: without it a flipped
// bit would be taken for something that was said.
func (r record) checksum(session string) int64 {
	var buffer [256]byte
	head := buffer[:0]
	for _, number := range []int64{r.seq, r.parent, r.time, int64(len(r.payload)), int64(len(r.metadata))} {
		head = binary.BigEndian.AppendUint64(head, uint64(number))
	}
	for _, text := range []string{session, r.kind, r.valueOf} {
		head = binary.BigEndian.AppendUint64(head, uint64(len(text)))
		head = append(head, text...)
	}
	sum := crc32.Update(0, castagnoli, head)
	sum = crc32.Update(sum, castagnoli, r.payload)
	return int64(crc32.Update(sum, castagnoli, r.metadata))
}

// whole reports whether a record is as it was written.
func (r record) whole(session string) bool { return r.sum == r.checksum(session) }
