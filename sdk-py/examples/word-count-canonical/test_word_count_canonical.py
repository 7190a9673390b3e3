"""The example in memory and as a process."""

from pathlib import Path

import pytest
from word_count_canonical import ext

from octet_extension import CallFailed
from octet_extension.testing import ProcessHost, TestHost


def test_counts() -> None:
    with TestHost(ext) as host:
        assert host.call("count_words", text="one two two").text == "3 words"
        assert host.call("count_words", text="one two two", unique=True).text == "2 words"
        assert host.call("count_slowly", text="one two", delay_ms=0).text == "2 words"


def test_empty_text_is_an_error_of_the_tool() -> None:
    with TestHost(ext) as host:
        result = host.call("count_words", text="")
        assert result.is_error
        assert result.text == "text is empty: pass at least one word"


def test_stops_when_cancelled() -> None:
    with TestHost(ext) as host:
        call = host.begin("count_slowly", text="one two", delay_ms=10_000)
        call.cancel()
        with pytest.raises(CallFailed, match="cancelled"):
            call.result()


def test_as_a_process() -> None:
    with ProcessHost(Path(__file__).parent) as host:
        assert host.call("count_words", text="one two two").text == "3 words"
    assert host.status == 0
