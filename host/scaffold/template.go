package scaffold

import (
	"fmt"
	"strings"
)

// fill writes the values into a template: {{Name}} stands for a value, {{if Name}} or {{if not Name}}, {{else}} and
// {{end}} choose by whether one is empty. What chooses and stands alone on its line takes the line with it.
//
// It is not text/template because that finds the methods of values by name, for which the linker keeps every
// exported method of every type in the program: a third of octet.
func fill(template string, values map[string]string) (string, error) {
	var b strings.Builder
	at, shown, inside := 0, true, false
	for {
		begin := strings.Index(template[at:], "{{")
		if begin < 0 {
			break
		}
		begin += at
		length := strings.Index(template[begin:], "}}")
		if length < 0 {
			return "", fmt.Errorf("%q has no end", firstLine(template[begin:]))
		}
		if shown {
			b.WriteString(template[at:begin])
		}
		at = begin + length + len("}}")
		word := template[begin+len("{{") : begin+length]
		condition, isIf := strings.CutPrefix(word, "if ")
		switch {
		case isIf && !inside:
			name, negated := strings.CutPrefix(condition, "not ")
			value, known := values[name]
			if !known {
				return "", fmt.Errorf("%q is no value", name)
			}
			inside, shown = true, (value == "") == negated
		case word == "else" && inside:
			shown = !shown
		case word == "end" && inside:
			inside, shown = false, true
		default:
			value, known := values[word]
			if !known {
				return "", fmt.Errorf("%q is no value, or does not belong here", word)
			}
			if shown {
				b.WriteString(value)
			}
			continue
		}
		if (begin == 0 || template[begin-1] == '\n') && strings.HasPrefix(template[at:], "\n") {
			at++
		}
	}
	if inside {
		return "", fmt.Errorf("an if has no end")
	}
	b.WriteString(template[at:])
	return b.String(), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
