"""The subject: a tool that gives its text back, on the API version that the command line names."""

import sys

from octet_extension import Call, Extension

ext = Extension(api=sys.argv[1])


@ext.tool("Gives the text back")
def echo(call: Call, text: str) -> str:  # noqa: ARG001 - a tool takes its call first
    """Gives the text back."""
    return text


if __name__ == "__main__":
    ext.run()
