#!/usr/bin/env python3
"""Artifacts on API 0.4: draws a picture, hands it to the host, and shows it in the result."""

import struct
import zlib
from typing import Annotated

from octet_extension import Call, Extension, Field, HostError, NotNegotiated, ToolError, ToolResult
from octet_extension.api_v04 import ArtifactMediaType, ImagePart

ext = Extension(uses=("artifacts",))

Level = Annotated[int, Field(description="Brightness, from 0 for black to 255 for white.", minimum=0, maximum=255)]


@ext.tool("Draws a grey square.")
def draw(call: Call, level: Level, size: Annotated[int, Field(minimum=1, maximum=256)] = 16) -> ToolResult:
    """Publishes the picture and refers to it."""
    try:
        artifact = call.publish(square(level, size), ArtifactMediaType.IMAGE_PNG)
    except NotNegotiated as fault:
        raise ToolError("this host takes no pictures") from fault
    except HostError as fault:
        raise ToolError(f"the host refused the picture: {fault.message}") from fault
    picture = ImagePart(artifact_id=artifact, mime_type=ArtifactMediaType.IMAGE_PNG, alt=f"a square of grey {level}")
    return ToolResult([f"A square of {size} by {size} pixels.", picture])


def square(level: int, size: int) -> bytes:
    """Returns a PNG of one shade."""
    rows = (b"\0" + bytes([level]) * size) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


if __name__ == "__main__":
    ext.run()
