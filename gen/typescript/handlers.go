package typescript

import (
	"strings"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/model"
)

// eventsFile writes the registrations of events: one method a notification of the host.
func eventsFile(spec *model.Spec) (emit.File, error) {
	s := &surface{wires: map[string]string{}}
	_, verbs, rows := nouns(spec, func(m *model.Method) bool {
		return m.Direction == model.HostToExtension && m.Notification && m.Service.Noun == eventNoun
	})
	s.printf("%s", eventText)
	for _, verb := range verbs[eventNoun] {
		var params []string
		group := rows[eventNoun+"."+verb]
		for _, row := range group {
			if row.method.Shapes[0].Params == nil {
				s.fail(row, "has no parameters")
				continue
			}
			params = add(params, s.typeOf(row.wire, row.method.Shapes[0].Params))
		}
		s.printf("\n")
		s.doc("  ", serviceDoc(group))
		s.printf("  %s(handler: EventHandler<%s, S>): this {\n    this.add(%s, handler);\n    return this;\n  }\n",
			camel(verb), strings.Join(params, " | "), quote(verb))
	}
	s.printf("}\n")
	return s.file("events.ts", "What a host tells an extension, as typed registrations.", sources(spec, methodFile), ""), s.err
}

const eventText = `/** Told about an event. Handlers run one at a time, in the order in which the events came. */
export type EventHandler<E, S> = (event: E, session: S) => unknown;

/** The events of the host. Every method adds a handler, and may be called again for another one. */
export abstract class Events<S> {
  protected abstract add(event: string, handler: EventHandler<never, S>): void;
`

// hooksFile writes the registrations of hooks: one method a row of the hook tables.
func hooksFile(spec *model.Spec) emit.File {
	s := &surface{wires: map[string]string{}}
	s.printf("%s", hookText)
	for _, wire := range spec.Wires {
		for _, hook := range wire.Hooks {
			s.printf("\n")
			s.doc("  ", hookDoc(hook))
			answer := s.typeOf(wire, hook.Result)
			if !hasRequired(hook.Result) {
				answer += " | undefined"
			}
			s.printf("  %s(handler: HookHandler<H, %s, %s>): this {\n    this.add(%s, handler);\n    return this;\n  }\n",
				camel(hook.Name), s.typeOf(wire, hook.Payload), answer, quote(hook.Name))
		}
	}
	s.printf("}\n")
	return s.file("hooks.ts", "What a host asks an extension before or after it acts, as typed registrations.", sources(spec, hookFile), "")
}

const hookText = `/** Answers a hook. Undefined says nothing. */
export type HookHandler<H, P, R> = (hook: H, payload: P) => R | Promise<R>;

/** The hooks of the host. Every method sets the one handler of its hook. */
export abstract class Hooks<H> {
  protected abstract add(hook: string, handler: HookHandler<H, never, unknown>): void;
`

func hasRequired(one *model.Model) bool {
	if one.Kind != model.Record {
		return true
	}
	for _, field := range one.Fields {
		if field.Required {
			return true
		}
	}
	return false
}

// hookDoc says when the host asks, how long it waits and what it makes of the answer.
func hookDoc(hook *model.Hook) string {
	text := hook.Doc + " API " + strings.Join(hook.Versions, ", ")
	if hook.Feature != "-" {
		text += ", feature " + hook.Feature
	}
	text += "."
	text += "\nSeveral answers: " + strings.TrimSuffix(hook.Merge, ".") + ". No answer: " + strings.TrimSuffix(hook.Failure, ".") +
		". A disposition to deny is " + hook.Deny + "."
	if hook.Source != "" {
		text += " (" + hook.Source + ")"
	}
	return text
}
