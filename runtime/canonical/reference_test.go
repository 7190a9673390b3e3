package canonical

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// The slow reference decides as the wire defines it: parse strictly, write again, compare. It shares
// no code with the package.

var portable = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)

func slowRewrite(text []byte) (string, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	s, err := slowValue(d, 0)
	if err != nil {
		return "", err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return "", fmt.Errorf("trailing data: %v", err)
	}
	return s, nil
}

func slowValue(d *jsontext.Decoder, level int) (string, error) {
	if level > 32 {
		return "", fmt.Errorf("level %d", level)
	}
	tok, err := d.ReadToken()
	if err != nil {
		return "", err
	}
	switch tok.Kind() {
	case '"':
		return slowString(tok.String()), nil
	case '0':
		n := tok.String()
		if !portable.MatchString(n) || len(strings.TrimPrefix(n, "-")) == 16 && strings.TrimPrefix(n, "-") > "9007199254740991" {
			return "", fmt.Errorf("number %s", n)
		}
		return n, nil
	case '[':
		var parts []string
		for d.PeekKind() != ']' {
			s, err := slowValue(d, level+1)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		_, err := d.ReadToken()
		return "[" + strings.Join(parts, ",") + "]", err
	case '{':
		members := map[string]string{}
		var keys []string
		for d.PeekKind() != '}' {
			k, err := d.ReadToken()
			if err != nil {
				return "", err
			}
			key := k.String()
			v, err := slowValue(d, level+1)
			if err != nil {
				return "", err
			}
			members[key] = v
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for n, k := range keys {
			keys[n] = slowString(k) + ":" + members[k]
		}
		_, err := d.ReadToken()
		return "{" + strings.Join(keys, ",") + "}", err
	}
	return tok.String(), nil
}

func slowString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case 8:
			b.WriteString(`\b`)
		case 9:
			b.WriteString(`\t`)
		case 10:
			b.WriteString(`\n`)
		case 12:
			b.WriteString(`\f`)
		case 13:
			b.WriteString(`\r`)
		default:
			if r < 32 {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// judge compares the package with the reference on one text.
func judge(t interface {
	Helper()
	Fatalf(string, ...any)
}, text []byte,
) {
	t.Helper()
	want, slowErr := slowRewrite(text)
	canon := slowErr == nil && want == string(text)
	if err := Check(text); (err == nil) != canon {
		t.Fatalf("Check(%q) = %v, but the reference rewrites it to %q, %v", text, err, want, slowErr)
	}
	if slowErr != nil && strings.Contains(slowErr.Error(), "number -0") {
		return // Append writes it as 0, which the reference does not
	}
	got, err := Append(nil, text)
	if (err == nil) != (slowErr == nil) || err == nil && string(got) != want {
		t.Fatalf("Append(%q) = %q, %v, want %q, %v", text, got, err, want, slowErr)
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	for _, c := range refused {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { judge(t, text) })
}

// drawText draws JSON of at most left values with a taste for what is almost canonical.
func drawText(t *rapid.T, left *int) string {
	space := rapid.SampledFrom([]string{"", "", "", "", "", "", "", "", " ", "\n"})
	word := rapid.SampledFrom([]string{"a", "b", "aa", "", `\n`, `\t`, `\u001f`, `\"`, `\\`, " ", "\x7f", "ø", "\uE000", "🐧", `\u0061`, `\u001F`, `\/`, `\ud83d\udc27`, `\ud83d`, `\udc00`, "\xff", "\x01"})
	text := rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(word, 0, 3).Draw(t, "words"), "") + `"`
	})
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if *left--; *left <= 0 {
		kind %= 4
	}
	before, after := space.Draw(t, "before"), space.Draw(t, "after")
	switch kind {
	case 0, 1:
		return before + text.Draw(t, "string") + after
	case 2:
		return before + rapid.SampledFrom([]string{"0", "-1", "42", "-0", "1.0", "1e2", "007", "9007199254740991", "9007199254740992", "-"}).Draw(t, "number") + after
	case 3:
		return before + rapid.SampledFrom([]string{"true", "false", "null", "nul"}).Draw(t, "word") + after
	case 4:
		depth := rapid.IntRange(28, 34).Draw(t, "depth")
		return brackets(depth, "")
	case 5, 6:
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			parts = append(parts, drawText(t, left))
		}
		return before + "[" + strings.Join(parts, ",") + "]" + after
	default:
		var parts []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			parts = append(parts, text.Draw(t, "key")+":"+drawText(t, left))
		}
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(parts)
		}
		return before + "{" + strings.Join(parts, ",") + "}" + after
	}
}

func TestCheck_agreesWithReference(t *testing.T) {
	var canon, strict, broken int
	rapid.Check(t, func(t *rapid.T) {
		left := 30
		text := []byte(drawText(t, &left))
		judge(t, text)
		switch want, err := slowRewrite(text); {
		case err != nil:
			broken++
		case want == string(text):
			canon++
		default:
			strict++
		}
	})
	if canon == 0 || strict == 0 || broken == 0 {
		t.Errorf("drew %d canonical, %d strict and %d broken texts: each kind must occur", canon, strict, broken)
	}
}
