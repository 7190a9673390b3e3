// Package extensiontest plays an extension in memory, for tests of services, hooks and whatever else talks
// to extensions. The host side is the real one; only the program behind the pipes is the test's.
//
//	rig := extensiontest.Start(t, extensiontest.Setup{
//		API: "0.4", Contributes: `tools = ["work"]`,
//		Options: extension.Options{Bindings: []extension.Binding{myService}},
//	})
//	scope := extension.Scope{Owner: "session-1"}
//	rig.During(scope, func(parent int64) { // while the host waits for the tool "work"
//		answer := rig.Ask("composer/get", fmt.Sprintf(`{"parent_request_id":%d}`, parent))
//		answer.OK(t, `{"text":"hello"}`) // or answer.Refused(t, -32002, "not_foreground_owner")
//	})
//
// By default the extension selects everything that it is offered, has the tools and commands of its manifest,
// answers a tool call with its arguments as text, a command with its name, and shutdown as it should. Serve
// replaces what it does with a method. The session in the foreground is that of Rig.Front.
//
// Everything works inside a testing/synctest bubble. Nothing waits on a clock.
package extensiontest
