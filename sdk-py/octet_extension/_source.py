"""The directory that a migration reads."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final, cast

from octet_extension._scope import Scope

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Source", "check_path", "real_directory"]

_OPEN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Source(Scope):
    """A request of a migration, with the directory that it reads.

    Paths are those of the wire: relative, with slashes, without dots. No symbolic link is followed, also none that
    stays inside, and nothing can be written.
    """

    @property
    def _root(self) -> Path:
        from pathlib import Path  # noqa: PLC0415 - few extensions migrate

        return Path(str(self.live.invocation.arguments["source_root"]))

    def stat(self, path: str) -> os.stat_result:
        """Describes a file or directory. Raises FileNotFoundError where there is none, OSError for links."""
        check_path(path)
        at = self._root
        real_directory(at)
        found = None
        for name in path.split("/"):
            at /= name
            found = at.lstat()
            if stat.S_ISLNK(found.st_mode):
                raise OSError(errno.ELOOP, "a symbolic link is not followed", path)
        return cast("os.stat_result", found)

    def read_file(self, path: str) -> bytes:
        """Returns the content of a regular file of at most a frame. Raises OSError like stat."""
        from octet_extension._generated.canonical_wire import MAX_FRAME_BYTES  # noqa: PLC0415 - one wire is loaded

        named = self.stat(path)
        if not stat.S_ISREG(named.st_mode):
            raise OSError(errno.EINVAL, "this is no regular file", path)
        with os.fdopen(os.open(self._root / path, _OPEN), "rb") as file:
            # What has taken the place of the file since is another one.
            if not os.path.samestat(named, os.fstat(file.fileno())):
                raise OSError(errno.ESTALE, "the file was replaced while it was opened", path)
            content = file.read(MAX_FRAME_BYTES + 1)
        if len(content) > MAX_FRAME_BYTES:  # no answer could carry more
            raise OSError(errno.EFBIG, f"the file has more than {MAX_FRAME_BYTES} bytes", path)
        return content

    def read_dir(self, path: str = "") -> list[str]:
        """Returns the names in a directory, ascending; the empty path is the source root. Raises OSError like stat."""
        if path and not stat.S_ISDIR(self.stat(path).st_mode):
            raise OSError(errno.ENOTDIR, "this is no directory", path)
        real_directory(self._root)
        return sorted(os.listdir(self._root / path if path else self._root))  # noqa: PTH208 - names, not paths


def check_path(path: str) -> None:
    """Raises ValueError for a path that does not lead below a source root by itself, on any system."""
    drive = len(path) > 1 and path[1] == ":" and path[0].isascii() and path[0].isalpha()
    if drive or "\\" in path or "\0" in path or any(part in {"", ".", ".."} for part in path.split("/")):
        raise ValueError(f"{path[:200]!r} is no path below the source root; write it relative and without dots")


def real_directory(root: Path) -> None:
    """Raises OSError for a source root that is no directory of its own."""
    if not stat.S_ISDIR(root.lstat().st_mode):
        raise OSError(errno.ENOTDIR, "the source root is no directory; a symbolic link to one is not followed")
