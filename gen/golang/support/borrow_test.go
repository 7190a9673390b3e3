package wirejson

import "testing"

func TestDocument_borrowSharesWhatIsCanonicalAlone(t *testing.T) {
	source := []byte(`{"a":[1,2],"b":{"d":1 ,"c":2}}`)
	d, err := Parse(source, 4)
	if err != nil {
		t.Fatal(err)
	}
	d.Borrow()
	shared, own := d.Root().Member("a").Raw(), d.Root().Member("b").Raw()
	if string(shared) != `[1,2]` || string(own) != `{"c":2,"d":1}` {
		t.Errorf("got %s and %s", shared, own)
	}
	if &shared[0] != &source[5] || cap(shared) != len(shared) {
		t.Error("what is spelled canonically is a copy, or has room that is not its own")
	}
	d.Release()

	if d, err = Parse(source, 4); err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	if copied := d.Root().Member("a").Raw(); &copied[0] == &source[5] {
		t.Error("a document that was used again still borrows")
	}
}
