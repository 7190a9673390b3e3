package session

import (
	"context"
	"errors"
	"slices"
)

// Branch returns the entries from the first to the head, without a lease. If some of them cannot be read,
// it returns those before them and a *DamageError.
func (s *Store) Branch(ctx context.Context, id string) (branch []Stored, err error) {
	err = s.db.view(ctx, func(r rows) error {
		row, err := s.lookup(r, id)
		if err != nil {
			return err
		}
		records, damage := s.branch(r, row, row.head)
		if damage != nil && !errors.Is(damage, ErrDamaged) {
			return damage
		}
		labels, err := r.labels(row.num)
		if err != nil && !unreadable(err) {
			return err
		}
		branch = make([]Stored, 0, len(records))
		for _, rec := range records {
			entry, err := rec.stored(labels[rec.seq])
			if err != nil {
				return err
			}
			branch = append(branch, entry)
		}
		return damage
	})
	return branch, err
}

// branch collects the records of the entries from the first to one of them. If one cannot be read, it
// returns those before it and a *DamageError.
func (s *Store) branch(r rows, row sessionRow, head int64) ([]record, error) {
	var newest []record // the newest first
	wanted := head
	var failed error
	for rec, err := range r.records(row.num, 1, head, true) {
		if err != nil {
			failed = err
			break
		}
		if rec.seq != wanted {
			continue
		}
		if rec.kind != kindEntry || !rec.whole(row.id) {
			break
		}
		newest = append(newest, rec)
		if wanted = rec.parent; wanted == 0 {
			break
		}
	}
	if wanted == 0 {
		slices.Reverse(newest)
		return newest, nil
	}
	if failed != nil && !unreadable(failed) {
		return nil, failed
	}
	return s.salvageBranch(r, row, head)
}

// isSaid reports whether the record is an entry that holds something said.
func (r record) isSaid() bool {
	return r.kind == kindEntry && (r.valueOf == Message{}.Type() || r.valueOf == Injected{}.Type())
}

// said counts what was said on a branch.
func said(branch []record) (count int64) {
	for _, rec := range branch {
		if rec.isSaid() {
			count++
		}
	}
	return count
}

// salvageBranch is branch for a session in which something cannot be read.
func (s *Store) salvageBranch(r rows, row sessionRow, head int64) ([]record, error) {
	all, damage := s.readable(r, row)
	var newest []record
	// Where an entry of the branch is lost, nobody can tell what it followed, unless it followed the one
	// before it: nothing else is guessed.
	for wanted := head; wanted != 0; {
		rec, found := all[wanted]
		if !found || rec.kind != kindEntry {
			newest = newest[:0]
			if damage == nil {
				damage = &DamageError{Path: s.path, Session: row.id}
			}
			if !slices.Contains(damage.Lost, wanted) && len(damage.Lost) < maxLost {
				damage.Lost, damage.Count = append(damage.Lost, wanted), damage.Count+1
			}
			wanted = before(all, wanted)
			continue
		}
		newest = append(newest, rec)
		wanted = rec.parent
	}
	slices.Reverse(newest)
	if damage == nil {
		return newest, nil
	}
	if len(newest) > 0 {
		damage.Last = entryID(newest[len(newest)-1].seq)
	}
	return newest, damage
}

// before is the last readable entry with a lower number, 0 if there is none.
func before(all map[int64]record, seq int64) int64 {
	for seq--; seq > 0; seq-- {
		if rec, found := all[seq]; found && rec.kind == kindEntry {
			return seq
		}
	}
	return 0
}

// readable collects every record of a session that is as it was written, whatever is damaged. The damage
// is nil if nothing is missing.
func (s *Store) readable(r rows, row sessionRow) (map[int64]record, *DamageError) {
	all := map[int64]record{}
	keep := func(rec record) {
		if rec.session == row.num && rec.whole(row.id) {
			all[rec.seq] = rec
		}
	}
	for rec, err := range r.records(row.num, 1, row.last, false) {
		if err != nil {
			break
		}
		keep(rec)
	}
	known, err := r.sequences(row.num)
	if err == nil && len(known) == len(all) {
		return all, nil
	}
	// One by one, then without the index.
	for _, seq := range known {
		if _, found := all[seq]; found {
			continue
		}
		if rec, err := r.record(row.num, seq); err == nil {
			keep(rec)
		}
	}
	if err != nil || len(known) != len(all) {
		for rec, err := range r.salvage(row.num) {
			if err != nil {
				break
			}
			keep(rec)
		}
	}
	damage := &DamageError{Path: s.path, Session: row.id}
	for _, seq := range known {
		if _, found := all[seq]; found {
			continue
		}
		if damage.Count++; len(damage.Lost) < maxLost {
			damage.Lost = append(damage.Lost, seq)
		}
	}
	if damage.Count == 0 {
		return all, nil
	}
	return all, damage
}
