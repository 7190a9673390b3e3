package session

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
)

// writer writes records of one session inside one transaction.
type writer struct {
	rows    rows
	session sessionRow // as it will be when the transaction is over
	now     int64
}

// add writes a record with the next number. The payload is written as JSON unless the record has one.
func (w *writer) add(rec record, payload any) (err error) {
	if rec.payload == nil {
		if rec.payload, err = encode(payload); err != nil {
			return fmt.Errorf("%s: %w", rec.kind, err)
		}
	}
	w.session.last++
	w.session.updated = max(w.session.updated, w.now)
	rec.session, rec.seq, rec.time = w.session.num, w.session.last, w.now
	rec.sum = rec.checksum(w.session.id)
	return w.rows.addRecord(rec)
}

// batch writes everything of a batch.
func (w *writer) batch(b Batch) (receipt Receipt, err error) {
	if receipt.Run, err = w.start(b); err != nil {
		return Receipt{}, err
	}
	for _, entry := range b.Entries {
		if err := w.entry(entry); err != nil {
			return Receipt{}, err
		}
		receipt.Entries = append(receipt.Entries, entryID(w.session.head))
	}
	for _, used := range b.Usage {
		if err := w.usage(used); err != nil {
			return Receipt{}, err
		}
	}
	for _, doubt := range b.Uncertainty {
		w.session.usage.Uncertain = true
		if err := w.add(record{kind: kindUncertainty, parent: w.session.head}, doubt); err != nil {
			return Receipt{}, err
		}
	}
	if b.Settle != nil {
		return receipt, w.settle(*b.Settle)
	}
	return receipt, nil
}

// start writes that a run begins. Its checkpoint stands before its entries.
func (w *writer) start(b Batch) (run string, err error) {
	switch {
	case b.Start == "":
		return "", nil
	case w.session.running != "":
		return "", fmt.Errorf("run %q is going on; settle it before another one starts", w.session.running)
	case b.Start == RunOfFirst && len(b.Entries) == 0:
		return "", errors.New("a run that is named for its first entry needs an entry")
	case b.Start == RunOfFirst:
		// The checkpoint takes the next number and the entry the one behind it.
		run = "run:" + string(entryID(w.session.last+2))
	default:
		run = b.Start
	}
	w.session.running = run
	return run, w.add(record{kind: kindCheckpoint, parent: w.session.head},
		checkpoint{State: stateStarted, Head: entryID(w.session.head), Settlement: Settlement{Run: run}})
}

// settle writes the one terminal of the run that is going on.
func (w *writer) settle(end Settlement) error {
	if w.session.running == "" || end.Run != w.session.running {
		return fmt.Errorf("run %q is not going on and cannot be settled (running: %q)", end.Run, w.session.running)
	}
	w.session.running = ""
	return w.add(record{kind: kindCheckpoint, parent: w.session.head},
		checkpoint{State: stateSettled, Head: entryID(w.session.head), Settlement: end})
}

// entry writes an entry behind the head and moves the head to it.
func (w *writer) entry(e Entry) error {
	if e.Value == nil {
		return errors.New("an entry needs a value")
	}
	if extension, ok := e.Value.(Extension); ok {
		if err := checkExtension(extension); err != nil {
			return err
		}
	}
	payload, err := encodeValue(e.Value)
	if err != nil {
		return err
	}
	rec := record{kind: kindEntry, valueOf: e.Value.Type(), parent: w.session.head, payload: payload}
	if e.Metadata.Len() > 0 {
		if rec.metadata, err = encode(e.Metadata); err != nil {
			return err
		}
	}
	if err := w.add(rec, nil); err != nil {
		return err
	}
	w.session.head = w.session.last
	w.session.entries++
	if rec.isSaid() {
		w.session.messages++
	}
	w.learn(e.Value)
	return nil
}

// learn keeps what a listing tells of the entries.
func (w *writer) learn(v Value) {
	switch v := v.(type) {
	case Message:
		if w.session.title == "" && v.Message.Role == conversation.User {
			text := v.Display
			if text == "" {
				text = v.Message.PlainText()
			}
			w.session.title = title(text)
		}
	case ModelChange:
		w.session.model = v.Reference()
	}
}

func checkExtension(e Extension) error {
	switch {
	case e.Kind == "" || len(e.Kind) > featurewire.MaxEntryTypeBytes:
		return fmt.Errorf("entry of extension %q: %w: its type has %d bytes, want 1 to %d", e.Extension, ErrBound, len(e.Kind), featurewire.MaxEntryTypeBytes)
	case len(e.Data) > featurewire.MaxEntryDataBytes:
		return fmt.Errorf("entry of extension %q: %w: its data has %d bytes, at most %d", e.Extension, ErrBound, len(e.Data), featurewire.MaxEntryDataBytes)
	case !json.Valid(e.Data):
		return fmt.Errorf("entry of extension %q: its data is no JSON", e.Extension)
	}
	return nil
}

// usage writes what was used. A child session has one record for all it used.
func (w *writer) usage(u UsageRecord) error {
	if u.Kind == UsageDelegatedAgent {
		if u.Child == "" {
			return errors.New("usage of a delegated agent needs the child session")
		}
		for rec, err := range w.rows.records(w.session.num, 1, w.session.last, true) {
			if err != nil {
				return err
			}
			var earlier UsageRecord
			if rec.kind == kindUsage && json.Unmarshal(rec.payload, &earlier) == nil && earlier.Child == u.Child {
				return fmt.Errorf("child session %s has its usage record already", u.Child)
			}
		}
		w.session.usage.Delegated = w.session.usage.Delegated.Add(u.Usage)
	}
	w.session.usage.Usage = w.session.usage.Usage.Add(u.Usage)
	return w.add(record{kind: kindUsage, valueOf: string(u.Kind), parent: w.session.head}, u)
}
