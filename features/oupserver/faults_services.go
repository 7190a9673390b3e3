package oupserver

import "slices"

func serviceFaults() []Fault {
	return slices.Concat(placeFaults(), profileFaults(), modelFaults(), []Fault{
		act("OUP-SERVICE-001", "takes broken params of a service"),
		act("OUP-SERVICE-001", "does not say which param of a service is wrong"),
		act("OUP-SERVICE-020", "lets a work secret call services").over(sockets),
		act("OUP-FEATURE-014", "tells of a cache that nobody named"),
		act("OUP-SYSTEM-001", "tells of a model that it has not"),
		act("OUP-SYSTEM-001", "leaves the name of a model that it has not blank"),
		act("OUP-AUTH-002", "needs an identity to say how one gets it"),
		act("OUP-STATUS-001", "counts MCP servers that it does not list"),
		act("OUP-STATUS-002", "keeps its contract of tools back"),
		act("OUP-STATUS-002", "has a contract of tools that it does not offer").as(little),
		act("OUP-STATUS-003", "calls a contract ready that lacks a tool"),
		act("OUP-ROUTER-001", "takes every mode of a router"),
		act("OUP-ROUTER-001", "has details of an unknown mode"),
		act("OUP-ROUTER-001", "takes a mode that it refuses"),
		act("OUP-ROUTER-002", "tells of a router that it has not").as(little),
		act("OUP-ROUTER-002", "calls a missing router a wrong request").as(little),
		act("OUP-ROUTER-002", "tells turns of a router that it has not").as(little),
		act("OUP-ROUTER-003", "keeps the mode of its router over a restart").over(sockets),
		act("OUP-ROUTER-003", "forgets the mode of its router with a connection").over(sockets),
		act("OUP-ROUTER-004", "tells of its router with every piece"),
		act("OUP-ROUTER-006", "names lanes by their model alone"),
		act("OUP-ROUTER-006", "lists lanes by their score"),
	})
}

// as is a fault of a server that is otherwise than most.
func (f Fault) as(kind string) Fault {
	f.does = append(f.does, kind)
	return f
}
