package hostreferee

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/cucumber/godog"

	"github.com/octet-dev/octet/features/actor"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
)

// registerTalk binds the phrases of conversations to the world of the scenario.
func registerTalk(sc *godog.ScenarioContext) {
	of := func(ctx context.Context) *world { return ctx.Value(worldKey{}).(*world) }
	none := func(expr string, do func(*world, context.Context) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context) error { return do(of(ctx), ctx) })
	}
	one := func(expr string, do func(*world, string) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a string) error { return do(of(ctx), a) })
	}
	two := func(expr string, do func(w *world, a, b string) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a, b string) error { return do(of(ctx), a, b) })
	}
	three := func(expr string, do func(w *world, a, b, c string) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a, b, c string) error { return do(of(ctx), a, b, c) })
	}
	table := func(expr string, do func(w *world, a string, t *godog.Table) error) {
		sc.Step(pattern("^"+expr+"$"), func(ctx context.Context, a string, t *godog.Table) error { return do(of(ctx), a, t) })
	}
	table(`an extension "([^"]+)" that answers`, (*world).castAnswers)
	table(`the extension "([^"]+)" answers from its next start on`, (*world).recast)
	one(`an extension "([^"]+)"`, func(w *world, name string) error { _, err := w.plays(name); return err })
	three(`the extension "([^"]+)" (declares|selects|leaves|subscribes to|lists) (.+)`, (*world).castHas)
	one(`the model says "([^"]*)"`, func(w *world, text string) error { return w.modelWill(modelTurn{text: text}) })
	one(`the model fails with (\d+)`, (*world).modelFails)
	one(`the model says (\d+) bytes`, func(w *world, size string) error {
		n, err := numeral(size)
		if err != nil {
			return err
		}
		return w.modelWill(modelTurn{text: strings.Repeat("octet ", n/6+1)[:n]})
	})
	none(`the model writes a file with a tool of the host`, func(w *world, _ context.Context) error {
		if t := w.talking(); len(t.Write) == 2 {
			return w.modelWill(modelTurn{calls: []modelCall{{t.Write[0], t.Write[1]}}})
		}
		return &outcome{class: verdict.NotApplicable, text: "the adapter names no tool of the host that writes a file; add the key write, see docs/guide/hosts.md"}
	})
	none(`the host starts its extensions anew`, func(w *world, _ context.Context) error {
		return w.line("start its extensions anew", w.talking().Rebuild)
	})
	none(`the model does not answer`, func(w *world, _ context.Context) error { return w.modelWill(modelTurn{holds: true}) })
	two(`the model calls the tool "([^"]+)"(?: with (.+))?`, (*world).modelCalls)

	one(`the host is given the prompt "([^"]*)"`, func(w *world, text string) error {
		return w.line("say something to the model", w.talking().Prompt, PlaceText, text)
	})
	two(`the host runs the command "([^"]+)"(?: with "([^"]*)")?`, func(w *world, command, arguments string) error {
		return w.line("execute a command of an extension", w.talking().CommandLine, PlaceCommand, command, PlaceArguments, arguments)
	})
	one(`the host reloads "([^"]+)"`, func(w *world, name string) error {
		return w.line("reload an extension", w.talking().Reload, PlaceName, name)
	})
	none(`the host begins another conversation`, func(w *world, _ context.Context) error {
		return w.line("begin another conversation", w.talking().New)
	})
	none(`the host sums the conversation up`, func(w *world, _ context.Context) error {
		return w.line("sum a conversation up", w.talking().Compact)
	})
	none(`the host shows its extensions`, func(w *world, _ context.Context) error {
		if w.talking().Status == "" {
			return nil // it says everything when it happens
		}
		return w.line("show its extensions", w.talking().Status)
	})
	none(`the host ends`, (*world).ends)
	none(`the host is interrupted`, func(w *world, _ context.Context) error {
		if w.talk == nil || w.talk.host == nil {
			return errored("the host has not been started")
		}
		w.talk.host.interrupt()
		return nil
	})
	three(`"([^"]+)" is asked "([^"]+)"(?: for the (\d+)(?:st|nd|rd|th) time)?`, (*world).isAsked)
	none(`the model is asked`, func(w *world, _ context.Context) error { return w.modelIsAsked("1") })
	one(`the model is asked for the (\d+)(?:st|nd|rd|th) time`, (*world).modelIsAsked)

	three(`"([^"]+)" was (never|once|\d+ times) asked "([^"]+)"`, (*world).wasAsked)
	two(`"([^"]+)" was started (once|\d+ times)`, (*world).wasStarted)
	sc.Step(pattern(`^each "([^"]+)" to "([^"]+)" has$`), func(ctx context.Context, topic, name string, t *godog.Table) error {
		return of(ctx).eachHas(topic, name, t)
	})
	sc.Step(pattern(`^the (\d+)(?:st|nd|rd|th) "([^"]+)" to "([^"]+)" has$`), func(ctx context.Context, n, topic, name string, t *godog.Table) error {
		return of(ctx).oneHas(n, topic, name, t)
	})
	sc.Step(pattern(`^each "([^"]+)" to "([^"]+)" has just the members$`), func(ctx context.Context, topic, name string, t *godog.Table) error {
		return of(ctx).hasJust(topic, name, t)
	})
	sc.Step(pattern(`^"([^"]+)" of "([^"]+)" to "([^"]+)" is that of "([^"]+)"$`), func(ctx context.Context, pointer, topic, name, other string) error {
		return of(ctx).same(pointer, topic, name, other)
	})
	sc.Step(pattern(`^the (\d+)(?:st|nd|rd|th) "([^"]+)" to "([^"]+)" comes before the (\d+)(?:st|nd|rd|th) "([^"]+)"$`), func(ctx context.Context, n, topic, name, m, other string) error {
		return of(ctx).comesBefore(n, topic, name, m, other)
	})
	table(`"([^"]+)" was asked nothing but`, (*world).askedNothingBut)
	two(`the owner of "([^"]+)" to "([^"]+)" does not show the session`, (*world).ownerHides)
	two(`the host offers "([^"]+)" no feature "([^"]+)"`, (*world).offersNot)
	one(`the extension "([^"]+)" describes its commands anew from its next start on`, (*world).redescribed)
	three(`"([^"]+)" reaches "([^"]+)" in front of "([^"]+)"`, (*world).inFrontOf)
	three(`the host waits (\d+) ms for the answer of "([^"]+)" to "([^"]+)"`, (*world).waits)
	two(`the host waits at least (\d+) ms in front of request (\d+) to the model`, (*world).waitsForModel)
	three(`each "([^"]+)" to "([^"]+)" has at most (\d+) characters in its text`, (*world).shortTexts)
	three(`the (\d+)(?:st|nd|rd|th) "([^"]+)" to "([^"]+)" is the first of another instance`, (*world).anotherInstance)
	one(`all extensions end within (\d+) ms`, (*world).allEnd)
	three(`request (\d+) to the model (tells|does not tell) "([^"]*)"`, (*world).requestTells)
	two(`the model is (told|not told) "([^"]*)"`, (*world).modelTold)
	two(`"([^"]*)" stands in front of "([^"]*)" in what the model is told`, (*world).modelToldInOrder)
	one(`the model was asked (\d+) times`, (*world).modelAsked)
	two(`the host (says|does not say) "([^"]*)"`, (*world).saysText)
	none(`the host ended well`, func(w *world, _ context.Context) error {
		if w.host.code != 0 {
			return failed("the host ended with code %d: %s", w.host.code, w.complaint())
		}
		return nil
	})
}

// talking is the talk of the adapter; of one that has none every line is missing.
func (w *world) talking() *Talk {
	if w.setup.Talk == nil {
		return &Talk{}
	}
	return w.setup.Talk
}

// castAnswers makes an extension, or adds to one: | topic | answer |. Rows of one topic are used up in their order.
func (w *world) castAnswers(name string, t *godog.Table) error {
	m, err := w.plays(name)
	if err != nil {
		return err
	}
	for _, row := range t.Rows {
		topic := row.Cells[0].Value
		reply, err := w.replyOf(row.Cells[1].Value)
		if err != nil {
			return err
		}
		m.declare(topic)
		m.part.Replies[topic] = append(m.part.Replies[topic], reply)
	}
	return nil
}

// recast has an extension answer anew from its next start on; what is not named stays. In front of the first start
// it is about the start behind the last one that was spoken of.
func (w *world) recast(name string, t *godog.Table) error {
	m, err := w.plays(name)
	if err != nil {
		return err
	}
	part := &m.part
	if w.talk.host == nil {
		for part.Then != nil {
			part = part.Then
		}
		next := *part
		next.Replies = maps.Clone(part.Replies)
		part.Then = &next
		part = &next
	}
	for _, row := range t.Rows {
		part.Replies[row.Cells[0].Value] = nil
	}
	for _, row := range t.Rows {
		reply, err := w.replyOf(row.Cells[1].Value)
		if err != nil {
			return err
		}
		part.Replies[row.Cells[0].Value] = append(part.Replies[row.Cells[0].Value], reply)
	}
	if w.talk.host == nil {
		return nil
	}
	return w.write(m)
}

// replyOf reads an answer: JSON is a result, and words are what an extension does in place of one.
func (w *world) replyOf(text string) (actor.Reply, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "as usual":
		return actor.Reply{}, nil
	case text == "nothing":
		return actor.Reply{Silent: true}, nil
	case text == "once it is cancelled":
		return actor.Reply{Holds: true}, nil
	case text == "and exits":
		return actor.Reply{Exits: true}, nil
	case word == "asks":
		if behind, is := strings.CutPrefix(rest, "behind it "); is {
			return actor.Reply{Behind: messagesOf(behind)}, nil
		}
		return actor.Reply{Asks: messagesOf(rest)}, nil
	case word == "tells":
		return actor.Reply{Asks: telling(messagesOf(rest))}, nil
	case word == "draws":
		return draws(rest)
	case word == "says":
		said, err := steps.Expand(rest)
		return actor.Reply{Result: actor.Says(w.setup.Dialect, said)}, err
	case word == "error":
		code, err := w.setup.Dialect.Code(rest)
		if err != nil {
			return actor.Reply{}, errored("%v", err)
		}
		return actor.Reply{Error: dialect.Encode(dialect.Object{"code": code, "message": w.setup.Dialect.Message(rest)})}, nil
	}
	result, err := steps.Expand(text)
	if err == nil && json.Valid([]byte(result)) {
		return actor.Reply{Result: json.RawMessage(result)}, nil
	}
	return actor.Reply{}, errored("the answer %q is no JSON and none of: as usual, asks METHOD PARAMS, asks behind it METHOD PARAMS, tells METHOD PARAMS, draws COUNT, nothing, once it is cancelled, and exits, says TEXT, error NAME", text)
}

// castHas changes what an extension declares, as a JSON object, or selects, as a list of names.
func (w *world) castHas(name, what, text string) error {
	m, err := w.plays(name)
	if err != nil {
		return err
	}
	names := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	switch what {
	case "selects":
		m.part.Features = append(m.part.Features, names...)
	case "leaves":
		m.part.Leaves = append(m.part.Leaves, names...)
	case "subscribes to":
		m.part.Events = append(m.part.Events, names...)
	case "lists":
		m.part.Tools = append(m.part.Tools, json.RawMessage(text))
		var tool struct{ Name string }
		if err := json.Unmarshal([]byte(text), &tool); err != nil {
			return errored("%q is no tool: %v", text, err)
		}
		m.contribute("tools", tool.Name)
	default:
		var more dialect.Object
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			return errored("%q is no JSON object: %v", text, err)
		}
		for key, v := range more {
			m.contributes[key] = v
		}
	}
	return nil
}

func (w *world) modelWill(t modelTurn) error {
	if w.talk == nil {
		return errored("the scenario has no extension yet; name it first")
	}
	w.talk.model.will(t)
	return nil
}

func (w *world) modelFails(status string) error {
	n, err := strconv.Atoi(status)
	if err != nil {
		return errored("%v", err)
	}
	return w.modelWill(modelTurn{status: n})
}

func (w *world) modelCalls(tool, arguments string) error {
	if arguments == "" {
		arguments = "{}"
	}
	return w.modelWill(modelTurn{calls: []modelCall{{tool, arguments}}})
}

// isAsked waits until the host has asked an extension something.
func (w *world) isAsked(name, topic, times string) error {
	want, err := numeral(times)
	if err != nil {
		return err
	}
	return w.comes(fmt.Sprintf("%q reaches %s", topic, name), func(all []*peer) bool { return len(questions(all, name, topic)) >= want })
}

func numeral(text string) (int, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, errored("%v", err)
	}
	return n, nil
}

// modelIsAsked waits until the host has asked the model so often.
func (w *world) modelIsAsked(times string) error {
	want, err := numeral(times)
	if err != nil {
		return err
	}
	return w.comes("a request reaches the model", func([]*peer) bool { return len(w.talk.model.asked()) >= want })
}

// comes waits for something that the host is to bring about.
func (w *world) comes(what string, is func([]*peer) bool) error {
	if err := w.begin(); err != nil {
		return err
	}
	came := false
	if !w.peers.await(w.setup.Wait, func(all []*peer) bool {
		came = is(all)
		return came || w.talk.over()
	}) {
		return &outcome{class: verdict.NoAnswer, text: fmt.Sprintf("within %s it does not happen that %s", w.setup.Wait, what)}
	}
	if !came {
		return failed("the host ended before %s; it said: %s", what, strings.TrimSpace(w.talk.host.stderr.String()))
	}
	return nil
}
