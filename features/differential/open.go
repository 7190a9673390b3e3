package differential

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/generated/featurewire"
)

// open reports whether the codecs may differ in a finding, because no rule says which of their answers is right:
//
//   - A text that is JSON by its grammar but names a member twice, or holds half a surrogate pair, is refused on the
//     feature wire either as a frame or by whatever reads the value.
//   - An id of the feature wire goes to 18446744073709551615, and not every language can keep one past the integers
//     that floating-point numbers hold exactly.
//
// A codec that ends is never right.
func open(f Finding) bool {
	if f.Question.Wire != featurewire.Wire || slices.ContainsFunc(f.Answers, func(s Said) bool { return s.Fault != "" }) {
		return false
	}
	var text string
	switch f.Question.Op {
	case "frame":
		text, _, _ = strings.Cut(strings.TrimLeft(unBase64(f.Question.Base64), " \t\r\n"), "\n")
	case "envelope":
		text = *f.Question.Text
	default:
		return false
	}
	return json.Valid([]byte(text)) && (!askable(text, anyDepth) || f.Question.Op == "envelope" && pastPortable(text))
}

// anyDepth is more levels than any question has.
const anyDepth = 5000

// pastPortable reports whether a text holds an integer that a floating-point number may not hold exactly.
func pastPortable(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if n, ok := token.(json.Number); ok {
			if i, whole := new(big.Int).SetString(n.String(), 10); whole && i.CmpAbs(greatestPortable) > 0 {
				return true
			}
		}
	}
}

var greatestPortable = big.NewInt(1<<53 - 1)

// oneZero is an answer in which a negative zero is written as zero: JavaScript knows one integer zero, and no rule
// tells them apart.
func oneZero(a vectors.Answer) vectors.Answer {
	if a.Encoded == nil {
		return a
	}
	encoded := *a.Encoded
	for _, before := range []string{":", "[", ","} {
		for _, after := range []string{",", "]", "}"} {
			encoded = strings.ReplaceAll(encoded, before+"-0"+after, before+"0"+after)
		}
	}
	a.Encoded = &encoded
	return a
}
