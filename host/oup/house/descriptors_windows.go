package house

// descriptors is 0: the system has no bound of them for a process.
func descriptors() int { return 0 }
