package extension

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
