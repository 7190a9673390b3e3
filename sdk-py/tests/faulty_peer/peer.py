"""An extension on the SDK that is wrong in one way, which the referee must find under the rule it breaks.

    peer.py --list       a JSON object for every fault: its name, the rule it breaks, the API version and a description
    peer.py NAME         plays the extension with a fault; `none` has none

The SDK keeps most rules by itself, so a fault goes around it: it stands between the SDK and the pipes, holds the
descriptor of standard output from before the SDK took it away, or replaces a handler.
"""

from __future__ import annotations

import json
import os
import sys

from faults import FAULTS
from tampering import Peer


def main() -> None:
    """Lists the faults, or plays one."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else "none"
    if wanted == "--list":
        for fault in FAULTS:
            row = {"name": fault.name, "rule": fault.rule, "api": "0.4", "doc": fault.doc}
            sys.stdout.write(json.dumps(row) + "\n")
        return
    peer = Peer(os.dup(1))
    for fault in FAULTS:
        if fault.name == wanted:
            fault.plant(peer)
            break
    else:
        if wanted != "none":
            sys.exit(f"no fault is called {wanted!r}")
    peer.run()


if __name__ == "__main__":
    main()
