#!/usr/bin/env python3
"""Counts words on API 0.4: typed arguments, structured content, progress, cancellation, readable errors."""

import dataclasses
from typing import Annotated

from octet_extension import Call, Extension, Field, ToolError, ToolResult

ext = Extension()

Text = Annotated[str, "The text to count."]


@dataclasses.dataclass
class Counts:
    """What count_words finds."""

    words: int
    characters: int
    lines: int


@ext.tool("Counts the words, characters and lines of a text.", output=Counts)
def count_words(text: Text, unique: Annotated[bool, "Count each different word once."] = False) -> ToolResult:
    """Counts at once."""
    words = words_of(text)
    count = len(set(words)) if unique else len(words)
    return ToolResult(f"{count} words", structured=Counts(count, len(text), text.count("\n") + 1))


@ext.tool("Counts the words of a text one after the other and shows how far it is.")
def count_slowly(
    call: Call,
    text: Text,
    delay_ms: Annotated[int, Field(description="Milliseconds to wait at each word.", minimum=0, maximum=10_000)] = 100,
) -> str:
    """Counts word by word."""
    words = words_of(text)
    for done, word in enumerate(words, start=1):
        call.wait_cancelled(delay_ms / 1000)
        call.raise_if_cancelled()
        call.progress(word, current=done, total=len(words), unit="words")
    return f"{len(words)} words"


def words_of(text: str) -> list[str]:
    """Splits a text at white space."""
    words = text.split()
    if not words:
        raise ToolError("text is empty: pass at least one word")
    return words


if __name__ == "__main__":
    ext.run()
