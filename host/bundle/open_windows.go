package bundle

import "os"

// openNoFollow opens a file for reading. Whoever opens compares it with what was there before: that is
// all this system offers.
func openNoFollow(path string) (*os.File, error) { return os.Open(path) }
