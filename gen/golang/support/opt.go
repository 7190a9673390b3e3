package wirejson

// Opt is a member that may be absent or null. Its zero value is absent.
type Opt[T any] struct {
	value T
	state optState
}

type optState uint8

const (
	absent optState = iota
	isNull
	present
)

// Some returns a member with a value.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, state: present} }

// Null returns a null member. Whether null is legal is the model's decision; where it is not, Validate
// reports it.
func Null[T any]() Opt[T] { return Opt[T]{state: isNull} }

// Get returns the value and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == present }

// Or returns the value, or fallback for an absent or null member.
func (o Opt[T]) Or(fallback T) T {
	if o.state == present {
		return o.value
	}
	return fallback
}

// IsNull reports whether the member is null.
func (o Opt[T]) IsNull() bool { return o.state == isNull }

// IsAbsent reports whether the member is absent.
func (o Opt[T]) IsAbsent() bool { return o.state == absent }
