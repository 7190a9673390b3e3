//go:build !linux

package hostreferee

// leftovers counts nothing: this system does not show the environment of processes.
func leftovers(string) int { return 0 }
