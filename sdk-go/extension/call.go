package extension

// Call is one call of a tool. Its methods may be used from any goroutine.
type Call struct {
	Scope
	tool     string
	revision int64
}

// Tool returns the name the tool was called by.
func (c *Call) Tool() string { return c.tool }

// CatalogRevision returns the epoch of the catalog that the model saw when it made the call, see
// DynamicTools; 0 for a catalog that does not change.
func (c *Call) CatalogRevision() int64 { return c.revision }
