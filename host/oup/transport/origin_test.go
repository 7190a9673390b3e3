package transport_test

import (
	"testing"

	"github.com/octet-dev/octet/host/oup/transport"
)

func TestIsOrigin(t *testing.T) {
	for _, yes := range []string{"https://app.example", "http://localhost:5173", "HTTPS://App.Example", "http://[::1]:80", "tauri://localhost", "null"} {
		if !transport.IsOrigin(yes) {
			t.Errorf("%q is taken for no origin", yes)
		}
	}
	for _, no := range []string{
		"", "nonsense", "*", "https://", "https://app.example/", "https://app.example/page", "https://app.example?x", "https://a@app.example",
		"app.example", "app.example:443", "//app.example", "https://:443", "https://app.example#x", "https:app.example", "https://*.example x",
	} {
		if transport.IsOrigin(no) {
			t.Errorf("%q is taken for an origin", no)
		}
	}
}
