package extension

// Opens reports whether a method may be used in this session: its feature was selected and, for an
// observation, the extension has subscribed to it. Who sends observations asks first, because each that
// Notify refuses is a diagnostic.
func (x *Extension) Opens(method string) bool { return x.opens(method) }
