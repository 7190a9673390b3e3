"""Results that a host hands over as a file of the scratch directory, and what stands in them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from octet_extension._dialect import Dialect
from octet_extension._generated import feature_wire as wire
from octet_extension._generated._json import JsonSyntaxError, Violation, parse
from octet_extension._generated._rows import Method

__all__ = ["VARIABLE", "judge_result"]

VARIABLE: Final = wire.TABLE_WIRE_ENVIRONMENT[5][0]
"""Environment variable that names the directory."""


class _Filed(NamedTuple):
    member: str  # describes the file
    value: str  # the member that the content becomes; empty where the content is the whole result


_FILED: Final[Mapping[str, _Filed]] = MappingProxyType(
    {
        wire.METHOD_COMPOSITION_CONTEXT: _Filed("context_file", ""),
        wire.METHOD_COMPOSITION_CALL: _Filed("value_file", "value"),
    }
)


def judge_result(dialect: Dialect, row: Method, value: object) -> object:
    """Reads the result of a request as if it stood in the line, also where it stands in a file (EXT04-NEST-004).

    The file is gone afterwards, whatever is wrong with it. Raises Violation, which tells nothing of its content.
    """
    filed = _FILED.get(row.name)
    if filed is None or not isinstance(value, dict) or filed.member not in value:
        return dialect.judge_result(row, value)
    described = value[filed.member]
    try:
        dialect.judge_result(row, value)
    except Violation:
        _discard(described.get("path") if isinstance(described, dict) else None)
        raise
    file = wire.ScratchFile.from_json(described)
    name = f"the file {file.path!r}"
    at = f"/{filed.member}"
    try:
        content = _take(file)
        record = parse(content, max_depth=wire.MAX_JSON_DEPTH - (1 if filed.value else 0))
    except Violation as found:
        raise Violation(found.violation, f"{at}{found.pointer}", f"{name} {found.detail}") from None
    except JsonSyntaxError:
        detail = f"{name} is no strict JSON; the host must write one strict JSON value"
        raise Violation("value", at, detail) from None
    if filed.value:
        record = {filed.value: record}
    elif isinstance(record, dict) and filed.member in record:
        raise Violation("forbidden", at, f"{name} refers to another file; the host must write the record itself")
    try:
        return dialect.judge_result(row, record)
    except Violation as found:
        detail = f"{name} breaks the model of the result there; the host must write what the model says"
        raise Violation(found.violation, found.pointer, detail) from None


def _take(file: wire.ScratchFile) -> bytes:
    """Reads a file, checks it and removes it. Raises Violation, located in the description of the file."""
    if not _is_flat(file.path):
        raise Violation(
            "pattern", "/path", "is named outside the scratch directory; the host must give the name of a file in it"
        )
    try:
        directory = _Directory()
    except OSError:
        raise Violation(
            "value", "/path", f"cannot be read, because {VARIABLE} names no directory; run under a host that sets it"
        ) from None
    import hashlib  # noqa: PLC0415 - few results are files

    with contextlib.closing(directory), directory.removing(file.path):
        content = _read(directory, file)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise Violation("value", "/sha256", "has another SHA-256 digest; the host must tell that of its content")
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            raise Violation("value", "", "is not UTF-8; the host must write JSON in UTF-8") from None
        return content


def _read(directory: _Directory, file: wire.ScratchFile) -> bytes:
    try:
        named = directory.look(file.path)
    except FileNotFoundError:
        raise Violation(
            "value", "/path", "is not in the scratch directory; the host must write it before it answers"
        ) from None
    except OSError:
        named = None
    if named is None or not stat.S_ISREG(named.st_mode):
        raise Violation("value", "/path", "is no regular file; the host must write a file there, and no link")
    try:
        opened = open(directory.open(file.path), "rb", buffering=0)  # noqa: PTH123, SIM115 - it has a descriptor, closed below
    except OSError:
        raise Violation("value", "/path", "cannot be opened; the host must let the extension read it") from None
    with opened:
        # What has taken the place of the file since is another one.
        if not os.path.samestat(named, os.fstat(opened.fileno())):
            detail = "was replaced while it was opened; the host must leave it alone once it has answered"
            raise Violation("value", "/path", detail)
        if named.st_size != file.bytes:
            detail = f"has {named.st_size} bytes and not {file.bytes}; the host must tell its exact size"
            raise Violation("value", "/bytes", detail)
        content = bytearray()
        while len(content) < file.bytes and (part := opened.read(file.bytes - len(content))):
            content += part
    if len(content) != file.bytes:
        detail = "ends before its size; the host must leave it alone once it has answered"
        raise Violation("value", "/bytes", detail)
    return bytes(content)


def _is_flat(name: object) -> bool:
    """Reports whether something is the name of an entry of a directory."""
    try:
        flat = wire.FlatName.from_json(name)
    except Violation:
        return False
    return flat not in {".", ".."} and os.path.basename(flat) == flat  # noqa: PTH119 - it is a name, and on Windows may hold a drive


def _discard(name: object) -> None:
    """Removes a file whose description breaks its model, where that names one at all."""
    if isinstance(name, str) and _is_flat(name):
        with contextlib.suppress(OSError), contextlib.closing(_Directory()) as directory:
            directory.remove(name)


class _Directory:
    """The scratch directory, held open where the platform can. Raises OSError where there is none."""

    _RELATIVE: Final = {os.open, os.stat, os.unlink} <= os.supports_dir_fd
    _FLAGS: Final = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

    def __init__(self) -> None:
        self._path = os.environ.get(VARIABLE, "")
        if not self._path:
            raise FileNotFoundError(VARIABLE)
        self._handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)) if self._RELATIVE else None

    def close(self) -> None:
        """Lets the directory go."""
        if self._handle is not None:
            os.close(self._handle)

    def look(self, name: str) -> os.stat_result:
        """Returns what an entry is, links not followed."""
        return os.stat(self._place(name), dir_fd=self._handle, follow_symlinks=False)

    def open(self, name: str) -> int:
        """Returns a descriptor of a file."""
        return os.open(self._place(name), self._FLAGS, dir_fd=self._handle)

    def remove(self, name: str) -> None:
        """Removes a file or a link, and leaves a directory."""
        if not stat.S_ISDIR(self.look(name).st_mode):
            os.unlink(self._place(name), dir_fd=self._handle)

    @contextlib.contextmanager
    def removing(self, name: str) -> Iterator[None]:
        """Removes a file at the end of a block. What cannot be removed goes with the directory."""
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                self.remove(name)

    def _place(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self._path, name)  # noqa: PTH118 - pathlib would cost every start
