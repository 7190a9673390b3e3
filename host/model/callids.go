package model

import (
	"fmt"

	"github.com/octet-dev/octet/host/conversation"
)

// CallIDs gives the calls of an answer ids that are theirs alone in a conversation, whatever a server sends.
type CallIDs struct {
	prefix string
	taken  map[string]bool
}

// NewCallIDs knows the ids of the calls in the messages. Ids that are made up begin with the prefix.
func NewCallIDs(prefix string, messages []conversation.Message) CallIDs {
	c := CallIDs{prefix: prefix, taken: map[string]bool{}}
	for _, message := range messages {
		for _, call := range message.ToolCalls() {
			c.taken[call.CallID] = true
		}
	}
	return c
}

// Unique is the id itself, or a new one where it is missing or taken.
func (c CallIDs) Unique(id string) string {
	for n := len(c.taken) + 1; id == "" || c.taken[id]; n++ {
		id = fmt.Sprintf("%s%d", c.prefix, n)
	}
	c.taken[id] = true
	return id
}
