package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Composed returns the values that a composing tool keeps on the branch to the head, by key. Values are
// compact JSON.
func (s *Session) Composed(ctx context.Context, tool string) (values map[string]json.RawMessage, err error) {
	err = s.store.db.view(ctx, func(r rows) error {
		row, err := s.store.lookup(r, s.id)
		if err != nil {
			return err
		}
		values, err = s.store.composed(r, row, tool)
		return err
	})
	return values, err
}

// composed folds the batches of a tool on the branch to the head.
func (s *Store) composed(r rows, row sessionRow, tool string) (map[string]json.RawMessage, error) {
	branch, err := s.branch(r, row, row.head)
	if err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for _, rec := range branch {
		if rec.valueOf != (Composition{}).Type() {
			continue
		}
		var change Composition
		if err := json.Unmarshal(rec.payload, &change); err != nil {
			return nil, fmt.Errorf("entry %s of session %s: %w", entryID(rec.seq), row.id, err)
		}
		if change.Tool == tool {
			change.apply(values)
		}
	}
	return values, nil
}

// apply changes values: deletions first, then what is set.
func (c Composition) apply(values map[string]json.RawMessage) {
	for _, key := range c.Delete {
		delete(values, key)
	}
	maps.Copy(values, c.Set)
}

// Compose changes the values of a composing tool in one batch: deletions first, then what is set. The head
// moves to the entry that it writes. ErrBound over 4,096 keys a batch, 1,024 bytes a key, 256 KiB a value,
// or 1 MiB of keys and values of the tool in all; then nothing is written.
func (s *Session) Compose(ctx context.Context, tool string, set map[string]json.RawMessage, remove []string) error {
	change, err := checkComposition(tool, set, remove)
	if err != nil {
		return err
	}
	return s.write(ctx, func(w *writer) error {
		values, err := s.store.composed(w.rows, w.session, tool)
		if err != nil {
			return err
		}
		change.apply(values)
		total := 0
		for key, value := range values {
			total += len(key) + len(value)
		}
		if total > featurewire.MaxCompositionStoreBytes {
			return fmt.Errorf("values of tool %q: %w: %d bytes in all, at most %d; delete some first", tool, ErrBound, total, featurewire.MaxCompositionStoreBytes)
		}
		return w.entry(Entry{Value: change})
	})
}

// checkComposition judges a batch and makes its values compact.
func checkComposition(tool string, set map[string]json.RawMessage, remove []string) (Composition, error) {
	if keys := len(set) + len(remove); keys > featurewire.MaxCompositionStoreKeys {
		return Composition{}, fmt.Errorf("values of tool %q: %w: %d keys in one batch, at most %d", tool, ErrBound, keys, featurewire.MaxCompositionStoreKeys)
	}
	for _, key := range slices.Concat(slices.Collect(maps.Keys(set)), remove) {
		if len(key) > featurewire.MaxCompositionKeyBytes {
			return Composition{}, fmt.Errorf("values of tool %q: %w: a key has %d bytes, at most %d", tool, ErrBound, len(key), featurewire.MaxCompositionKeyBytes)
		}
		if !utf8.ValidString(key) {
			return Composition{}, fmt.Errorf("values of tool %q: key %q is not UTF-8", tool, key)
		}
	}
	change := Composition{Tool: tool, Delete: slices.Clone(remove)}
	if len(set) > 0 {
		change.Set = make(map[string]json.RawMessage, len(set))
	}
	for key, value := range set {
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return Composition{}, fmt.Errorf("values of tool %q: the value of %q is no JSON: %w", tool, key, err)
		}
		if compact.Len() > featurewire.MaxCompositionValueBytes {
			return Composition{}, fmt.Errorf("values of tool %q: %w: the value of %q has %d bytes, at most %d", tool, ErrBound, key, compact.Len(), featurewire.MaxCompositionValueBytes)
		}
		change.Set[key] = compact.Bytes()
	}
	return change, nil
}
