package manifest

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/manifest/near"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// shape turns a violation of the generated descriptors into a problem in the words of manifests.
func (j *judge) shape(v *wirejson.Violation) {
	s := subjectAt(v.Pointer)
	p := Problem{
		Rule: s.rule, Severity: Error, Pointer: v.Pointer, Position: j.doc.place(v.Pointer),
		Remedy: s.remedy, order: orderOf(s.check, v.Pointer),
	}
	value := ""
	if n := j.doc.values[v.Pointer]; n != nil {
		value = n.Text
	}
	switch v.Kind {
	case wirejson.Unknown:
		j.unknownKey(&p)
	case wirejson.Missing:
		p.class, p.order = decoding, order{}
		p.Rule = absentRule(v.Pointer)
		p.Message = fmt.Sprintf("missing key `%s`", keyPath(v.Pointer))
		p.Remedy = "add it" + j.inTable(v.Pointer)
	case wirejson.WrongType, wirejson.NotObject:
		p.class, p.order = decoding, order{}
		p.Rule = typeRule(v.Pointer)
		p.Message = fmt.Sprintf("`%s` is %s", keyPath(v.Pointer), j.kindAt(v.Pointer))
		p.Remedy = "write " + wantedKind(v)
	case wirejson.WrongValue:
		j.unknownValue(&p, v, value)
	case wirejson.ItemCount:
		j.tooMany(&p)
	case wirejson.Duplicate:
		j.duplicate(&p, s, value)
	default:
		switch {
		case s.message != nil:
			p.Message = s.message(j.doc, v.Pointer, value)
		default:
			p.Message = fmt.Sprintf("invalid %s identifier `%s`", s.noun, value)
		}
		if matches("/entrypoint/env/*", v.Pointer) && validName(lastToken(v.Pointer)) {
			p.Rule = "MAN-ENTRY-005"
		}
	}
	j.add(p)
}

func (j *judge) kindAt(pointer string) tomltree.Kind {
	if n := j.doc.values[pointer]; n != nil {
		return n.Kind
	}
	return tomltree.Table
}

// wantedKind reads the wanted type out of the descriptor's own words and says it in those of TOML.
func wantedKind(v *wirejson.Violation) string {
	if v.Kind == wirejson.NotObject {
		return "a table"
	}
	want, _, _ := strings.Cut(strings.TrimPrefix(v.Detail, "want "), ",")
	switch want {
	case "an array":
		return "a list"
	case "an object":
		return "a table"
	default:
		return want
	}
}

func (j *judge) unknownKey(p *Problem) {
	key := lastToken(p.Pointer)
	parent := p.Pointer[:strings.LastIndexByte(p.Pointer, '/')]
	known, cached := j.keys[parent]
	if !cached {
		known = knownKeys(parent)
		j.keys[parent] = known
	}
	p.class, p.order = decoding, order{}
	p.Rule = "MAN-FILE-007"
	p.Position = j.doc.keyPlace(p.Pointer)
	p.Message = fmt.Sprintf("unknown key `%s`", keyPath(p.Pointer))
	p.Remedy = "remove it; the keys here are " + strings.Join(known, ", ")
	if guess := near.Find(key, known); guess != "" {
		p.Remedy = fmt.Sprintf("did you mean `%s`?", guess)
	}
}

func (j *judge) unknownValue(p *Problem, v *wirejson.Violation, value string) {
	known := listedValues(v)
	if p.Pointer == "/api_version" {
		p.class, p.Rule, p.order = plain, "MAN-TOP-004", order{check: checkNumber("api_version")}
		p.Message = fmt.Sprintf("extension API %s is unsupported; host implements %s", value, alternatives(manifestdoc.Versions))
		p.Remedy = "write one of them, in quotes"
		return
	}
	p.class, p.order = decoding, order{}
	p.Message = fmt.Sprintf("unknown %s `%s`", subjectAt(p.Pointer).noun, value)
	p.Remedy = "use one of " + strings.Join(known, ", ")
	if guess := near.Find(value, known); guess != "" {
		p.Remedy = fmt.Sprintf("did you mean `%s`?", guess)
	}
}

func (j *judge) tooMany(p *Problem) {
	count := len(j.doc.values[p.Pointer].Elems)
	switch p.Pointer {
	case "/contributes/flags":
		p.Rule, p.order = "MAN-FLAG-001", order{check: checkNumber("flags"), element: -1}
		p.Message = fmt.Sprintf("extension declares %d CLI flags; limit is %d", count, manifestdoc.MaxFlags)
	default:
		p.Rule, p.order = "MAN-SHORTCUT-001", order{check: checkNumber("shortcuts"), element: -1}
		p.Message = fmt.Sprintf("shortcut catalog contains %d entries; limit is %d", count, manifestdoc.MaxShortcuts)
	}
	p.Remedy = "take some out"
}

func (j *judge) duplicate(p *Problem, s subject, value string) {
	p.Remedy = "keep one of them"
	switch {
	case matches("/contributes/flags/*", p.Pointer):
		p.Message = fmt.Sprintf("duplicate %s `%s`", s.noun, j.doc.elementName(p.Pointer))
		p.Position = j.doc.place(p.Pointer + "/name")
	case matches("/contributes/shortcuts/*", p.Pointer):
		p.Message = fmt.Sprintf("duplicate shortcut definition `%s`", j.doc.elementName(p.Pointer))
		p.Position = j.doc.place(p.Pointer + "/name")
	case matches("/contributes/hooks/*", p.Pointer), matches("/contributes/ui/*", p.Pointer):
		p.Rule = "MAN-ID-003"
		p.Message = fmt.Sprintf("duplicate %s `%s`", s.noun, camel(value))
	default:
		p.Rule = "MAN-ID-003"
		p.Message = fmt.Sprintf("duplicate %s `%q`", s.noun, value)
	}
}

// inTable names the table that a missing key belongs into.
func (j *judge) inTable(pointer string) string {
	parent := pointer[:strings.LastIndexByte(pointer, '/')]
	switch {
	case parent == "":
		return " before the first table"
	case strings.Count(parent, "/") == 1:
		return " under [" + keyPath(parent) + "]"
	default:
		return " to this entry"
	}
}

// keyPath writes a pointer the way TOML writes a path: contributes.flags[0].default.
func keyPath(pointer string) string {
	var b strings.Builder
	for i, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if _, isNumber := number(token); isNumber && i > 0 {
			b.WriteString("[" + token + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(lastToken("/" + token))
	}
	return b.String()
}

// camel writes before_prompt as BeforePrompt, which is how duplicates of enumerations are reported.
func camel(value string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(value, "_") {
		for i, r := range word {
			if i == 0 {
				r = unicode.ToUpper(r)
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// alternatives joins values as a phrase: "0.1, 0.2, 0.3, or 0.4".
func alternatives(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + ", or " + values[last]
}
