"""What the interpreter itself costs: every line goes back as it came."""

import os

while data := os.read(0, 1 << 16):
    while data:
        data = data[os.write(1, data) :]
