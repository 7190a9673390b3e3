package process

import "time"

// AwaitRead is for who has waited for the end of a pipe that somebody else may keep open, and is about to close it. It
// waits on until everything in the pipe has been read, over is closed, or the limit has passed: what a program said last
// is not lost because its reader got no processor in time. Where the system does not tell what is in a pipe (everywhere
// but on Linux) it does not wait.
func AwaitRead(pipe any, over <-chan struct{}, limit time.Duration) {
	for late := time.Now().Add(limit); unread(pipe) > 0 && time.Now().Before(late); {
		select {
		case <-over:
			return
		case <-time.After(pollInterval):
		}
	}
}
