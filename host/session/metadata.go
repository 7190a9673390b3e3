package session

import "encoding/json"

// Metadata is what before_persistence hooks have added to an entry, by namespace. The zero value is
// empty; Add refuses what is over a bound, so that a Metadata can always be stored.
type Metadata struct {
	values map[string]MetadataValue
}

// MetadataValue is the value of one namespace.
type MetadataValue struct {
	Value json.RawMessage `json:"value"`
	// Public values are exported; private ones are kept for their extension alone.
	Public     bool  `json:"public,omitempty"`
	Generation int64 `json:"generation,omitempty"` // of the process that gave it
}
