package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Metadata is what before_persistence hooks have added to an entry, by namespace. The zero value is
// empty; Add refuses what is over a bound, so that a Metadata can always be stored.
//
// Sheet: feature wire 9.2.
type Metadata struct {
	values map[string]MetadataValue
	bytes  int
}

// MetadataValue is the value of one namespace.
type MetadataValue struct {
	Value json.RawMessage `json:"value"`
	// Public values are exported; private ones are kept for their extension alone.
	Public     bool  `json:"public,omitempty"`
	Generation int64 `json:"generation,omitempty"` // of the process that gave it
}

// Add puts a value into a namespace that has none. An error says which bound or rule it breaks; then the
// metadata is as before.
func (m *Metadata) Add(namespace string, v MetadataValue) error {
	if err := checkNamespace(namespace); err != nil {
		return err
	}
	compact := bytes.Buffer{}
	if err := json.Compact(&compact, v.Value); err != nil {
		return fmt.Errorf("metadata of %s is no JSON: %w", namespace, err)
	}
	v.Value = compact.Bytes()
	if _, taken := m.values[namespace]; taken {
		return fmt.Errorf("metadata has a value for %s already", namespace)
	}
	switch {
	case len(m.values) >= featurewire.MaxPersistenceNamespaces:
		return fmt.Errorf("metadata of %s: %w: an entry has at most %d namespaces", namespace, ErrBound, featurewire.MaxPersistenceNamespaces)
	case len(v.Value) > featurewire.MaxPersistenceValueBytes:
		return fmt.Errorf("metadata of %s: %w: %d bytes, at most %d", namespace, ErrBound, len(v.Value), featurewire.MaxPersistenceValueBytes)
	case m.bytes+len(v.Value) > featurewire.MaxPersistenceTotalBytes:
		return fmt.Errorf("metadata of %s: %w: an entry has at most %d bytes in all", namespace, ErrBound, featurewire.MaxPersistenceTotalBytes)
	}
	if err := checkMetadataValue(v.Value); err != nil {
		return fmt.Errorf("metadata of %s: %w", namespace, err)
	}
	if m.values == nil {
		m.values = map[string]MetadataValue{}
	}
	m.values[namespace] = v
	m.bytes += len(v.Value)
	return nil
}

// Get returns the value of a namespace.
func (m Metadata) Get(namespace string) (MetadataValue, bool) {
	v, found := m.values[namespace]
	return v, found
}

// Len is how many namespaces have a value.
func (m Metadata) Len() int { return len(m.values) }

// All yields the values by ascending namespace.
func (m Metadata) All() iter.Seq2[string, MetadataValue] {
	return func(yield func(string, MetadataValue) bool) {
		for _, namespace := range slices.Sorted(maps.Keys(m.values)) {
			if !yield(namespace, m.values[namespace]) {
				return
			}
		}
	}
}

// Only keeps the values for which keep is true.
func (m Metadata) Only(keep func(namespace string, v MetadataValue) bool) Metadata {
	var kept Metadata
	for namespace, v := range m.All() {
		if keep(namespace, v) {
			if kept.values == nil {
				kept.values = map[string]MetadataValue{}
			}
			kept.values[namespace] = v
			kept.bytes += len(v.Value)
		}
	}
	return kept
}

// Public is what may be exported.
func (m Metadata) Public() Metadata {
	return m.Only(func(_ string, v MetadataValue) bool { return v.Public })
}

// MarshalJSON writes an object by namespace.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m.values == nil {
		return []byte("{}"), nil
	}
	return encode(m.values)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	*m = Metadata{}
	if err := json.Unmarshal(data, &m.values); err != nil {
		return err
	}
	for _, v := range m.values {
		m.bytes += len(v.Value)
	}
	return nil
}

// checkNamespace wants lower-case ASCII identifiers, separated by dots.
func checkNamespace(namespace string) error {
	if len(namespace) > featurewire.MaxPersistenceNamespaceBytes {
		return fmt.Errorf("metadata namespace: %w: %d bytes, at most %d", ErrBound, len(namespace), featurewire.MaxPersistenceNamespaceBytes)
	}
	for segment := range strings.SplitSeq(namespace, ".") {
		if len(segment) > featurewire.MaxPersistenceSegmentBytes {
			return fmt.Errorf("metadata namespace %q: %w: a segment has %d bytes, at most %d", namespace, ErrBound, len(segment), featurewire.MaxPersistenceSegmentBytes)
		}
		if segment == "" || segment[0] < 'a' || segment[0] > 'z' || strings.ContainsFunc(segment, notIdentifier) {
			return fmt.Errorf("metadata namespace %q: a segment begins with a lower-case letter, with lower-case letters, digits, hyphens and underscores behind it", namespace)
		}
	}
	return nil
}

func notIdentifier(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// checkMetadataValue judges depth, number of values, keys and characters.
func checkMetadataValue(data []byte) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("it is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	nodes := 0
	return walkMetadata(value, 1, &nodes)
}

func walkMetadata(value any, depth int, nodes *int) error {
	if *nodes++; *nodes > featurewire.MaxPersistenceNodes {
		return fmt.Errorf("%w: more than %d values", ErrBound, featurewire.MaxPersistenceNodes)
	}
	if depth > featurewire.MaxPersistenceDepth {
		return fmt.Errorf("%w: deeper than %d levels", ErrBound, featurewire.MaxPersistenceDepth)
	}
	switch value := value.(type) {
	case string:
		if strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("a string has a control character")
		}
	case []any:
		for _, element := range value {
			if err := walkMetadata(element, depth+1, nodes); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, member := range value {
			if len(key) > featurewire.MaxPersistenceKeyBytes {
				return fmt.Errorf("%w: a key has %d bytes, at most %d", ErrBound, len(key), featurewire.MaxPersistenceKeyBytes)
			}
			if strings.ContainsFunc(key, unicode.IsControl) {
				return fmt.Errorf("a key has a control character")
			}
			if err := walkMetadata(member, depth+1, nodes); err != nil {
				return err
			}
		}
	}
	return nil
}
