"""What the interpreter itself costs: every line goes back as it came."""

import os

held = b""
while data := os.read(0, 1 << 16):
    held += data
    if data.endswith(b"\n"):
        while held:
            held = held[os.write(1, held) :]
