#!/usr/bin/env python3
"""One extension that uses all of the SDK, in each version of the API.

Its twins in the other SDKs offer the same, so that one scripted host can talk with all of them. The version is the one
that the host announces in the environment.
"""

from showcase_canonical import add_canonical
from showcase_handlers import add_collectors, add_commands, add_editor, add_events, add_hooks
from showcase_record import Record
from showcase_tools import add_feature_tools, add_tools

from octet_extension import Extension

CANONICAL = "0.3"
FROZEN = "0.1"


def build(api: str | None = None) -> Extension:
    """Returns the showcase in an API version; without one, in that of the environment."""
    ext = Extension(api=api, uses="all")
    record = Record()
    add_tools(ext, record)
    add_events(ext, record)
    if ext.api == CANONICAL:
        add_canonical(ext, record)
        return ext
    ext.runtime_commands = ext.api != FROZEN
    add_feature_tools(ext)
    add_commands(ext)
    add_hooks(ext)
    add_collectors(ext)
    if ext.api != FROZEN:
        add_editor(ext, record)
    return ext


if __name__ == "__main__":
    build().run()
