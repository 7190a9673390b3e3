"""What the handlers of a migration read: the directory of another program's set-up."""

from octet_extension._migration import Source

__all__ = ["Source"]
