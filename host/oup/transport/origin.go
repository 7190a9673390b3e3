package transport

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// mayOrigin reports whether the page behind a request may connect. A program that is no page sends no Origin.
// The same origin counts only where a token is asked for or the server was reached by a name of this machine: a
// page whose own name was made to point here has the same origin too.
func (ws *WebSocket) mayOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && strings.TrimSpace(origins[0]) == "" {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	origin := strings.TrimSpace(origins[0])
	if slices.ContainsFunc(ws.Origins, func(allowed string) bool { return strings.EqualFold(allowed, origin) }) {
		return true
	}
	page, err := url.Parse(origin)
	if err != nil || page.Scheme != "http" && page.Scheme != "https" || page.Host == "" {
		return false
	}
	return strings.EqualFold(page.Host, r.Host) && (ws.Authenticate != nil || ws.Identify != nil || IsLoopback(r.Host))
}

// IsOrigin reports whether a text is what a browser sends as the origin of some page: a scheme and a host, with a port or
// without, or null.
func IsOrigin(text string) bool {
	if text == "null" {
		return true
	}
	page, err := url.Parse(text)
	return err == nil && page.Scheme != "" && page.Hostname() != "" && strings.EqualFold(page.Scheme+"://"+page.Host, text)
}

// unescape undoes percent-encoding and leaves a plus sign what it is; a broken one gives "".
func unescape(value string) string {
	text, err := url.PathUnescape(value)
	if err != nil {
		return ""
	}
	return text
}
