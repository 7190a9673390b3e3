// Package campaign breaks the connections between the client of package oup and real octet servers, and the servers
// themselves, many times and by a seed, and holds what every client has seen against one that nothing was done to.
//
//	go test ./sdk-go/oup/campaign -runs 500 -kills 200 -seed 1 -timeout 0
//
// One run has three sessions with four clients each. Their connections go through a proxy that ends them after a random
// number of bytes, in the middle of frames too, and refuses some; now and then a client is closed, and a new one goes on
// from a cursor that was stored, not always the newest. One more client of each session is connected directly. Turns
// stream text, ask for approval, are interrupted and steered. In the end every client has the same state.
//
// A kill ends a server by SIGKILL while turns run, and starts it again on its directory. What any client was told or
// answered is there then, every turn has one end, and nothing is pending without a turn.
package campaign
