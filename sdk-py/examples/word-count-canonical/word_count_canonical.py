#!/usr/bin/env python3
"""Counts words on API 0.3: the tools of word-count in texts alone, on the wire that has no progress."""

from typing import Annotated

from octet_extension import Call, Extension, Field, ToolError

ext = Extension(api="0.3")

Text = Annotated[str, "The text to count."]


@ext.tool("Counts the words of a text.")
def count_words(text: Text, unique: Annotated[bool, "Count each different word once."] = False) -> str:
    """Counts at once."""
    words = words_of(text)
    return f"{len(set(words)) if unique else len(words)} words"


@ext.tool("Counts the words of a text one after the other.")
def count_slowly(
    call: Call,
    text: Text,
    delay_ms: Annotated[int, Field(description="Milliseconds to wait at each word.", minimum=0, maximum=10_000)] = 100,
) -> str:
    """Counts word by word."""
    words = words_of(text)
    for _ in words:
        call.wait_cancelled(delay_ms / 1000)
        call.raise_if_cancelled()
    return f"{len(words)} words"


def words_of(text: str) -> list[str]:
    """Splits a text at white space."""
    words = text.split()
    if not words:
        raise ToolError("text is empty: pass at least one word")
    return words


if __name__ == "__main__":
    ext.run()
