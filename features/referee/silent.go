package referee

import (
	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v34"
)

// silent is the formatter that prints nothing.
type silent struct{}

func (silent) TestRunStarted()                                                                {}
func (silent) Feature(*messages.GherkinDocument, string, []byte)                              {}
func (silent) Pickle(*messages.Pickle)                                                        {}
func (silent) Defined(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition)          {}
func (silent) Failed(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition, error)    {}
func (silent) Passed(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition)           {}
func (silent) Skipped(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition)          {}
func (silent) Undefined(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition)        {}
func (silent) Pending(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition)          {}
func (silent) Ambiguous(*messages.Pickle, *messages.PickleStep, *godog.StepDefinition, error) {}
func (silent) Summary()                                                                       {}
