package extension

import "encoding/json"

// guards are those of one tool call.
type guards struct {
	extension *Extension
	tool      *Tool
	arguments json.RawMessage
	list      []Guard
}

// dispatch asks every binding. The error is a *Failure; whoever let the call through before is told its end.
func (g *guards) dispatch(h *HostCall) error {
	d := Dispatch{Extension: g.extension, Call: h, Tool: g.tool, Arguments: g.arguments}
	for _, b := range g.extension.bound {
		if b.Dispatch == nil {
			continue
		}
		guard, err := b.Dispatch(d)
		if err != nil {
			return &Failure{Kind: Unsent, Cause: err, Message: "the call of tool `" + g.tool.Name + "` was not sent: " + err.Error()}
		}
		if guard != nil {
			g.list = append(g.list, guard)
		}
	}
	return nil
}

func (g *guards) check(result *ToolResult) error {
	for _, guard := range g.list {
		if err := guard.Check(result); err != nil {
			return err
		}
	}
	return nil
}

func (g *guards) settle(admitted bool) {
	for _, guard := range g.list {
		guard.Settle(admitted)
	}
}
