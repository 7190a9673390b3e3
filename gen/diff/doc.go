// Package diff says what a change of the spec does to peers that are not changed with it.
//
// Compare takes two specs, OLD and NEW, and looks at every message of every wire and API version that both
// have. For each role of a wire (extension, host) and each direction it asks one question:
//
//	read:  a peer of that role, made from NEW, reads what a peer made from OLD may write
//	write: a peer of that role, made from NEW, writes to a peer made from OLD
//
// The answer is compatible, breaking or unknown. Breaking comes with a witness: a JSON text that is legal
// for its writer and refused by its reader. Both were asked before it is shown: values are judged by the
// validator of the bindings over descriptors of both specs, frames and negotiations by the tables of both.
//
// # What a writer may write
//
// Everything its own spec calls legal, with one exception: a member that an open record does not list never
// has a name that the other spec lists there. Without it no member could ever be added to an open record.
// Open enumerations get no such exception, because an unlisted value of one is legal now.
//
// # What is unknown
//
// The spec says some things in prose. A change of one of these is reported and never judged: the rows of a
// fixed table, a limit that no shape refers to and nobody negotiates, when a feature is offered, how a
// method ends, how hooks are ordered, merged and timed, which error a broken shape is reported as, a gate
// that is no feature, and a shape that no message carries. The rest is judged; where the search for a
// witness ends without one and without a proof that there is none, that is said too.
//
// Documentation, sources, rules, vectors and the names in SDKs are not compared.
//
// # Frozen versions
//
// An API version that OLD has is released, and its set of rows is exact. A change inside it is marked
// Frozen, also where it is compatible. Rows of tables that name no versions belong to all of them; one that
// is added together with an API version is taken to belong to that.
package diff
