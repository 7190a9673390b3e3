package canonical

// The two bounds of the encoding.
const (
	// MaxDepth is how many arrays and objects may enclose a value.
	MaxDepth = 32
	// MaxInteger is the largest magnitude of a number.
	MaxInteger = 9007199254740991
)
