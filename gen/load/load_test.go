package load

import (
	"os"
	"testing"
)

func TestLoad_readsTheSpec(t *testing.T) {
	spec, err := Load(os.DirFS("../../spec"))
	if err != nil {
		t.Fatal(err)
	}
	if len(spec.Wires) != 3 {
		t.Errorf("got %d wires, want 3", len(spec.Wires))
	}
}
