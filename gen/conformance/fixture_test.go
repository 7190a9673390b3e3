package conformance

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/octet-dev/octet/gen/testdata/contract/want/generated/dockwire"
	"github.com/octet-dev/octet/gen/testdata/contract/want/generated/rules"
	"github.com/octet-dev/octet/gen/testdata/recursion/want/generated/placewire"
	"github.com/octet-dev/octet/gen/testdata/shapes/want/generated/parcelwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

const fullParcel = `{"balance":-5,"content":[{"kind":"book","title":"Tea","zip":[1.50]},{"inside":[{"inside":[],"kind":"box"}],"kind":"box"}],` +
	`"customs":{"a":1,"b":"é"},"extra":null,"fragile":true,"id":"p-1","label":"To: you","note":"n","priority":"soonish","ratio":0.50,` +
	`"rows":[[1,2],[]],"stamps":{"bern":[true],"oslo":[]},"tags":["a","b"],"version":"1","weight":null}`

const leastParcel = `{"content":[{"kind":"book","title":""}],"id":0,"label":"x","version":"1","weight":1}`

func TestRecord_comesBackAsItWas(t *testing.T) {
	for _, text := range []string{fullParcel, leastParcel} {
		x, err := parcelwire.DecodeParcel([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(x.AppendJSON(nil)); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
		if got, err := x.MarshalJSON(); err != nil || string(got) != text {
			t.Errorf("MarshalJSON: %s, %v", got, err)
		}
		if got := string(x.AppendJSON([]byte("before"))); got != "before"+text {
			t.Errorf("AppendJSON does not append: %s", got)
		}
	}
}

func TestRecord_keepsAbsentNullEmptyAndUnknownApart(t *testing.T) {
	full, err := parcelwire.DecodeParcel([]byte(fullParcel))
	if err != nil {
		t.Fatal(err)
	}
	least, err := parcelwire.DecodeParcel([]byte(leastParcel))
	if err != nil {
		t.Fatal(err)
	}
	if !full.Weight.IsNull() || !full.Extra.IsNull() || !least.Extra.IsAbsent() || !least.Balance.IsAbsent() {
		t.Error("null and absent are not told apart")
	}
	if stamps, ok := full.Stamps.Get(); !ok || len(stamps) != 2 || stamps["oslo"] == nil {
		t.Errorf("stamps %v", stamps)
	}
	if p := full.Priority.Or(""); p != "soonish" || p.Known() || !parcelwire.PriorityVeryHigh.Known() {
		t.Error("an unknown value of an open enumeration is lost, or counts as known")
	}
	book, ok := full.Content[0].(parcelwire.Book)
	if !ok || len(book.Unknown) != 1 || book.Unknown[0].Name != "zip" || string(book.Unknown[0].Value) != "[1.50]" {
		t.Errorf("book %+v", full.Content[0])
	}
	if full.Ratio.Or("") != "0.50" {
		t.Errorf("the number is spelled %s now", full.Ratio.Or(""))
	}
	if text, ok := full.ID.Text(); !ok || text != "p-1" || least.ID != wirejson.IntID(0) {
		t.Error("an id lost its kind")
	}
}

func TestRecord_mayHoldItself(t *testing.T) {
	const text = `{"country":"x","flag":"yes","street-name":"Main","within":{"street-name":"Town","within":{"street-name":""}}}`
	x, err := placewire.DecodeAddress([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if town, ok := x.Within.Get(); !ok || town.StreetName != "Town" || town.Within.IsAbsent() {
		t.Errorf("address %+v", x)
	}
	if got, err := x.MarshalJSON(); err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := placewire.DecodeAddress([]byte(`{"street-name":"","flag":"no"}`)); err == nil {
		t.Error("an optional constant with another value was accepted")
	}
	if got, err := (placewire.Empty{}).MarshalJSON(); err != nil || string(got) != `{}` {
		t.Errorf("empty record: %s, %v", got, err)
	}
}

func TestRecord_survivesItsInput(t *testing.T) {
	data := []byte(fullParcel)
	x, err := parcelwire.DecodeParcel(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if got := string(x.AppendJSON(nil)); got != fullParcel {
		t.Errorf("the decoded value points into its input: %s", got)
	}
}

func TestRecord_writesZeroValuesLegally(t *testing.T) {
	x := parcelwire.Parcel{
		ID:      wirejson.StringID("p"),
		Label:   "x",
		Content: []parcelwire.Item{parcelwire.Box{}},
		Extra:   wirejson.Some(json.RawMessage(`{"b":1,"a":"A"}`)),
	}
	const want = `{"content":[{"inside":[],"kind":"box"}],"extra":{"a":"A","b":1},"id":"p","label":"x","version":"1","weight":null}`
	if got, err := x.MarshalJSON(); err != nil || string(got) != want {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
}

func TestRecord_validatesWhatWasBuilt(t *testing.T) {
	good := func() parcelwire.Parcel {
		return parcelwire.Parcel{ID: wirejson.IntID(1), Label: "x", Content: []parcelwire.Item{parcelwire.Book{}}}
	}
	for name, c := range map[string]struct {
		change  func(*parcelwire.Parcel)
		kind    wirejson.ViolationKind
		pointer string
	}{
		"zero id":          {func(x *parcelwire.Parcel) { x.ID = wirejson.ID{} }, wirejson.NullValue, "/id"},
		"no content":       {func(x *parcelwire.Parcel) { x.Content = nil }, wirejson.ItemCount, "/content"},
		"nil variant":      {func(x *parcelwire.Parcel) { x.Content[0] = nil }, wirejson.NullValue, "/content/0"},
		"deferred variant": {func(x *parcelwire.Parcel) { x.Content[0] = parcelwire.Liquid{} }, wirejson.DeferredTag, "/content/0/kind"},
		"null not legal":   {func(x *parcelwire.Parcel) { x.Note = wirejson.Null[string]() }, wirejson.NullValue, "/note"},
		"blank":            {func(x *parcelwire.Parcel) { x.Note = wirejson.Some(" ") }, wirejson.ByteCount, "/note"},
		"out of range":     {func(x *parcelwire.Parcel) { x.Weight = wirejson.Some[int64](501) }, wirejson.OutOfRange, "/weight"},
		"closed enum": {func(x *parcelwire.Parcel) {
			x.Content[0] = parcelwire.Book{Colour: wirejson.Some(parcelwire.Colour("mud"))}
		}, wirejson.WrongValue, "/content/0/colour"},
		"forbidden": {func(x *parcelwire.Parcel) {
			x.Content[0] = parcelwire.Book{Unknown: []wirejson.Member{{Name: "price", Value: json.RawMessage("1")}}}
		}, wirejson.Forbidden, "/content/0/price"},
		"too many bytes":    {func(x *parcelwire.Parcel) { x.Customs = wirejson.Some(json.RawMessage(`{"a":"0123456789abcdef"}`)) }, wirejson.ByteCount, "/customs"},
		"label with a tab":  {func(x *parcelwire.Parcel) { x.Label = "a\tb" }, wirejson.WrongClass, "/label"},
		"label ends in LF":  {func(x *parcelwire.Parcel) { x.Label = "ab\n" }, wirejson.WrongClass, "/label"},
		"map key":           {func(x *parcelwire.Parcel) { x.Stamps = wirejson.Some(map[string][]bool{"Bern": nil}) }, wirejson.WrongClass, "/stamps/Bern"},
		"no customs object": {func(x *parcelwire.Parcel) { x.Customs = wirejson.Some(json.RawMessage(`[]`)) }, wirejson.WrongType, "/customs"},
	} {
		x := good()
		c.change(&x)
		var v *wirejson.Violation
		if err := x.Validate(); !errors.As(err, &v) {
			t.Errorf("%s: got %v, want a violation", name, err)
		} else if v.Kind != c.kind || v.Pointer != c.pointer || v.ErrorName == "" {
			t.Errorf("%s: got %s at %q (%s), want %s at %q", name, v.Kind, v.Pointer, v.ErrorName, c.kind, c.pointer)
		}
	}
	x := good()
	if err := x.Validate(); err != nil {
		t.Errorf("the unchanged parcel: %v", err)
	}
	x.Extra = wirejson.Some(json.RawMessage("{}\n{}"))
	var syntax *wirejson.SyntaxError
	if err := x.Validate(); !errors.As(err, &syntax) {
		t.Errorf("a raw member that is no JSON: got %v, want a *SyntaxError", err)
	}
}

func TestUnmarshalJSON_fitsTheStandardLibrary(t *testing.T) {
	var wrapped struct {
		Inner parcelwire.Parcel `json:"inner"`
	}
	if err := json.Unmarshal([]byte(`{"inner":`+leastParcel+`}`), &wrapped); err != nil {
		t.Fatal(err)
	}
	if got := string(wrapped.Inner.AppendJSON(nil)); got != leastParcel {
		t.Errorf("got %s", got)
	}
	if err := json.Unmarshal([]byte(`{"inner":{}}`), &wrapped); err == nil {
		t.Error("a broken value was accepted")
	}
}

func TestDecodeValue_takesAPartOfAFrame(t *testing.T) {
	doc, err := wirejson.Parse([]byte(`{"method":"m","params":{"kind":"box","inside":[{"kind":"book"}]}}`), parcelwire.MaxDepth)
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Release()
	_, err = parcelwire.DecodeBoxValue(doc.Root().Member("params"))
	var v *wirejson.Violation
	if !errors.As(err, &v) || v.Pointer != "/inside/0/title" {
		t.Errorf("got %v, want a violation whose pointer starts at the params", err)
	}
	item, err := parcelwire.DecodeItemValue(doc.Root().Member("params").Member("none"))
	if !errors.As(err, &v) || item != nil {
		t.Errorf("an absent value gives %v, %v; want a violation", item, err)
	}
}

func TestDecodeAny_knowsEveryModelAndNoOther(t *testing.T) {
	for _, name := range parcelwire.Models {
		_, err := parcelwire.DecodeAny(name, []byte(`[]`))
		var v *wirejson.Violation
		if !errors.As(err, &v) {
			t.Errorf("%s: got %v, want a violation", name, err)
		}
	}
	var unknown wirejson.UnknownModelError
	if _, err := parcelwire.DecodeAny("Nothing", []byte(`{}`)); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if err := parcelwire.ValidateModel("Nothing", []byte(`{}`)); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if err := parcelwire.EachViolation("Nothing", []byte(`{}`), nil); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	label, err := parcelwire.DecodeAny("Label", []byte(` "\u0041" `))
	if err != nil || string(label.AppendJSON(nil)) != `"A"` {
		t.Errorf("label: %v", err)
	}
	colour, err := parcelwire.DecodeAny("Colour", []byte(`"red"`))
	if err != nil || string(colour.AppendJSON(nil)) != `"red"` || colour.Validate() != nil {
		t.Errorf("colour: %v", err)
	}
	if err := parcelwire.Colour("mud").Validate(); err == nil {
		t.Error("a value outside a closed enumeration validates")
	}
}

func TestEachViolation_reportsAllOfThem(t *testing.T) {
	count := 0
	err := parcelwire.EachViolation("Parcel", []byte(`{"version":"2","label":"","x":1,"content":[]}`), func(v *wirejson.Violation) bool {
		if v.ErrorName != "bad_parcel" {
			t.Errorf("%v is reported as %q, want the error of envelopes", v, v.ErrorName)
		}
		count++
		return true
	})
	if err != nil || count != 6 {
		t.Errorf("%d violations (%v), want unknown, value, missing, pattern, missing and items", count, err)
	}
}

func TestTables_answerByName(t *testing.T) {
	land := dockwire.LookupMethod(dockwire.MethodShipLand)
	if land == nil || land.Notification || land.Direction != wirejson.HostToExtension || dockwire.LookupMethod("ship/none") != nil {
		t.Fatalf("ship/land: %+v", land)
	}
	if s, ok := land.Shape(dockwire.Version01); !ok || s.Result != "BerthV01" || s.Params != "LandParams" {
		t.Errorf("shape in 0.1: %+v", s)
	}
	if s, ok := land.Shape(dockwire.Version04); !ok || s.Result != "Berth" {
		t.Errorf("shape in 0.4: %+v", s)
	}
	if _, ok := dockwire.LookupMethod(dockwire.MethodHorn).Shape(dockwire.Version01); ok {
		t.Error("a version that does not know the method has a shape")
	}
	if e, ok := dockwire.ErrorByName("too_big"); !ok || e != dockwire.ErrTooBig || e.Code != dockwire.CodeTooBig {
		t.Errorf("too_big: %+v", e)
	}
	if e, ok := dockwire.ErrorByCode(dockwire.CodeBadShip); !ok || e.Name != "bad_ship" || !e.Fixed {
		t.Errorf("code of bad_ship: %+v", e)
	}
	if _, ok := dockwire.ErrorByCode(0); ok {
		t.Error("code 0 has a row")
	}
	if f := dockwire.LookupFeature(dockwire.FeatureRedLights); f == nil || f.DependsOn[0] != dockwire.FeatureLights || f.Required {
		t.Errorf("red_lights: %+v", f)
	}
	if c := dockwire.LookupCapability(dockwire.CapabilityLandingV1); c == nil || c.Needs[0] != dockwire.MethodShipLand {
		t.Errorf("landing.v1: %+v", c)
	}
	if dockwire.TableSignals[0].MeaningID != "`hello`" || dockwire.TableFlags[1] != "a|b" {
		t.Error("a table lost a cell")
	}
	if r := rules.Lookup(rules.EXT04Horn001); r == nil || r.Level != rules.Should || r.ProvenBy == "" || r.Unproven != "" || rules.Lookup("EXT04-LAND-009") != nil {
		t.Errorf("rule: %+v", r)
	}
	if r := rules.Lookup(rules.EXT04Land003); r == nil || r.Unproven != "needs a host with a quay" || r.NoPeer != "" {
		t.Errorf("rule: %+v", r)
	}
}
