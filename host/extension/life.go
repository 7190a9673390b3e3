package extension

// PID is the id of its process, which leads a group of its own where there are such; 0 where it is not known.
func (x *Extension) PID() int {
	if p, ok := x.process.(interface{ PID() int }); ok {
		return p.PID()
	}
	return 0
}

// Done is closed once the connection has ended, whoever wanted it: the process has gone, broke a rule of
// its wire, or was shut down.
func (x *Extension) Done() <-chan struct{} { return x.conn.Done() }

// Err says why the connection ended, nil as long as it has not. It ends what is left of the process tree
// first, and so may block for the last stages of Close.
func (x *Extension) Err() error {
	select {
	case <-x.conn.Done():
		return x.explained(x.ended(x.conn.Err()))
	default:
		return nil
	}
}
