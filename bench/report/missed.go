package report

// missedBecause says of a budget that is missed, by its two first columns, why, and what comes next.
var missedBecause = map[string]string{
	"Tool call, one in flight, 100 B/p50 within 3 times a bare echo": "no goroutine wakes another any more and each frame is one write and one read, as in " +
		"the echo; what is left is the work on the JSON and some thirty allocations, of which a model that is read in the pass over the envelope would save the most",
	"/at most a quarter of the fastest peer": "the peer has the same system calls and hand-overs between goroutines, and ours have no hand-over left; the work on " +
		"the JSON is next, in one pass for envelope and model",
	"Tool call, 64 in flight, 100 B/at least 3 times the fastest peer": "frames that are ready together share a write, so that the kernel has a fifth of the processor " +
		"time; the rest is spread over encoding, validation and decoding, and over waking 64 callers; fewer allocations on the side of the extension come next",
	"Tool call, one in flight, 10 KiB/p50 within 6 times a bare echo": "every byte is scanned twice on each side, once for the envelope and once for the " +
		"model, and two copies of the text are made for whoever keeps it; one scan for both comes next",
	"TypeScript extension, tool call/at least 3 times the official MCP SDK": "that SDK, warm, takes 3.2 times a bare echo in the same interpreter, so " +
		"three times as fast would be the echo itself; beside the pipe a few microseconds are left, half of them strict reading of JSON, " +
		"and members set without a new string for each name come next",
	"Idle host/under 40 MB": "most of it is the program itself, its tables and what the model libraries set up when they are loaded; loading " +
		"a provider only when it is asked comes next",
	"OUP/100,000 stored events replay in under 1 s": "each event is decoded once for the client's features; telling stored bytes as they lie comes next",
}
