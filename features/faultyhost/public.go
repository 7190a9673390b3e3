package faultyhost

// reported are kinds of faults that people have reported of real hosts, where no other table has them.
var reported = []Fault{
	{"leaves-stderr", "EXT04-PROC-006", current, "does not read standard error", doing(leavesStderr)},
	{"leaves-stderr", "EXT04-PROC-006", frozen, "does not read standard error", doing(leavesStderr)},
	{"leaves-extensions", "EXT04-PROC-007", middle, "leaves what an extension leaves alone", doing(leavesAll)},
}
