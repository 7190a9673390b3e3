package spelling_test

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/spelling"
)

func TestCheck(t *testing.T) {
	deep := func(n int, inner string) string { return strings.Repeat("[", n) + inner + strings.Repeat("]", n) }
	tests := []struct {
		name, text string
		want       []spelling.Class
	}{
		{"canonical", `{"a":1,"b":[true,false,null,"\n"],"c":{"":-5}}`, nil},
		{"upper case first", `{"B":0,"a":0}`, nil},
		{"scalar order", "{\"\ue000\":0,\"\U0001F600\":0}", nil},
		{"code unit order", "{\"\U0001F600\":0,\"\ue000\":0}", []spelling.Class{spelling.KeyOrder}},
		{"literals", "\"\x7f\u0085\u2028\u2029\ufeff/<>&\"", nil},
		{"control", `"\u001f"`, nil},
		{"order", `{"b":0,"a":0}`, []spelling.Class{spelling.KeyOrder}},
		{"duplicate unescaped", `{"k":1,"\u006b":1}`, []spelling.Class{spelling.NeedlessEscape, spelling.DuplicateKey}},
		{"space", `{"a": 1}`, []spelling.Class{spelling.WhiteSpace}},
		{"trailing space", `{"a":1} `, []spelling.Class{spelling.WhiteSpace}},
		{"carriage return", "{}\r", []spelling.Class{spelling.CarriageReturn}},
		{"empty", "", []spelling.Class{spelling.Empty}},
		{"blank", "  ", []spelling.Class{spelling.WhiteSpace}},
		{"mark", "\ufeff{}", []spelling.Class{spelling.ByteOrderMark}},
		{"overlong", "\"\xc0\xaf\"", []spelling.Class{spelling.InvalidUTF8}},
		{"two values", `{}{}`, []spelling.Class{spelling.MoreValues}},
		{"short escape", `"\u000a"`, []spelling.Class{spelling.ShortEscape}},
		{"raw tab", "\"\t\"", []spelling.Class{spelling.ShortEscape}},
		{"raw control", "\"\x01\"", []spelling.Class{spelling.ControlEscape}},
		{"upper hex", `"\u001F"`, []spelling.Class{spelling.ControlEscape}},
		{"slash", `"\/"`, []spelling.Class{spelling.NeedlessEscape}},
		{"pair", `"\ud83d\udc27"`, []spelling.Class{spelling.NeedlessEscape}},
		{"lone high", `"\ud83dx"`, []spelling.Class{spelling.LoneSurrogate}},
		{"lone low key", `{"\udc00":0}`, []spelling.Class{spelling.LoneSurrogate}},
		{"fraction", `2.0`, []spelling.Class{spelling.Fraction}},
		{"exponent", `2e1`, []spelling.Class{spelling.Exponent}},
		{"negative zero", `-0`, []spelling.Class{spelling.NegativeZero}},
		{"largest", `[9007199254740991,-9007199254740991]`, nil},
		{"too large", `9007199254740992`, []spelling.Class{spelling.IntegerTooLarge}},
		{"too small", `-9007199254740992`, []spelling.Class{spelling.IntegerTooLarge}},
		{"huge", `123456789012345678901234567890`, []spelling.Class{spelling.IntegerTooLarge}},
		{"leading zero", `02`, []spelling.Class{spelling.NotJSON}},
		{"NaN", `NaN`, []spelling.Class{spelling.NotJSON}},
		{"trailing comma", `[1,]`, []spelling.Class{spelling.NotJSON}},
		{"comment", `{}//`, []spelling.Class{spelling.MoreValues}},
		{"open string", `"a`, []spelling.Class{spelling.NotJSON}},
		{"33 empty arrays", deep(33, ""), nil},
		{"34 empty arrays", deep(34, ""), []spelling.Class{spelling.TooDeep}},
		{"32 around a scalar", deep(32, "1"), nil},
		{"33 around a scalar", deep(33, "1"), []spelling.Class{spelling.TooDeep}},
		{"bottomless", strings.Repeat("[", 1<<16), []spelling.Class{spelling.TooDeep, spelling.NotJSON}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := spelling.Check([]byte(tt.text), 32)
			if len(got) != len(tt.want) {
				t.Fatalf("departures: got %v, want %v", got, tt.want)
			}
			for i, d := range got {
				if d.Class != tt.want[i] {
					t.Errorf("departure %d: got %v, want %v", i, d, tt.want[i])
				}
			}
		})
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,"\ud83d\udc27"]}`, "\xff", `{"k":1,"k":`, "\ufeff \r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, d := range spelling.Check(text, 32) {
			if d.Offset < 0 || d.Offset > len(text) {
				t.Errorf("offset %d lies outside %d bytes", d.Offset, len(text))
			}
		}
	})
}
