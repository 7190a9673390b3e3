package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Format is how a session is exported.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // every record, a JSON object a line, behind a line about the session
	Markdown Format = "markdown" // the branch to the head, to be read
)

// exportSchema is the version of the JSON lines.
const exportSchema = 1

// history is what could be read of a session.
type history struct {
	info    Info
	records []record // in the order in which they were written
	branch  []record // the entries from the first to the head
	labels  map[int64]string
	damage  *DamageError // nil if nothing is missing
}

// Export writes a session without anything that is private to an extension. What cannot be read is left
// out, said at the end, and reported with a *DamageError behind everything else.
func (s *Store) Export(ctx context.Context, id string, w io.Writer, format Format) error {
	if format != JSONL && format != Markdown {
		return fmt.Errorf("export format %q: want %s or %s", format, JSONL, Markdown)
	}
	h, err := s.history(ctx, id)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if format == JSONL {
		err = h.writeLines(out)
	} else {
		err = h.writeMarkdown(out)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("export of session %s: %w", id, err)
	}
	if h.damage != nil {
		return h.damage
	}
	return nil
}

func (s *Store) history(ctx context.Context, id string) (h history, err error) {
	err = s.db.view(ctx, func(r rows) error {
		row, err := s.lookup(r, id)
		if err != nil {
			return err
		}
		h.info = s.info(row)
		all, damage := s.readable(r, row)
		h.damage = damage
		for _, seq := range slices.Sorted(maps.Keys(all)) {
			h.records = append(h.records, all[seq])
		}
		branch, err := s.branch(r, row, row.head)
		var lost *DamageError
		if errors.As(err, &lost) {
			// Only this one knows how far the conversation is whole.
			h.damage, err = lost, nil
		} else if damage != nil {
			damage.Last = entryID(row.head)
		}
		if err != nil {
			return err
		}
		h.branch = branch
		if h.labels, err = r.labels(row.num); err != nil && unreadable(err) {
			h.labels, err = nil, nil
		}
		return err
	})
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return h, err
}

// sessionLine is the first line of an export.
type sessionLine struct {
	Record string `json:"record"`
	Schema int    `json:"schema"`
	Info
}

// recordLine is a line of an export: one record.
type recordLine struct {
	Record   string          `json:"record"` // entry, head, checkpoint, usage or usage_uncertainty
	Seq      int64           `json:"seq"`
	ID       EntryID         `json:"id,omitempty"`     // of an entry
	Parent   EntryID         `json:"parent,omitempty"` // of an entry; of others, where the head stood
	Time     string          `json:"time"`
	Label    string          `json:"label,omitempty"`
	Value    json.RawMessage `json:"value"`
	Metadata *Metadata       `json:"metadata,omitempty"` // what is public
}

// damageLine is the last line of an export that is not whole.
type damageLine struct {
	Record string  `json:"record"`
	Lost   []int64 `json:"lost"`
	Count  int     `json:"count"`
	Last   EntryID `json:"last,omitempty"`
}

func (h history) writeLines(w io.Writer) error {
	write := func(line any) error {
		text, err := encode(line)
		if err != nil {
			return err
		}
		_, err = w.Write(append(text, '\n'))
		return err
	}
	if err := write(sessionLine{Record: "session", Schema: exportSchema, Info: h.info}); err != nil {
		return err
	}
	for _, rec := range h.records {
		line, err := h.line(rec)
		if err != nil {
			return err
		}
		if err := write(line); err != nil {
			return err
		}
	}
	if h.damage != nil {
		return write(damageLine{Record: "damage", Lost: h.damage.Lost, Count: h.damage.Count, Last: h.damage.Last})
	}
	return nil
}

// line is what may be shown of a record to anybody.
func (h history) line(rec record) (recordLine, error) {
	line := recordLine{
		Record: rec.kind, Seq: rec.seq, Parent: entryID(rec.parent), Label: h.labels[rec.seq],
		Time: time.UnixMilli(rec.time).UTC().Format(timeFormat), Value: rec.payload,
	}
	if rec.kind != kindEntry {
		return line, nil
	}
	entry, err := rec.stored("")
	if err != nil {
		return line, err
	}
	line.ID = entry.ID
	switch value := entry.Value.(type) {
	case Extension:
		// That there is an entry is no secret: others have it as their parent.
		value.Data = json.RawMessage("null")
		line.Value, err = encodeValue(value)
	case Composition:
		line.Value, err = encodeValue(Composition{Tool: value.Tool})
	}
	if public := entry.Metadata.Public(); public.Len() > 0 {
		line.Metadata = &public
	}
	return line, err
}

// timeFormat has milliseconds, as records have.
const timeFormat = "2006-01-02T15:04:05.000Z"
