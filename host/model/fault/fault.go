// Package fault tells how a request to a model over HTTP failed: which phase it had reached, whether it
// may be sent again, and when.
package fault

import "net/http"

// statusOverloaded is how Anthropic's API says that it has too much to do.
const statusOverloaded = 529

// Retryable reports whether a status tells of a fault that passes by itself.
func Retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		return true
	}
	return false
}
