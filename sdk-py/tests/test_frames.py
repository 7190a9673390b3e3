"""Lines in, payloads out, never more held than the bound."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from octet_extension import RemoteProtocolError
from octet_extension._frames import FrameFault, FrameReader


def strict(bound: int = 64) -> FrameReader:
    return FrameReader(bound, forgiving=False)


def forgiving(bound: int = 64) -> FrameReader:
    return FrameReader(bound, forgiving=True)


def payloads(reader: FrameReader) -> list[bytes]:
    found = []
    while (payload := reader.next_payload()) is not None:
        found.append(payload)
    return found


@pytest.mark.parametrize("reader", [strict, forgiving])
@pytest.mark.parametrize("cut", range(12))
def test_frames_cut_anywhere_arrive_whole(reader: Callable[[int], FrameReader], cut: int) -> None:
    data = b'{"a":1}\n[2]\n'
    frames = reader(64)
    frames.feed(data[:cut])
    first = payloads(frames)
    frames.feed(data[cut:])
    assert first + payloads(frames) == [b'{"a":1}', b"[2]"]


@pytest.mark.parametrize("reader", [strict, forgiving])
def test_the_bound_is_legal_and_one_byte_more_is_not(reader: Callable[[int], FrameReader]) -> None:
    frames = reader(7)
    frames.feed(b'{"a":1}\n{"a":12}\n')
    assert frames.next_payload() == b'{"a":1}'
    with pytest.raises(FrameFault, match="more than 7 bytes"):
        frames.next_payload()


@pytest.mark.parametrize("reader", [strict, forgiving])
def test_an_endless_line_is_found_before_its_end(reader: Callable[[int], FrameReader]) -> None:
    frames = reader(7)
    frames.feed(b"x" * 7)
    assert frames.next_payload() is None
    frames.feed(b"x")
    with pytest.raises(FrameFault):
        frames.next_payload()


@pytest.mark.parametrize("reader", [strict, forgiving])
def test_a_new_bound_holds_for_bytes_that_are_here_already(reader: Callable[[int], FrameReader]) -> None:
    frames = reader(64)
    frames.feed(b"[1]\n[2]\n[345]\n[67")
    assert frames.next_payload() == b"[1]"
    frames.bound = 4
    assert frames.next_payload() == b"[2]"
    with pytest.raises(FrameFault):
        frames.next_payload()


def test_a_smaller_bound_holds_for_a_line_that_has_not_ended() -> None:
    frames = strict(64)
    frames.feed(b"[1]\n12345")
    assert payloads(frames) == [b"[1]"]
    frames.bound = 4
    with pytest.raises(FrameFault):
        frames.next_payload()


@pytest.mark.parametrize("data", [b"\n", b"[1]\r\n", b"\r\n"])
def test_the_strict_reader_ends_at_an_empty_line_and_a_carriage_return(data: bytes) -> None:
    frames = strict()
    frames.feed(data)
    with pytest.raises(FrameFault):
        frames.next_payload()


def test_the_forgiving_reader_passes_over_them() -> None:
    frames = forgiving()
    frames.feed(b"\n\r\n \t\n[1]\r\n\n")
    assert payloads(frames) == [b"[1]\r"]


@pytest.mark.parametrize("reader", [strict, forgiving])
def test_the_end_inside_a_line_is_a_fault(reader: Callable[[int], FrameReader]) -> None:
    frames = reader(64)
    frames.feed(b"[1]\n[2]")
    frames.feed(b"")
    assert frames.next_payload() == b"[1]"
    assert not frames.ended
    with pytest.raises(FrameFault, match="inside a line"):
        frames.next_payload()


@pytest.mark.parametrize("reader", [strict, forgiving])
def test_the_end_between_lines_is_no_fault(reader: Callable[[int], FrameReader]) -> None:
    frames = reader(64)
    frames.feed(b"[1]\n")
    frames.feed(b"")
    assert payloads(frames) == [b"[1]"]
    assert frames.ended


def test_a_frame_fault_is_the_fault_of_the_peer() -> None:
    assert issubclass(FrameFault, RemoteProtocolError)


def test_many_pieces_are_searched_once() -> None:
    frames = strict(1 << 20)
    for pieces in range(1, 1 << 10):
        frames.feed(b"x" * 63)
        assert frames.next_payload() is None
        assert frames._searched == 63 * pieces
    frames.feed(b"\n")
    assert len(frames.next_payload() or b"") == 63 * 1023
