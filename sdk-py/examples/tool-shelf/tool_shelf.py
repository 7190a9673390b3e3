#!/usr/bin/env python3
"""Tools that come and go on API 0.4: the model puts notes on a shelf, and each becomes a tool that reads it."""

from octet_extension import Call, Catalog, Extension, LocalProtocolError, ToolError, make_tool

ext = Extension(uses=("dynamic_tools",))


@ext.tool("Puts a note on the shelf, where a tool of its own reads it.")
def shelve(call: Call, name: str, note: str) -> str:
    """Registers a tool that returns the note."""

    def read() -> str:
        return note

    try:
        return shown(call.dynamic_tools.register(make_tool(read, name=f"read_{name}", description=f"Reads {name}.")))
    except LocalProtocolError as fault:  # a name that no tool can have, or a host whose catalogs are fixed
        raise ToolError(f"the shelf cannot take {name!r}: {fault}") from fault


@ext.tool("Takes a note off the shelf.")
def discard(call: Call, name: str) -> str:
    """Unregisters the tool of a note."""
    try:
        return shown(call.dynamic_tools.unregister(f"read_{name}"))
    except LocalProtocolError as fault:
        raise ToolError(f"the shelf cannot change: {fault}") from fault


def shown(catalog: Catalog) -> str:
    """Says what the host acknowledged."""
    notes = [name for name in catalog.tools if name.startswith("read_")]
    return f"epoch {catalog.revision}: {', '.join(notes) or 'the shelf is empty'}"


if __name__ == "__main__":
    ext.run()
