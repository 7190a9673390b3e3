// Package oup is a client of OUP, the protocol between an application and an octet server: it starts turns, follows
// what they tell, and decides what tools may do.
//
// Stdio starts a server process, WebSocket connects to one that runs. Client.Open opens a session, Session.Turn starts
// a turn, Turn.Events streams it and Turn.Result gathers it. Requests for approval and questions go to callbacks of
// the Options. Client.Methods has every request of the protocol, typed.
//
// A WebSocket that is lost is connected again: sessions go on behind what has come, repetitions are dropped, and where
// events are missing a Gap says so. A request whose answer was lost fails as Disconnected, except the start of a turn,
// which can be sent again. Store Session.Cursor, and give it to OpenOptions.After, to go on in another process.
//
// Nothing is dropped because nobody reads: events wait in a bounded queue, and when it is full the connection is not
// read any more. So read the events of a turn, or ask for its result.
//
// Errors are *ServerError, *Disconnected, *AuthError, *ProtocolError, ErrClosed, the error of a context, or a
// *wirejson.Violation for params that break their model. errors.Is(err, ErrUnsupported) tells methods that the server
// does not have.
package oup
